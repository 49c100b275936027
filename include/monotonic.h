/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one clock that intervals are measured by: CLOCK_MONOTONIC, never compared across hosts.
 */
#ifndef TUNESWEEP_MONOTONIC_H
#define TUNESWEEP_MONOTONIC_H

#include <time.h>

static inline double monotonic_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
