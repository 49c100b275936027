/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where to measure next: the knowledge gradient over a set of anchors (the best configurations that
 * are known), exact, in logarithms, times the probability that the trial does not fail; and its
 * maximum over the cube. Called by the surrogate search only.
 *
 * Knowledge gradient: Frazier, Powell, Dayanik, The knowledge-gradient policy for correlated normal
 * beliefs, INFORMS J. Computing 21 (2009); logarithms: Ament et al., Unexpected improvements to
 * expected improvement, NeurIPS 2023.
 */
#ifndef TUNESWEEP_ACQUISITION_H
#define TUNESWEEP_ACQUISITION_H

#include "gp.h"
#include "search.h"
#include "stats.h"

#define ACQUISITION_ANCHORS 24

/* log(E[max_i (a_i + b_i Z)] - max_i a_i) for a standard normal Z; m lines; -INFINITY if no line
 * can overtake another. m at most ACQUISITION_ANCHORS + 1. */
double kg_log(const double *a, const double *b, size_t m);

struct acquisition {
	const struct search_problem *problem;
	const struct gp *model;
	const struct gp *failures; /* labels of failed and good trials; NULL: nothing failed */
	size_t m;		   /* anchors */
	double *anchor;		   /* m rows of n coordinates, best posterior mean first */
	double *half;		   /* m rows: gp_predict's half */
	double mean[ACQUISITION_ANCHORS], variance[ACQUISITION_ANCHORS];
	double *scratch; /* one half */
};

/* points: distinct known points, n_points rows. */
int acquisition_init(struct acquisition *q, const struct search_problem *p, const struct gp *model,
		     const struct gp *failures, const double *points, size_t n_points,
		     struct err *e);
void acquisition_clear(struct acquisition *q);

/* Log of the expected gain (in the model's units) of one measurement at x. */
double acquisition_log_gain(struct acquisition *q, const double *x);

/* Probability that a trial at x does not fail. */
double acquisition_feasible(const struct acquisition *q, const double *x);

/* The best point found, and its log gain. Candidates: random ones, neighbours of the anchors, the
 * known points; polished by NLopt's LN_BOBYQA over the numbers and by trying every category. */
double acquisition_maximise(struct acquisition *q, const double *points, size_t n_points,
			    struct stats_rng *rng, double *x);

#endif
