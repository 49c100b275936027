/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the two files that make observations share. Nobody else includes this.
 */
#ifndef TUNESWEEP_OBSERVATION_PRIVATE_H
#define TUNESWEEP_OBSERVATION_PRIVATE_H

#include "observation.h"

/* Adds what is known of a run's hosts, {name: fingerprint}; hosts may be null. */
void host_labels(json_t *labels, json_t *hosts);

#endif
