/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * p-values of losses, and the rule of Benjamini and Hochberg. It measures nothing and knows no
 * hosts. Called where the nights of one machine or of a fleet are judged.
 */
#include "false_discovery.h"
#include "cleanup.h"
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>

double loss_p_by_levels(const struct verdict_input *in)
{
	double freedom, sd = verdict_level_sd(in, &freedom);
	const struct verdict_side *a = &in->reference, *b = &in->here;
	if (!a->n || !b->n || !(sd > 0)) {
		return NAN;
	}
	double variance = (sd * sd + a->within * a->within) / (double)a->n +
			  (sd * sd + b->within * b->within) / (double)b->n;
	double t = (stats_mean(b->boot, b->n) - stats_mean(a->boot, a->n)) / sqrt(variance);
	return isinf(freedom) ? gsl_cdf_ugaussian_P(t) : gsl_cdf_tdist_P(t, freedom);
}

double loss_p_by_samples(const double *reference, size_t n_reference, const double *here,
			 size_t n_here)
{
	double below = 0, above = 0.5; /* the interval excludes no change above, not below */
	struct interval i = stats_shift(reference, n_reference, here, n_here, 1e-6);
	if (!isfinite(i.estimate)) {
		return NAN;
	}
	if (!(i.hi < 0)) { /* no loss at all: half and more */
		return 1;
	}
	for (int step = 0; step < 40; step++) {
		double p = step == 0 ? above / 1024 : (below + above) / 2;
		i = stats_shift(reference, n_reference, here, n_here, 1 - 2 * p);
		if (i.hi < 0) {
			above = p;
		} else {
			below = p;
		}
	}
	return above;
}

size_t false_discovery_call(const double *p, size_t n, double q, bool *called)
{
	size_t m = 0, calls = 0;
	auto_free double *sorted = malloc((n + 1) * sizeof(*sorted));
	for (size_t i = 0; sorted && i < n; i++) {
		if (!isnan(p[i])) {
			sorted[m++] = p[i];
		}
	}
	if (m) {
		gsl_sort(sorted, 1, m);
	}
	for (size_t k = 1; k <= m; k++) {
		if (sorted[k - 1] <= q * (double)k / (double)m) {
			calls = k;
		}
	}
	for (size_t i = 0; called && i < n; i++) {
		called[i] = calls > 0 && p[i] <= sorted[calls - 1];
	}
	return calls;
}
