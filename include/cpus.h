/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of CPUs (and of NUMA nodes, which the kernel writes in the same way): its lists "0-3,8" and
 * masks "f0000000,00000001" in and out. Compared as sets, whatever their spelling. Knows no file.
 * Used by the back ends that place things on CPUs, and by the endpoints.
 */
#ifndef TUNESWEEP_CPUS_H
#define TUNESWEEP_CPUS_H

#include "err.h"
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* At most CPU_SETSIZE (1024). An empty text is the empty set, as the kernel has it. -EINVAL
 * (ERR_USAGE) with what is wrong. */
int cpus_parse_list(const char *text, cpu_set_t *out, struct err *e);
int cpus_parse_mask(const char *text, cpu_set_t *out, struct err *e); /* digits in any case */

/* "" for the empty set. -ENAMETOOLONG. */
int cpus_format_list(const cpu_set_t *set, char *out, size_t size);
int cpus_format_mask(const cpu_set_t *set, char *out, size_t size); /* "0" for the empty set */

int cpus_first(const cpu_set_t *set);			  /* -1 if empty */
bool cpus_within(const cpu_set_t *a, const cpu_set_t *b); /* every one of a is in b */

#endif
