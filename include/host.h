/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fingerprint of a host: kernel, command line, CPU, microcode, NUMA nodes, NICs (driver, firmware,
 * PCI id, speed, MTU), boot id, mitigations. Read below a root prefix; used for profiles' machine
 * block, the store and warnings about another machine.
 */
#ifndef TUNESWEEP_HOST_H
#define TUNESWEEP_HOST_H

#include "err.h"
#include "sysfile.h"
#include <jansson.h>

int host_fingerprint(const struct sysroot *root, json_t **out, struct err *e);
/* What differs, in words, one difference an array element; empty if it is the same kind. */
json_t *host_differences(const json_t *profile_machine, const json_t *here);

#endif
