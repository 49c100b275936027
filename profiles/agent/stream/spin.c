/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop of fixed length, timed: what it takes longer than the shortest ever is time that a
 * hypervisor took away, if the scheduler of this machine did not. A few tens of microseconds each.
 * Called by read.c: a few at the ends of a window, one each time that the counters are looked at.
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

/* One turn; of one in which this machine's own scheduler was in the way nothing is known. */
void spin_look(struct spin *s)
{
	long before = preemptions();
	double from = stream_now();
	s->value = turns_run(s->value);
	double took = stream_now() - from;
	if (preemptions() != before || took <= 0) {
		return;
	}
	s->least = s->least > 0 && s->least < took ? s->least : took;
	s->worst = fmax(s->worst, took);
}

double spin_stolen(struct spin *s)
{
	for (int i = 0; i < ROUNDS; i++) {
		spin_look(s);
	}
	double worst = s->worst;
	s->worst = 0;
	return worst > 0 ? 1 - s->least / worst : NAN;
}
