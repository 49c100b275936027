/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A Gaussian process on the unit cube with numeric and categorical coordinates, its
 * hyper-parameters fitted by NLopt (MAP). It is the model of the surrogate search: it knows points
 * and numbers, neither tunables nor what is done with a prediction.
 *
 *   k(x, x') = 1 + s Matern52(r) + q Matern32(5 r) + sum_j a_j k1_j(x_j, x'_j),
 *   noise variance sigma^2 w_i
 *   r^2 = sum_j (x_j - x'_j)^2 / l_j^2, for a category [x_j != x'_j] / l_j^2
 *   k1_j = Matern52(|x_j - x'_j| / 0.3), for a category [x_j == x'_j]
 *
 * The second, rough and short term is for the kinks and cliffs where one limit takes over from
 * another; without it the model rounds off the very peak that is sought.
 *
 * Between measurements (not between predictions) of one group, that is one boot of one host, a
 * level of the group is added; of an earlier group also a smooth change, amount times Matern52(r);
 * with drift also t exp(-|difference in time| / 30).
 *
 * Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2, 4 and 5;
 * additive terms after Duvenaud et al., Additive Gaussian Processes, NIPS 2011.
 */
#ifndef TUNESWEEP_GP_H
#define TUNESWEEP_GP_H

#include "err.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct gp;

/* category[j]: coordinate j has no order; equal means within 1e-9. noise_spread: sd of the prior of
 * the logarithm of the noise (0: fixed). */
int gp_create(size_t d, const bool *category, double noise_spread, struct gp **out, struct err *e);
void gp_destroy(struct gp *g);

#define GP_NO_GROUP INT_MIN

struct gp_origin { /* where a measurement comes from */
	int group; /* GP_NO_GROUP: the value is the function's own, without level or drift */
	bool earlier;
	double when;
};

struct gp_data {
	size_t n;
	const double *x;		/* n rows of d */
	const double *y;		/* mean near 0, standard deviation near 1 */
	const double *w;		/* noise multipliers >= 1 */
	const struct gp_origin *origin; /* NULL: all of one group, at one time */
	double noise;			/* prior median of the noise's sd, in units of y */
	double group_variance, earlier_variance;
	bool drift;
};

/*
 * Takes the data (copied) and, with refit, fits the hyper-parameters from the prior's centre and
 * from the last optimum. -EDOM for a value that is not finite: it is refused, since every fit would
 * silently stop there.
 */
int gp_set(struct gp *g, const struct gp_data *data, bool refit, struct err *e);

size_t gp_size(const struct gp *g);

/* Posterior mean and variance (without noise) at x. half (may be NULL; n numbers): L^-1 k(X, x),
 * from which gp_covariance makes posterior covariances. */
void gp_predict(const struct gp *g, const double *x, double *mean, double *variance, double *half);

/* Posterior covariance of the function at two points, with their halves. */
double gp_covariance(const struct gp *g, const double *x1, const double *half1, const double *x2,
		     const double *half2);

double gp_noise_variance(const struct gp *g); /* sigma^2, of w = 1 */
double gp_length(const struct gp *g, size_t j);
double gp_log_posterior(const struct gp *g);  /* of the hyper-parameters at their optimum */
double gp_log_likelihood(const struct gp *g); /* of the data, without the constant */

/* Leave-one-out residuals of the fitted points, in their own standard deviations (n numbers).
 * Rasmussen and Williams, equations 5.10 to 5.12. */
void gp_leave_one_out(const struct gp *g, double *residual);

/* Posterior mean and variance of a difference: f(x1) - f(x2). */
void gp_difference(const struct gp *g, const double *x1, const double *x2, double *mean,
		   double *variance);

/*
 * Posterior of a weighted sum of the function over m points, sum_i c_i f(x_i): mean and variance.
 * -ENOMEM. Main effects and interactions are such sums.
 */
int gp_combination(const struct gp *g, size_t m, const double *x, const double *c, double *mean,
		   double *variance);

#endif
