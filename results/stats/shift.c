/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far one group of values lies above another: unpaired, without a distribution. Called where
 * measurements have no partners.
 */
#include "cleanup.h"
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { EXACT_MAX = 2500, SIDE_MAX = 2000 };

/* Largest k with P(U <= k - 1) <= tail, U the Mann-Whitney statistic of n and m values. Its
 * distribution is the Gaussian binomial's coefficients: the product over i of
 * (1 - q^(m+i)) / (1 - q^i). */
static size_t mann_whitney_cut(size_t n, size_t m, double tail)
{
	size_t top = n * m;
	auto_free double *p = calloc(top + 1, sizeof(*p));
	if (!p) {
		return 0;
	}
	p[0] = 1;
	double total = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t u = top + 1; u-- > m + i;) {
			p[u] -= p[u - m - i];
		}
		for (size_t u = i; u <= top; u++) {
			p[u] += p[u - i];
		}
		total *= (double)(m + i) / (double)i;
	}
	double below = 0;
	size_t k = 0;
	while (k <= top && below + p[k] / total <= tail) {
		below += p[k++] / total;
	}
	return k;
}

static size_t mann_whitney_cut_normal(double n, double m, double tail)
{
	double mean = n * m / 2, sd = sqrt(n * m * (n + m + 1) / 12);
	double k = floor(mean + sd * gsl_cdf_ugaussian_Pinv(tail));
	return k > 0 ? (size_t)k : 0;
}

static size_t used(size_t n)
{
	return n > SIDE_MAX ? SIDE_MAX : n;
}

static double thinned(const double *x, size_t n, size_t i)
{
	return n > SIDE_MAX ? x[i * n / SIDE_MAX] : x[i];
}

struct interval stats_shift(const double *a, size_t n_a, const double *b, size_t n_b, double level)
{
	struct interval r = {NAN, -INFINITY, INFINITY, level};
	size_t n = used(n_a), m = used(n_b), count = 0;
	auto_free double *d = n && m ? malloc(n * m * sizeof(*d)) : NULL;
	if (!d || !(level > 0 && level < 1)) {
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++) {
			d[count] = thinned(b, n_b, j) - thinned(a, n_a, i);
			if (!isfinite(d[count++])) {
				return r;
			}
		}
	}
	gsl_sort(d, 1, count);
	r.estimate = gsl_stats_median_from_sorted_data(d, 1, count);
	double tail = (1 - level) / 2;
	size_t k = count <= EXACT_MAX ? mann_whitney_cut(n, m, tail)
				      : mann_whitney_cut_normal((double)n, (double)m, tail);
	if (k > 0) {
		r.lo = d[k - 1];
		r.hi = d[count - k];
	}
	return r;
}
