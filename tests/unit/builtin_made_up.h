/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of the built-in engine's arithmetic: a window between two made-up reads of each
 * host, whose right numbers are known.
 */
#ifndef TUNESWEEP_BUILTIN_MADE_UP_H
#define TUNESWEEP_BUILTIN_MADE_UP_H

#include "builtin_private.h"
#include "cleanup.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define near(a, b, eps)                                                                            \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (eps))) {                                                   \
			fail_msg(#a " is %.9g, not %.9g", a_, b_);                                 \
		}                                                                                  \
	} while (0)

static inline struct builtin_read made_up(double t, double bytes, double busy, double self)
{
	return (struct builtin_read){.t = t,
				     .bytes = bytes,
				     .self = self,
				     .acked = NAN,
				     .min_rtt = 100,
				     .rtt = 100,
				     .cwnd = 1000,
				     .retransmits = bytes / 1e8,
				     .cpu_t = t,
				     .busy = busy,
				     .resolution = 0.001,
				     .energy = NAN,
				     .cpus = 4,
				     .tcp_busy = t * 1e6};
}

struct made_up {
	struct builtin_host s, r;
	struct builtin_series series;
	struct builtin_window w;
};

static inline void made_up_window(struct made_up *m, bool one_host)
{
	memset(m, 0, sizeof(*m));
	/* sender: 2 s, 4 GB, 1 s of CPU; receiver, on another clock: 2 s, 3 GB, 3 s of CPU */
	m->s.first = made_up(100, 1e9, 50, 1);
	m->s.last = made_up(102, 5e9, 51, 1.9);
	m->r.first = made_up(7, 0, 10, 2);
	m->r.last = made_up(9, 3e9, 13, 4.5);
	m->w = (struct builtin_window){
		.sender = &m->s, .receiver = &m->r, .one_host = one_host, .series = &m->series};
	builtin_series_add(&m->series, &m->s.first, &m->r.first);
	builtin_series_add(&m->series, &m->s.last, &m->r.last);
}

static inline void made_up_clear(struct made_up *m)
{
	json_decref(m->s.first.json);
	json_decref(m->s.last.json);
	json_decref(m->r.first.json);
	json_decref(m->r.last.json);
}

#endif
