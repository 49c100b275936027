/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many comparisons at once: how surprising each would be if nothing had changed, and which of them
 * may be called changes so that only a stated share of the calls is false. Pure; the nightly
 * command brings the measurements of a night and of a fleet.
 */
#ifndef TUNESWEEP_FALSE_DISCOVERY_H
#define TUNESWEEP_FALSE_DISCOVERY_H

#include "verdict.h"

/*
 * One-sided p-values, the probability of a loss as large as this one if nothing had changed; swap
 * the sides for a gain. NaN where there is too little to tell.
 *
 * By levels: Student's t of the mean difference, with the spread between levels pooled as
 * verdict_by_boots does it (normal where the spread is given). By samples: Mann-Whitney, as the
 * error rate at which stats_shift's interval just reaches no change; never below its exact grid.
 */
double loss_p_by_levels(const struct verdict_input *in);
double loss_p_by_samples(const double *reference, size_t n_reference, const double *here,
			 size_t n_here);

/*
 * Which of n p-values are called at false discovery rate q (Benjamini and Hochberg, Journal of the
 * Royal Statistical Society B 57 (1995)): NaN is never called, and counts as no comparison. Returns
 * how many. called may be NULL.
 */
size_t false_discovery_call(const double *p, size_t n, double q, bool *called);

#endif
