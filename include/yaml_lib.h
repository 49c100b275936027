/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libyaml's own header, which has the same name as ours. For profiles/yaml.c alone.
 */
#ifndef TUNESWEEP_YAML_LIB_H
#define TUNESWEEP_YAML_LIB_H

#include_next <yaml.h>

#endif
