/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two groups of samples told as two, and a sample's early end. Called by the commands that measure
 * and by the built-in engine.
 */
#include "modes.h"
#include "cleanup.h"
#include "stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_LEAST 12
#define ASHMAN_D     5.5
#define SHARE_LEAST  0.2
#define COUNT_LEAST  3
#define APART	     0.15
#define BATCH	     4
#define BATCHES_MAX  256

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double squares_within(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += (x[i] - mean) * (x[i] - mean);
	}
	return sum;
}

/* Where sorted values are best cut in two; n at most a few hundred. */
static size_t best_cut(const double *x, size_t n)
{
	size_t best = 1;
	double least = INFINITY;
	for (size_t k = 1; k < n; k++) {
		double within = squares_within(x, k) + squares_within(x + k, n - k);
		if (within < least) {
			least = within;
			best = k;
		}
	}
	return best;
}

static bool is_apart(const double *x, size_t n, size_t cut)
{
	size_t least = (size_t)fmax(COUNT_LEAST, ceil(SHARE_LEAST * (double)n));
	double distance = stats_mean(x + cut, n - cut) - stats_mean(x, cut);
	double a = stats_sd(x, cut), b = stats_sd(x + cut, n - cut);
	if (cut < least || n - cut < least || distance < log1p(APART)) {
		return false;
	}
	return distance * sqrt(2) > ASHMAN_D * sqrt(a * a + b * b);
}

struct modes modes_find(const double *x, size_t n)
{
	struct modes m = {.n = n >= VALUES_LEAST, .count = {n, 0}};
	auto_free double *logs = calloc(n + 1, sizeof(*logs));
	m.center[0] = m.center[1] = stats_median(x, n);
	if (!logs || n < VALUES_LEAST) {
		m.n = 0;
		return m;
	}
	for (size_t i = 0; i < n; i++) {
		logs[i] = log(x[i]);
		if (!isfinite(logs[i])) {
			m.n = 0;
			return m;
		}
	}
	qsort(logs, n, sizeof(*logs), by_value);
	size_t cut = best_cut(logs, n);
	if (is_apart(logs, n, cut)) {
		m.n = 2;
		m.count[0] = cut;
		m.count[1] = n - cut;
		m.center[0] = exp(stats_median(logs, cut));
		m.center[1] = exp(stats_median(logs + cut, n - cut));
	}
	return m;
}

bool modes_surely_below(const double *rate, size_t n, double limit, double level)
{
	double batch[BATCHES_MAX];
	size_t k = 0;
	for (; k < BATCHES_MAX && (k + 1) * BATCH <= n; k++) {
		batch[k] = stats_mean(rate + k * BATCH, BATCH);
	}
	if (k < 6) {
		return false;
	}
	struct interval i = stats_confidence_sequence(batch, k, level);
	return i.hi < limit;
}
