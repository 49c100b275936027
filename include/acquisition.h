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

struct acquisition_limit {	/* a measured limit: kept where its margin is above 0 */
	const struct gp *model; /* of (margin - mean) / scale */
	double mean, scale;
};

struct acquisition_view { /* what is known; borrowed */
	const struct search_problem *problem;
	const struct gp *model;
	const struct gp *failures; /* labels of failed and good trials; NULL: nothing failed */
	struct acquisition_limit limit[SEARCH_MARGINS_MAX];
	size_t n_limits;
	const double *points; /* distinct known points, rows of problem->n */
	size_t n_points;
	const double *refused; /* points that failed and never worked: not asked again */
	size_t n_refused;
	const double *tabu; /* points that are not gone near again */
	size_t n_tabu;
};

struct acquisition {
	struct acquisition_view v;
	size_t m;	/* anchors; 0: no known point keeps the limits */
	double *anchor; /* m rows of n coordinates, best posterior mean first */
	double *half;	/* m rows: gp_predict's half */
	double mean[ACQUISITION_ANCHORS];
	double *scratch; /* one half */
};

int acquisition_init(struct acquisition *q, const struct acquisition_view *v, struct err *e);
void acquisition_clear(struct acquisition *q);

/* Log of the expected gain (in the model's units; per second if the problem tells seconds) of one
 * measurement at x. While no known point keeps the limits: of the probability that x does. */
double acquisition_log_gain(struct acquisition *q, const double *x);

/* Probability that a trial at x does not fail, and that all limits are kept there. */
double acquisition_works(const struct acquisition_view *v, const double *x);
double acquisition_keeps_limits(const struct acquisition_view *v, const double *x);

/* Is x within the ball around a point that cut the link (0.15; a category that differs counts
 * 0.11)?
 */
bool acquisition_is_tabu(const struct acquisition_view *v, const double *x);

/* Snaps x to its cell and to its configuration's canonical point. false: forbidden, tabu, or known
 * to fail. */
bool acquisition_settle(const struct acquisition_view *v, double *x);

/*
 * The best known configuration with two of its categories changed: of those not yet measured the
 * one that least is known about. Two settings that are only good together (interrupts and memory on
 * one node) look bad one by one, and neither an expected gain nor steps of one coordinate lead from
 * one such pair to another. false: there are not two categories, or no such point may be the best.
 */
bool acquisition_pair(struct acquisition *q, struct stats_rng *rng, double *x);

/* The best point found, and its log gain; -INFINITY if there is none that is allowed. Candidates:
 * random ones, neighbours of the anchors, the known points; polished by NLopt's LN_BOBYQA over the
 * numbers and by trying every category. */
double acquisition_maximise(struct acquisition *q, struct stats_rng *rng, double *x);

#endif
