/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The confidence sequence that proves a winner: an interval for a mean that may be looked at after
 * every value, as often as one likes, and is still wrong with at most 1 - level. Called by the
 * proof after each pair of measurements.
 */
#include "cleanup.h"
#include "stats.h"
#include <math.h>
#include <stdlib.h>

enum { FEWEST = 5 };

/* The mixture's precision r: the boundary is narrowest near n = 8 r (at 95 %; Howard et al. 2021,
 * section 3.5), so 1.5 is tuned for a decision after about 12 pairs. Smaller ones decide clear
 * cases at 5 pairs instead of 6, and small gains later; simulated with outliers, 0.6 and less came
 * near the 5 % of false alarms that are allowed (4.5 %), 1.5 keeps under 4 %. */
static const double mixture = 1.5;

/* 3 MAD, with the MAD scaled to a normal standard deviation. */
static const double winsor = 3 * 1.4826;

static void winsorise(const double *x, size_t n, double *out)
{
	double median = stats_median(x, n), reach = winsor * stats_mad(x, n);
	for (size_t i = 0; i < n; i++) {
		/* No MAD: more than half are equal, and nothing says what an outlier is. */
		out[i] = reach > 0 ? fmin(fmax(x[i], median - reach), median + reach) : x[i];
	}
}

/*
 * Half width in standard errors. The variance is estimated, and at n = 5 badly: the plain
 * normal mixture would be wrong too often. So the mixture is taken over the effect size mu/sigma,
 * N(0, 1/r), of the t statistic with the scale-invariant prior on sigma, whose likelihood ratio
 *   sqrt(r / (n + r)) ((1 + t^2/v) / (1 + t^2/v r/(n + r)))^(n/2),  v = n - 1,
 * is a martingale under normal data with any sigma (Lai, Annals of Statistics 4 (1976); Wang and
 * Ramdas, Anytime-valid t-tests and confidence sequences, 2023); by Ville's inequality the means
 * for which it stays below 1/alpha are a confidence sequence. Solved for t.
 */
static double half_width(double n, double alpha)
{
	double k = pow((n + mixture) / mixture, 1 / n) * pow(alpha, -2 / n);
	double rest = 1 - k * mixture / (n + mixture);
	return rest > 0 ? sqrt((n - 1) * (k - 1) / rest) : INFINITY;
}

struct interval stats_confidence_sequence(const double *x, size_t n, double level)
{
	struct interval r = {stats_median(x, n), -INFINITY, INFINITY, level};
	if (n < FEWEST || isnan(r.estimate) || !(level > 0 && level < 1)) {
		return r;
	}
	auto_free double *w = malloc(n * sizeof(*w));
	if (!w) {
		return r;
	}
	winsorise(x, n, w);
	r.estimate = stats_mean(w, n);
	double half = half_width((double)n, 1 - level);
	if (isfinite(half)) {
		half *= stats_sd(w, n) / sqrt((double)n);
		r.lo = r.estimate - half;
		r.hi = r.estimate + half;
	}
	return r;
}
