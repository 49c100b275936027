/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model of the surrogate search: told points in, fitted Gaussian processes out. Shared by
 * surrogate.c (what to ask) and surrogate_model.c (what is believed). Nobody else includes this.
 */
#ifndef TUNESWEEP_SURROGATE_PRIVATE_H
#define TUNESWEEP_SURROGATE_PRIVATE_H

#include "acquisition.h"
#include "search_private.h"

#define MODEL_POINTS_MAX 300 /* more are thinned out: a step must stay under half a second */

struct beliefs {
	const struct search_problem *problem;
	size_t n, room; /* all that was told, in order */
	double *x;	/* n rows */
	double *y;	/* as told; not looked at where failed */
	bool *failed;
	size_t n_failed;
	struct gp *model;    /* of the good points; NULL before the first */
	struct gp *failures; /* of labels; NULL while nothing failed */
	double noise;	     /* prior: sd of one sample in units of y (log score: a fraction) */
	/* of the last update */
	size_t fitted_at, n_points;
	double *points;	    /* distinct good points, n_points rows */
	double mean, scale; /* of the warped values */
	double best;	    /* largest y */
};

int beliefs_init(struct beliefs *b, const struct search_problem *p, struct err *e);
void beliefs_clear(struct beliefs *b);
int beliefs_add(struct beliefs *b, const double *x, double y, bool failed, struct err *e);

/* Brings the models up to date; refits as often as pays. -ENODATA while no good point is known. */
int beliefs_update(struct beliefs *b, struct err *e);

/* Posterior mean and sd at x, in units of y near the best. */
void beliefs_predict(const struct beliefs *b, const double *x, double *mean, double *sd);

#endif
