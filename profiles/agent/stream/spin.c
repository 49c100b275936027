/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop of fixed length, timed: what it takes longer than the shortest ever is time that a
 * hypervisor took away, if the scheduler of this machine did not. A few tens of microseconds each.
 * Called by serve.c at the ends of a window.
 */
#include "stream_private.h"
#include <math.h>
#include <sys/resource.h>

#define TURNS  20000
#define ROUNDS 3

static uint32_t turns_run(uint32_t x)
{
	for (int i = 0; i < TURNS; i++) {
		x = x * 1664525u + 1013904223u;
		/* Or the compiler would see where it leads. */
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static long preemptions(void)
{
	struct rusage r;
	return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nivcsw : -1;
}

double spin_stolen(struct spin *s)
{
	double worst = NAN;
	for (int i = 0; i < ROUNDS; i++) {
		long before = preemptions();
		double from = stream_now();
		s->value = turns_run(s->value);
		double took = stream_now() - from;
		if (preemptions() != before || took <= 0) {
			continue;
		}
		s->least = s->least > 0 && s->least < took ? s->least : took;
		worst = fmax(took, isfinite(worst) ? worst : 0);
	}
	return isfinite(worst) ? 1 - s->least / worst : NAN;
}
