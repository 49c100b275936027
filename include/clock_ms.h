/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole milliseconds of CLOCK_MONOTONIC, as poll(2) counts them: for time limits, not for
 * measuring (monotonic.h is).
 */
#ifndef TUNESWEEP_CLOCK_MS_H
#define TUNESWEEP_CLOCK_MS_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
