/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Location, spread, the signed-rank interval, steady state, and the deterministic generator. The
 * confidence sequence is in stats/sequence.c. Called wherever samples are judged; knows no metric.
 */
#include "stats.h"
#include "cleanup.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to here the signed-rank distribution is computed exactly; up to WALSH_MAX its averages are
 * few enough to sort. */
enum { EXACT_MAX = 100, WALSH_MAX = 4096 };

static bool all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i])) {
			return false;
		}
	}
	return true;
}

double stats_mean(const double *x, size_t n)
{
	return n ? gsl_stats_mean(x, 1, n) : NAN;
}

double stats_sd(const double *x, size_t n)
{
	return n < 2 ? NAN : gsl_stats_sd(x, 1, n);
}

double stats_median(const double *x, size_t n)
{
	if (!n || !all_finite(x, n)) {
		return NAN;
	}
	auto_free double *copy = malloc(n * sizeof(*copy));
	if (!copy) {
		return NAN;
	}
	memcpy(copy, x, n * sizeof(*copy));
	return gsl_stats_median(copy, 1, n);
}

double stats_mad(const double *x, size_t n)
{
	if (!n || !all_finite(x, n)) {
		return NAN;
	}
	auto_free double *work = malloc(n * sizeof(*work));
	return work ? gsl_stats_mad0(x, 1, n, work) : NAN;
}

/* Largest k with P(T+ <= k - 1) <= tail, T+ the signed-rank statistic of n values: the k-th
 * smallest and k-th largest Walsh average bound the interval. 0 if not even one end value may be
 * cut off. Exact: the distribution of a sum of independent {0, j}, j = 1..n, by convolution. */
static size_t signed_rank_cut(size_t n, double tail)
{
	size_t sums = n * (n + 1) / 2 + 1;
	auto_free double *p = calloc(sums, sizeof(*p));
	if (!p) {
		return 0;
	}
	p[0] = 1;
	for (size_t j = 1, top = 0; j <= n; j++) {
		top += j;
		for (size_t t = top + 1; t-- > 0;) {
			p[t] = 0.5 * (p[t] + (t >= j ? p[t - j] : 0));
		}
	}
	double below = 0;
	size_t k = 0;
	while (k < sums && below + p[k] <= tail) {
		below += p[k++];
	}
	return k;
}

static size_t signed_rank_cut_normal(double n, double tail)
{
	double mean = n * (n + 1) / 4, sd = sqrt(n * (n + 1) * (2 * n + 1) / 24);
	double k = floor(mean + sd * gsl_cdf_ugaussian_Pinv(tail));
	return k > 0 ? (size_t)k : 0;
}

static double *walsh_averages(const double *x, size_t n, size_t *count)
{
	double *w = malloc(n * (n + 1) / 2 * sizeof(*w));
	size_t k = 0;
	for (size_t i = 0; w && i < n; i++) {
		for (size_t j = i; j < n; j++) {
			w[k++] = x[i] / 2 + x[j] / 2;
		}
	}
	*count = k;
	return w;
}

/* Number of Walsh averages that are at most t; x ascending. */
static size_t walsh_at_most(const double *x, size_t n, double t)
{
	size_t count = 0, end = n; /* x[i] + x[j] <= 2 t for all j < end */
	for (size_t i = 0; i < end; i++) {
		while (end > i && x[i] / 2 + x[end - 1] / 2 > t) {
			end--;
		}
		count += end > i ? end - i : 0;
	}
	return count;
}

/* The k-th smallest Walsh average, from 1, by bisection on its value: millions of averages are
 * neither kept nor sorted. */
static double walsh_kth(const double *x, size_t n, size_t k)
{
	double lo = x[0], hi = x[n - 1];
	for (int i = 0; i < 200 && lo < hi; i++) {
		double middle = lo / 2 + hi / 2;
		if (middle <= lo || middle >= hi) {
			break;
		}
		if (walsh_at_most(x, n, middle) >= k) {
			hi = middle;
		} else {
			lo = middle;
		}
	}
	return walsh_at_most(x, n, lo) >= k ? lo : hi;
}

static struct interval many(const double *x, size_t n, struct interval r)
{
	auto_free double *sorted = malloc(n * sizeof(*sorted));
	if (!sorted) {
		return r;
	}
	memcpy(sorted, x, n * sizeof(*sorted));
	gsl_sort(sorted, 1, n);
	size_t count = n * (n + 1) / 2;
	size_t k = signed_rank_cut_normal((double)n, (1 - r.level) / 2);
	r.estimate = walsh_kth(sorted, n, (count + 1) / 2) / 2 +
		     walsh_kth(sorted, n, count / 2 + 1) / 2;
	if (k > 0) {
		r.lo = walsh_kth(sorted, n, k);
		r.hi = walsh_kth(sorted, n, count - k + 1);
	}
	return r;
}

struct interval stats_hodges_lehmann(const double *x, size_t n, double level)
{
	struct interval r = {NAN, -INFINITY, INFINITY, level};
	if (!n || n > WALSH_MAX || !(level > 0 && level < 1) || !all_finite(x, n)) {
		return r;
	}
	if (n > EXACT_MAX) {
		return many(x, n, r);
	}
	size_t count;
	auto_free double *w = walsh_averages(x, n, &count);
	if (!w) {
		return r;
	}
	gsl_sort(w, 1, count);
	r.estimate = gsl_stats_median_from_sorted_data(w, 1, count);
	double tail = (1 - level) / 2;
	size_t k = signed_rank_cut(n, tail);
	if (k > 0) {
		r.lo = w[k - 1];
		r.hi = w[count - k];
	}
	return r;
}

/* A rate that still grows has a second half whose MAD is wide enough to hold anything; so the two
 * halves of that half must agree first. */
static bool still_moving(const double *half, size_t n)
{
	double early = stats_median(half, n / 2), late = stats_median(half + n / 2, n - n / 2);
	return !(fabs(late - early) <= 0.15 * fmax(fabs(early), fabs(late)));
}

size_t stats_steady_start(const double *rate, size_t n)
{
	enum { IN_A_ROW = 5, FEWEST = 8 };
	if (n < FEWEST) {
		return n;
	}
	const double *half = rate + n / 2;
	size_t n_half = n - n / 2;
	double median = stats_median(half, n_half);
	/* Rates that repeat exactly have no MAD: one percent is steady for anyone. */
	double width = fmax(3 * stats_mad(half, n_half), 0.01 * fabs(median));
	if (still_moving(half, n_half)) {
		return n;
	}
	for (size_t i = 0, run = 0; i < n; i++) {
		run = fabs(rate[i] - median) <= width ? run + 1 : 0;
		if (run == IN_A_ROW) {
			return i + 1 - IN_A_ROW;
		}
	}
	return n;
}
