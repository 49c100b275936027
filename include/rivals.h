/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who else sets what a sweep sets, on the hosts of its spec. Asked at the start of a sweep and by
 * the doctor command.
 */
#ifndef TUNESWEEP_RIVALS_H
#define TUNESWEEP_RIVALS_H

#include "hosts.h"

/* One object for each host, and other setter: {"host", "who", "sets": [names of the spec's
 * tunables]}. A new array, empty if nobody else does. Agents that cannot be asked say nothing. */
json_t *rivals_of(const struct hosts *h);

#endif
