/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model of the surrogate search: told points in, fitted Gaussian processes out. Shared by
 * surrogate.c (what to ask), surrogate_data.c (what was told), surrogate_model.c (what is
 * believed) and surrogate_explain.c (what to say of it). Nobody else includes this.
 */
#ifndef TUNESWEEP_SURROGATE_PRIVATE_H
#define TUNESWEEP_SURROGATE_PRIVATE_H

#include "acquisition.h"
#include "search_private.h"

#define MODEL_POINTS_MAX 300 /* more are thinned out: a step must stay under half a second */
#define PENDING_MAX	 64

struct told { /* one measurement */
	double y, se;
	bool failed;
	struct gp_origin origin;
	double margin[SEARCH_MARGINS_MAX];
};

struct training { /* what one model is fitted to */
	size_t n;
	double *x, *y, *w;
	struct gp_origin *origin;
	double mean, scale; /* of the values before they were standardised */
};

struct beliefs {
	const struct search_problem *problem;
	size_t n, room; /* all that was told, in order */
	double *x;	/* n rows */
	struct told *told;
	size_t n_failed;
	double *points; /* distinct good points, n_points rows */
	size_t n_points;
	double *refused; /* distinct points that failed and never worked, n_refused rows */
	size_t n_refused;
	double *tabu; /* points that cut the link, n_tabu rows */
	size_t n_tabu;
	double pending[PENDING_MAX][SEARCH_DIMS_MAX]; /* asked, not yet told */
	size_t n_pending;
	bool several_groups;
	double median_se; /* of samples that tell one; 0: none does */
	double noise;	  /* prior: sd of one sample in units of y (log score: a fraction) */
	double warp;	  /* linear within about this much of the best, logarithmic below */
	double best;	  /* largest y */

	struct gp *model;    /* of the good points */
	struct gp *failures; /* of labels; used once something failed */
	struct gp *limit[SEARCH_MARGINS_MAX];
	double limit_mean[SEARCH_MARGINS_MAX], limit_scale[SEARCH_MARGINS_MAX];
	size_t limit_points[SEARCH_MARGINS_MAX]; /* measured margins; 0: no model yet */
	size_t fitted_at, drift_tried_at;
	bool drift;
	double mean, scale; /* of the warped values */
};

int beliefs_init(struct beliefs *b, const struct search_problem *p, struct err *e);
void beliefs_clear(struct beliefs *b);

/* -ENOMEM: forgotten, which only costs a measurement. */
int beliefs_add(struct beliefs *b, const struct search_observation *o);

/* Brings the models up to date; refits as often as pays. -ENODATA while no good point is known. */
int beliefs_update(struct beliefs *b, struct err *e);

/* What the acquisition is told. Good until the next update or add. */
struct acquisition_view beliefs_view(const struct beliefs *b);

/* Posterior mean and sd at x, in units of y near the best. */
void beliefs_predict(const struct beliefs *b, const double *x, double *mean, double *sd);

/* surrogate_data.c: distinct points, noise and warp from what was told; training sets. what: -1 for
 * the values, -2 for the labels, or the number of a margin. The caller's, see training_clear. */
enum { TRAIN_VALUES = -1, TRAIN_LABELS = -2 };
void beliefs_survey(struct beliefs *b);
int training_fill(const struct beliefs *b, int what, struct training *t, struct err *e);
void training_clear(struct training *t);

/* surrogate_explain.c. Models are up to date. */
int beliefs_recommend(const struct beliefs *b, double *x, double *mean, double *sd);
bool beliefs_remaining(const struct beliefs *b, struct stats_rng *rng, double *gain);
json_t *beliefs_explain(const struct beliefs *b);

#endif
