/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine's series of reads: when the warm-up is over, and what round trip and
 * congestion window were under load. Pure; builtin.c fills it.
 */
#include "builtin_private.h"
#include "json_util.h"
#include "modes.h"
#include "stats.h"
#include <math.h>

/* Growth of cwnd or rtt between the last intervals and those before: what is called none. */
#define GROWTH	     1.1
#define RTT_FLOOR_US 1000 /* below, queueing of one interrupt is all there is to see */
#define HALF	     4

void builtin_series_add(struct builtin_series *s, const struct builtin_read *sender,
			const struct builtin_read *receiver)
{
	/* Never full in a sample that keeps its time: more polls than planned are left out. */
	if (s->n == BUILTIN_POINTS_MAX) {
		return;
	}
	s->sender_start = s->n ? s->sender_start : sender->t;
	s->point[s->n].t = receiver->t;
	s->point[s->n].bytes = receiver->bytes;
	s->point[s->n].rtt = sender->rtt;
	s->point[s->n].cwnd = sender->cwnd;
	s->point[s->n].unsent = sender->unsent;
	s->point[s->n].unread = receiver->unread;
	s->n++;
}

enum column { RTT, CWND, UNREAD };

static double value_of(const struct builtin_series *s, size_t i, enum column c)
{
	switch (c) {
	case RTT:
		return s->point[i].rtt;
	case CWND:
		return s->point[i].cwnd;
	default:
		return s->point[i].unread;
	}
}

static double median_of(const struct builtin_series *s, size_t from, size_t to, enum column c)
{
	double x[BUILTIN_POINTS_MAX];
	size_t n = 0;
	for (size_t i = from; i < to; i++) {
		double v = value_of(s, i, c);
		if (isfinite(v)) {
			x[n++] = v;
		}
	}
	return stats_median(x, n);
}

static bool is_growing(const struct builtin_series *s, enum column c)
{
	double before = median_of(s, s->n - 2 * HALF, s->n - HALF, c);
	double now = median_of(s, s->n - HALF, s->n, c);
	/* NaN, where the host does not know it, is not growing. */
	return now > before * GROWTH && (c != RTT || now > before + RTT_FLOOR_US);
}

static size_t rates_of(const struct builtin_series *s, size_t from, double *rate)
{
	size_t n = 0;
	for (size_t i = from + 1; i < s->n; i++) {
		rate[n++] = (s->point[i].bytes - s->point[i - 1].bytes) /
			    (s->point[i].t - s->point[i - 1].t);
	}
	return n;
}

bool builtin_series_below(const struct builtin_series *s, size_t from, double limit)
{
	double rate[BUILTIN_POINTS_MAX];
	return modes_surely_below(rate, rates_of(s, from, rate), limit / 8, 0.95);
}

/* The rate is steady, and neither the congestion window nor
 * the round trip is still growing. */
bool builtin_series_steady(const struct builtin_series *s)
{
	double rate[BUILTIN_POINTS_MAX];
	if (s->n < 2 * HALF + 1) {
		return false;
	}
	rates_of(s, 0, rate);
	return stats_steady_start(rate, s->n - 1) < s->n - 1 && !is_growing(s, RTT) &&
	       !is_growing(s, CWND);
}

double builtin_series_rtt(const struct builtin_series *s, size_t from)
{
	return median_of(s, from, s->n, RTT);
}

double builtin_series_cwnd(const struct builtin_series *s, size_t from)
{
	return median_of(s, from, s->n, CWND);
}

double builtin_series_unread(const struct builtin_series *s, size_t from)
{
	return median_of(s, from, s->n, UNREAD);
}

json_t *builtin_series_json(const struct builtin_series *s)
{
	json_t *all = json_array();
	for (size_t i = 0; i < s->n; i++) {
		json_t *p = json_array();
		json_array_append_new(p, json_number_or_null(s->point[i].t - s->point[0].t));
		json_array_append_new(p, json_integer((json_int_t)s->point[i].bytes));
		json_array_append_new(p, json_number_or_null(s->point[i].rtt));
		json_array_append_new(p, json_number_or_null(s->point[i].cwnd));
		json_array_append_new(all, p);
	}
	return all;
}
