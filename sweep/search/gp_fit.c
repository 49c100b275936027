/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Likelihood of a Gaussian process and the MAP fit of its hyper-parameters by NLopt's LD_LBFGS,
 * with analytic gradients. The sums over pairs are matrix-vector products, so that BLAS does them.
 * Called by gp.c.
 */
#include "gp_private.h"
#include <cblas.h>
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <nlopt.h>
#include <string.h>

#define FIT_EVALUATIONS 20
#define FIT_FEW		12  /* evaluations, and no second start, ... */
#define FIT_MANY	100 /* from so many points on: their optimum moves little */
#define ROUGH_CENTRE	(-4.0)
#define FIT_TOLERANCE	0.01
#define JITTER		1e-8
#define NOT_POSITIVE	1e8 /* a finite value: NLopt is never handed an infinite one */

double gp_matern52(double r)
{
	double t = sqrt(5.0) * r;
	return (1 + t + t * t / 3) * exp(-t);
}

double gp_rough(double r)
{
	double t = sqrt(3.0) * GP_ROUGHNESS * r;
	return (1 + t) * exp(-t);
}

/* Per pair: squared scaled distance into pair[0], additive part into pair[1]. */
static void scaled_pairs(struct gp *g)
{
	int pairs = (int)gp_pairs(g->n), d = (int)g->d;
	cblas_dgemv(CblasRowMajor, CblasNoTrans, pairs, d, 1, g->diff, d, g->weight, 1, 0,
		    g->pair[0], 1);
	cblas_dgemv(CblasRowMajor, CblasNoTrans, pairs, d, 1, g->add, d, g->amount, 1, 0,
		    g->pair[1], 1);
}

static void fill_covariance(struct gp *g, const double *theta)
{
	double s = exp(theta[g->d]), sigma = exp(theta[2 * g->d + 1]), additive = 0;
	double q = exp(theta[2 * g->d + 2]), drift = g->drift ? exp(theta[2 * g->d + 3]) : 0;
	size_t p = 0;
	for (size_t j = 0; j < g->d; j++) {
		additive += exp(theta[g->d + 1 + j]);
	}
	for (size_t k = 0; k < g->n; k++) {
		double *row = g->k + k * g->n;
		for (size_t i = 0; i < k; i++, p++) {
			double t = sqrt(5 * g->pair[0][p]), x = exp(-t);
			double u = sqrt(3 * g->pair[0][p]) * GP_ROUGHNESS, v = exp(-u);
			double matern = (1 + t + t * t / 3) * x, amount = s + g->change[p];
			row[i] = GP_CONSTANT + g->pair[1][p] + amount * matern + g->level[p] +
				 drift * g->ageing[p] + q * (1 + u) * v;
			/* for the gradients: by s, by the lengths, and by q */
			g->pair[1][p] = s * matern;
			g->pair[2][p] = amount * (5.0 / 3) * (1 + t) * x +
					q * 3 * GP_ROUGHNESS * GP_ROUGHNESS * v;
			g->pair[3][p] = q * (1 + u) * v;
		}
		row[k] = GP_CONSTANT + s + q + additive + sigma * sigma * g->w[k] + JITTER;
		if (g->origin[k].group != GP_NO_GROUP) {
			row[k] += drift + g->group_variance +
				  (g->origin[k].earlier ? g->earlier_variance : 0);
		}
	}
}

int gp_factor(struct gp *g, const double *theta)
{
	int n = (int)g->n;
	if (n == 0) {
		return 0;
	}
	for (size_t j = 0; j < g->d; j++) {
		g->weight[j] = exp(-2 * theta[j]);
		g->amount[j] = exp(theta[g->d + 1 + j]);
	}
	g->smooth = exp(theta[g->d]);
	g->rough = exp(theta[2 * g->d + 2]);
	if (n > 1) {
		scaled_pairs(g);
	}
	fill_covariance(g, theta);
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, g->k, n) != 0) {
		return -EDOM;
	}
	memcpy(g->alpha, g->y, g->n * sizeof(double));
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, g->k, n, g->alpha, 1);
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, g->k, n, g->alpha, 1);
	return 0;
}

double gp_log_likelihood(const struct gp *g)
{
	double sum = -0.5 * cblas_ddot((int)g->n, g->y, 1, g->alpha, 1);
	for (size_t i = 0; i < g->n; i++) {
		sum -= log(g->k[i * g->n + i]);
	}
	return sum;
}

void gp_prior(const struct gp *g, size_t t, double *centre, double *spread)
{
	*spread = 1;
	if (t < g->d) {
		*centre = log(0.45 * sqrt((double)g->d)) + (g->category[t] ? 0.3 : 0);
	} else if (t == g->d) {
		*centre = 0;
	} else if (t < 2 * g->d + 1) {
		*centre = log(0.3);
		*spread = 1.3;
	} else if (t == 2 * g->d + 2) {
		*centre = ROUGH_CENTRE;
		*spread = 1.3;
	} else if (t == 2 * g->d + 3) {
		*centre = 2 * log(g->noise); /* a drift of the noise's size */
		*spread = 1.3;
	} else {
		*centre = log(g->noise);
		*spread = g->noise_spread > 0 ? g->noise_spread : 1e-3;
	}
}

static double log_prior(const struct gp *g, const double *theta, double *gradient)
{
	double sum = 0;
	for (size_t t = 0; t < gp_theta_count(g); t++) {
		double centre, spread;
		gp_prior(g, t, &centre, &spread);
		double z = (theta[t] - centre) / spread;
		sum -= 0.5 * z * z;
		if (gradient) {
			gradient[t] -= z / spread;
		}
	}
	return sum;
}

/* W = alpha alpha' - K^-1, of which every derivative of the likelihood is half a sum of products
 * (Rasmussen and Williams 5.9). Off-diagonal ones into pair[0], counted twice; the diagonal is
 * returned in diagonal. */
static void gradient_weights(struct gp *g, double *diagonal)
{
	size_t n = g->n, p = 0;
	memcpy(g->inverse, g->k, n * n * sizeof(double));
	LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (int)n, g->inverse, (int)n);
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < k; i++, p++) {
			g->pair[0][p] = g->alpha[k] * g->alpha[i] - g->inverse[k * n + i];
		}
		diagonal[k] = g->alpha[k] * g->alpha[k] - g->inverse[k * n + k];
	}
}

static void likelihood_gradient(struct gp *g, const double *theta, double *out)
{
	size_t d = g->d;
	int pairs = (int)gp_pairs(g->n), id = (int)d;
	double s = exp(theta[d]), sigma = exp(theta[2 * d + 1]);
	double sum[SEARCH_DIMS_MAX] = {0}; /* without pairs dgemv leaves it as it is */
	double trace = 0, noise = 0;
	gradient_weights(g, g->diagonal);
	for (size_t k = 0; k < g->n; k++) {
		trace += g->diagonal[k];
		noise += g->diagonal[k] * g->w[k];
	}
	cblas_dgemv(CblasRowMajor, CblasTrans, pairs, id, 1, g->add, id, g->pair[0], 1, 0, sum, 1);
	for (size_t j = 0; j < d; j++) {
		out[d + 1 + j] = exp(theta[d + 1 + j]) * (sum[j] + 0.5 * trace);
	}
	out[d] = cblas_ddot(pairs, g->pair[0], 1, g->pair[1], 1) + 0.5 * trace * s;
	out[2 * d + 2] = cblas_ddot(pairs, g->pair[0], 1, g->pair[3], 1) +
			 0.5 * trace * exp(theta[2 * d + 2]);
	if (g->drift) {
		double both = cblas_ddot(pairs, g->pair[0], 1, g->ageing, 1);
		for (size_t k = 0; k < g->n; k++) {
			both += g->origin[k].group != GP_NO_GROUP ? 0.5 * g->diagonal[k] : 0;
		}
		out[2 * d + 3] = exp(theta[2 * d + 3]) * both;
	}
	for (int p = 0; p < pairs; p++) {
		g->pair[0][p] *= g->pair[2][p];
	}
	cblas_dgemv(CblasRowMajor, CblasTrans, pairs, id, 1, g->diff, id, g->pair[0], 1, 0, sum, 1);
	for (size_t j = 0; j < d; j++) {
		out[j] = exp(-2 * theta[j]) * sum[j];
	}
	out[2 * d + 1] = sigma * sigma * noise;
}

double gp_minus_log_posterior(unsigned count, const double *theta, double *gradient, void *state)
{
	struct gp *g = state;
	if (gp_factor(g, theta) < 0) {
		if (gradient) {
			memset(gradient, 0, count * sizeof(double));
		}
		return NOT_POSITIVE;
	}
	double sum = gp_log_likelihood(g);
	if (gradient) {
		likelihood_gradient(g, theta, gradient);
	}
	sum += log_prior(g, theta, gradient);
	for (unsigned t = 0; gradient && t < count; t++) {
		gradient[t] = -gradient[t];
	}
	return isfinite(sum) ? -sum : NOT_POSITIVE;
}

/* Within 6 spreads of the prior: no theta overflows. */
static void set_bounds(const struct gp *g, nlopt_opt opt)
{
	double lo[GP_THETA_MAX], hi[GP_THETA_MAX];
	for (size_t t = 0; t < gp_theta_count(g); t++) {
		double centre, spread;
		gp_prior(g, t, &centre, &spread);
		lo[t] = centre - 6 * spread;
		hi[t] = centre + 6 * spread;
	}
	nlopt_set_lower_bounds(opt, lo);
	nlopt_set_upper_bounds(opt, hi);
}

static double fit_from(struct gp *g, double *theta)
{
	double best = NOT_POSITIVE, lo[GP_THETA_MAX], hi[GP_THETA_MAX];
	nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)gp_theta_count(g));
	if (!opt) {
		return best;
	}
	set_bounds(g, opt);
	nlopt_get_lower_bounds(opt, lo);
	nlopt_get_upper_bounds(opt, hi);
	for (size_t t = 0; t < gp_theta_count(g); t++) {
		theta[t] = fmin(fmax(theta[t], lo[t]), hi[t]);
	}
	nlopt_set_min_objective(opt, gp_minus_log_posterior, g);
	nlopt_set_ftol_abs(opt, FIT_TOLERANCE);
	nlopt_set_maxeval(opt, g->n < FIT_MANY ? FIT_EVALUATIONS : FIT_FEW);
	nlopt_set_maxtime(opt, 10);
	/* Rounding at the optimum is reported as a failure; theta holds the best point all the
	 * same. */
	nlopt_optimize(opt, theta, &best);
	nlopt_destroy(opt);
	return gp_minus_log_posterior((unsigned)gp_theta_count(g), theta, NULL, g);
}

int gp_fit(struct gp *g, struct err *e)
{
	double start[GP_THETA_MAX], spread;
	for (size_t t = 0; t < gp_theta_count(g); t++) {
		gp_prior(g, t, &start[t], &spread);
	}
	double best = g->fitted && g->n >= FIT_MANY ? INFINITY : fit_from(g, start);
	if (g->fitted) {
		/* a drift that is new, or of data that were scaled anew, starts at its centre */
		size_t last = gp_theta_count(g) - 1;
		g->theta[last] = g->drift && !g->fitted_drift ? start[last] : g->theta[last];
		double again = fit_from(g, g->theta);
		if (again < best) {
			best = again;
			memcpy(start, g->theta, sizeof(start));
		}
	}
	memcpy(g->theta, start, sizeof(start));
	g->fitted = true;
	g->fitted_drift = g->drift;
	g->log_posterior = -best;
	if (gp_factor(g, g->theta) < 0) {
		return err_set(e, -EDOM, "the model's covariance is not positive definite");
	}
	return 0;
}
