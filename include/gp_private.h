/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of a Gaussian process, shared by gp.c (data, prediction) and gp_fit.c (likelihood,
 * hyper-parameters). Nobody else includes this.
 */
#ifndef TUNESWEEP_GP_PRIVATE_H
#define TUNESWEEP_GP_PRIVATE_H

#include "gp.h"
#include "search.h"

#define GP_THETA_MAX	   (2 * SEARCH_DIMS_MAX + 4)
#define GP_ADDITIVE_LENGTH 0.3
#define GP_CONSTANT	   1.0
#define GP_TABLE	   4096

/* theta: log l_1..d, log s, log a_1..d, log sigma, log q; with drift log t */
struct gp {
	size_t d, n, room;
	bool category[SEARCH_DIMS_MAX];
	double noise_spread, noise;
	double *x, *y, *w;
	double *diff,
		*add; /* per pair (k, i < k), at k (k - 1) / 2 + i: d squared differences, d k1 */
	double *pair[4];		 /* per pair: scratch of a fit */
	struct gp_origin *origin;	 /* per point */
	double *level, *change, *ageing; /* per pair: covariance by group, amount of Matern52(r) by
					    earlier groups, exp(-|difference in time| / 30) */
	bool drift;
	double group_variance, earlier_variance;
	double *k, *inverse; /* n x n: Cholesky factor (lower), inverse */
	double *alpha;	     /* K^-1 y */
	double *diagonal;    /* scratch of a fit: n */
	double theta[GP_THETA_MAX];
	/* of the theta that k is made with: l^-2, a, s, q */
	double weight[SEARCH_DIMS_MAX], amount[SEARCH_DIMS_MAX], smooth, rough;
	bool fitted, fitted_drift;
	double log_posterior;
	double table[GP_TABLE]; /* k1 of a numeric coordinate over [0, 1] */
};

static inline size_t gp_theta_count(const struct gp *g)
{
	return 2 * g->d + 3 + g->drift;
}

static inline size_t gp_pairs(size_t n)
{
	return n * (n - 1) / 2;
}

/* Matern 5/2 of r (in lengths). */
double gp_matern52(double r);

/* The rough term: Matern 3/2 of a fifth of the length. */
#define GP_ROUGHNESS 5.0
double gp_rough(double r);

/* Builds K for theta, factors it, alpha. -EDOM if it is not positive definite. */
int gp_factor(struct gp *g, const double *theta);

/* NLopt's view of the fit: minus the log posterior of theta, and its gradient (may be NULL). state:
 * a struct gp with data. Leaves it factored at theta. */
double gp_minus_log_posterior(unsigned count, const double *theta, double *gradient, void *state);

/* Centre and spread of the normal prior of theta[t]. */
void gp_prior(const struct gp *g, size_t t, double *centre, double *spread);

/* Fits theta; leaves g factored at the best one. */
int gp_fit(struct gp *g, struct err *e);

#endif
