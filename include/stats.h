/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Robust statistics on small samples: location, spread, intervals, steady state, and the
 * confidence sequence that proves a winner. Pure functions of arrays; GSL for distributions.
 */
#ifndef TUNESWEEP_STATS_H
#define TUNESWEEP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n);	/* n - 1 in the denominator; NaN for n < 2 */
double stats_median(const double *x, size_t n); /* NaN for n = 0; x is not changed */
double stats_mad(const double *x, size_t n);	/* raw: times 1.4826 for a normal sd */

struct interval {
	double estimate, lo, hi, level;
};

/* Hodges-Lehmann estimate and the exact Wilcoxon signed-rank interval (normal approximation above
 * n = 100) of the median of x. The interval is infinite where n is too small to bound it (n < 6 at
 * 95 %); the estimate is NaN if an x is not finite, and for n over 4096, whose pairs are too many.
 * Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd ed., 3.1-3.3. */
struct interval stats_hodges_lehmann(const double *x, size_t n, double level);

/* Hodges-Lehmann estimate of how far b lies above a (unpaired), and the exact Mann-Whitney interval
 * (normal approximation where n_a x n_b is over 2500; more than 2000 values a side are thinned
 * evenly). Infinite where there are too few to bound it (under 4 against 4 at 95 %); NaN as above.
 * Hollander, Wolfe, Chicken, 4.2-4.3. */
struct interval stats_shift(const double *a, size_t n_a, const double *b, size_t n_b, double level);

/* Normal-mixture confidence sequence for the mean of x, valid under looking after each element,
 * on values winsorised at 3 MAD (scaled: 3 standard deviations of normal data), with the variance
 * estimated (the mixture is over the t statistic). lo = -inf, hi = inf while n is too small (under
 * 5 always, under 6 at 95 %). Robbins 1970; Lai 1976; Howard et al., Time-uniform, nonparametric,
 * nonasymptotic confidence sequences, Annals of Statistics 49 (2021). */
struct interval stats_confidence_sequence(const double *x, size_t n, double level);

/* Index of the first interval of the steady part of a rate series: from there on 5 in a row lie
 * within 3 MAD of the median of the second half, whose own halves must agree within 15 % (a rate
 * that doubles has a MAD that holds everything); n if it never is, and while n < 8. */
size_t stats_steady_start(const double *rate, size_t n);

/* Deterministic generator for orders and simulated noise (xoshiro256**; seeded by splitmix64). */
struct stats_rng {
	uint64_t s[4];
};
void stats_rng_seed(struct stats_rng *r, uint64_t seed);
double stats_rng_uniform(struct stats_rng *r); /* [0, 1) */
double stats_rng_normal(struct stats_rng *r);

#endif
