/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For tests that are run by a checker, too, under which a program is tens of times slower
 * (memcheck.sh, make tsan). What only says the same of more seeds, how good something is on
 * average, or how fast, is left out there.
 */
#ifndef TUNESWEEP_SLOW_H
#define TUNESWEEP_SLOW_H

#include <stdbool.h>
#include <stdlib.h>

/* Whether such a checker runs this: it says so by SLOW=1. */
static inline bool is_slow(void)
{
	return getenv("SLOW") != NULL;
}

#endif
