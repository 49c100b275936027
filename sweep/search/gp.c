/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Gaussian process as its users see it: points in, predictions out. The likelihood and the fit
 * stand in gp_fit.c. Called by the surrogate search and its acquisition.
 */
#include "gp_private.h"
#include <cblas.h>
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME	  1e-9
#define DRIFT_FOR 30.0 /* measurements over which a drift is remembered */

int gp_create(size_t d, const bool *category, double noise_spread, struct gp **out, struct err *e)
{
	struct gp *g = calloc(1, sizeof(*g));
	if (!g) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	g->d = d;
	g->noise_spread = noise_spread;
	for (size_t i = 0; i < GP_TABLE; i++) {
		g->table[i] = gp_matern52((double)i / (GP_TABLE - 1) / GP_ADDITIVE_LENGTH);
	}
	memcpy(g->category, category, d * sizeof(*category));
	*out = g;
	return 0;
}

void gp_destroy(struct gp *g)
{
	if (!g) {
		return;
	}
	double *all[] = {g->x,	      g->y,	  g->w,	      g->diff,	g->add,	    g->pair[0],
			 g->pair[1],  g->pair[2], g->pair[3], g->k,	g->inverse, g->alpha,
			 g->diagonal, g->level,	  g->change,  g->ageing};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		free(all[i]);
	}
	free(g->origin);
	free(g);
}

static int grow(double **p, size_t count)
{
	double *more = realloc(*p, (count ? count : 1) * sizeof(double));
	if (more) {
		*p = more;
	}
	return more ? 0 : -ENOMEM;
}

static int make_room(struct gp *g, size_t n)
{
	if (n <= g->room) {
		return 0;
	}
	size_t room = n + n / 4 + 16, pairs = gp_pairs(room);
	int rc = grow(&g->x, room * g->d) | grow(&g->y, room) | grow(&g->w, room) |
		 grow(&g->diff, pairs * g->d) | grow(&g->add, pairs * g->d) |
		 grow(&g->pair[0], pairs) | grow(&g->pair[1], pairs) | grow(&g->pair[2], pairs) |
		 grow(&g->pair[3], pairs) | grow(&g->k, room * room) |
		 grow(&g->inverse, room * room) | grow(&g->alpha, room) | grow(&g->diagonal, room) |
		 grow(&g->level, pairs) | grow(&g->change, pairs) | grow(&g->ageing, pairs);
	struct gp_origin *origin = realloc(g->origin, room * sizeof(*origin));
	g->origin = origin ? origin : g->origin;
	if (rc == 0 && origin) {
		g->room = room;
	}
	return rc || !origin ? -ENOMEM : 0;
}

/* k1 by linear interpolation: its error is below 2e-7, far under any noise, and predictions need it
 * n x d times each. */
static double additive_kernel(const struct gp *g, double delta)
{
	double at = fmin(delta, 1) * (GP_TABLE - 1);
	size_t i = (size_t)at;
	i = i < GP_TABLE - 2 ? i : GP_TABLE - 2;
	return g->table[i] + (at - (double)i) * (g->table[i + 1] - g->table[i]);
}

/* Squared difference (0 or 1 of a category) and additive kernel of one coordinate. */
static void compare(const struct gp *g, size_t j, double a, double b, double *diff, double *add)
{
	double delta = fabs(a - b);
	if (g->category[j]) {
		bool same = delta < SAME;
		*diff = same ? 0 : 1;
		*add = same ? 1 : 0;
	} else {
		*diff = delta * delta;
		*add = additive_kernel(g, delta);
	}
}

/* The pairs of one new point with all before it; what stands for earlier points stays. */
static void append_point(struct gp *g, size_t k, const double *x)
{
	memcpy(g->x + k * g->d, x, g->d * sizeof(double));
	for (size_t i = 0; i < k; i++) {
		size_t at = (gp_pairs(k) + i) * g->d;
		for (size_t j = 0; j < g->d; j++) {
			compare(g, j, x[j], g->x[i * g->d + j], &g->diff[at + j], &g->add[at + j]);
		}
	}
}

static bool all_finite(const double *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(p[i])) {
			return false;
		}
	}
	return true;
}

/* What measurements share besides the function: few numbers a pair, made anew each time. */
static void compare_origins(struct gp *g)
{
	size_t p = 0;
	for (size_t k = 0; k < g->n; k++) {
		for (size_t i = 0; i < k; i++, p++) {
			const struct gp_origin *a = &g->origin[k], *b = &g->origin[i];
			bool same = a->group == b->group && a->group != GP_NO_GROUP;
			g->level[p] = same ? g->group_variance : 0;
			g->change[p] = same && a->earlier && b->earlier ? g->earlier_variance : 0;
			g->ageing[p] = same ? exp(-fabs(a->when - b->when) / DRIFT_FOR) : 0;
		}
	}
}

static void take_data(struct gp *g, const struct gp_data *data)
{
	size_t n = data->n, d = g->d, same = 0;
	while (same < n && same < g->n &&
	       memcmp(g->x + same * d, data->x + same * d, d * sizeof(double)) == 0) {
		same++;
	}
	for (size_t k = same; k < n; k++) {
		append_point(g, k, data->x + k * d);
	}
	g->n = n;
	g->noise = data->noise;
	g->group_variance = data->group_variance;
	g->earlier_variance = data->earlier_variance;
	memcpy(g->y, data->y, n * sizeof(double));
	memcpy(g->w, data->w, n * sizeof(double));
	for (size_t k = 0; k < n; k++) {
		g->origin[k] = data->origin ? data->origin[k] : (struct gp_origin){0};
	}
	compare_origins(g);
}

int gp_set(struct gp *g, const struct gp_data *data, bool refit, struct err *e)
{
	size_t n = data->n;
	if (n == 0 || !all_finite(data->x, n * g->d) || !all_finite(data->y, n) ||
	    !all_finite(data->w, n) || !(data->noise > 0)) {
		return err_set(e, -EDOM, "a model wants finite points and values");
	}
	if (make_room(g, n) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	take_data(g, data);
	bool other_kernel = g->drift != data->drift;
	g->drift = data->drift;
	if (refit || !g->fitted || other_kernel) {
		return gp_fit(g, e);
	}
	return gp_factor(g, g->theta) < 0 ? gp_fit(g, e) : 0;
}

size_t gp_size(const struct gp *g)
{
	return g->n;
}

/* Squared scaled distance, and constant and additive part of the kernel. */
static double compare_points(const struct gp *g, const double *a, const double *b, double *r2)
{
	double sum = GP_CONSTANT;
	*r2 = 0;
	for (size_t j = 0; j < g->d; j++) {
		double diff, add;
		compare(g, j, a[j], b[j], &diff, &add);
		*r2 += diff * g->weight[j];
		sum += g->amount[j] * add;
	}
	return sum;
}

static double prior_covariance(const struct gp *g, const double *a, const double *b)
{
	double r2, sum = compare_points(g, a, b, &r2), r = sqrt(r2);
	return sum + g->smooth * gp_matern52(r) + g->rough * gp_rough(r);
}

void gp_predict(const struct gp *g, const double *x, double *mean, double *variance, double *half)
{
	double own = GP_CONSTANT + g->smooth + g->rough;
	double *scratch = half ? NULL : malloc(g->n * sizeof(double)), *k = half ? half : scratch;
	for (size_t j = 0; j < g->d; j++) {
		own += g->amount[j];
	}
	for (size_t i = 0; i < g->n && k; i++) {
		k[i] = prior_covariance(g, x, g->x + i * g->d);
	}
	int n = k ? (int)g->n : 0;
	*mean = cblas_ddot(n, k, 1, g->alpha, 1);
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, g->k, (int)g->n, k,
		    1);
	*variance = fmax(own - cblas_ddot(n, k, 1, k, 1), 1e-12);
	free(scratch);
}

double gp_covariance(const struct gp *g, const double *x1, const double *half1, const double *x2,
		     const double *half2)
{
	return prior_covariance(g, x1, x2) - cblas_ddot((int)g->n, half1, 1, half2, 1);
}

double gp_noise_variance(const struct gp *g)
{
	return exp(2 * g->theta[2 * g->d + 1]);
}

double gp_length(const struct gp *g, size_t j)
{
	return exp(g->theta[j]);
}

double gp_log_posterior(const struct gp *g)
{
	return g->log_posterior;
}

void gp_leave_one_out(const struct gp *g, double *residual)
{
	int n = (int)g->n;
	memcpy(g->inverse, g->k, g->n * g->n * sizeof(double));
	LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', n, g->inverse, n);
	for (size_t i = 0; i < g->n; i++) {
		residual[i] = g->alpha[i] / sqrt(g->inverse[i * g->n + i]);
	}
}

void gp_difference(const struct gp *g, const double *x1, const double *x2, double *mean,
		   double *variance)
{
	double both[2 * SEARCH_DIMS_MAX];
	static const double c[2] = {1, -1};
	memcpy(both, x1, g->d * sizeof(double));
	memcpy(both + g->d, x2, g->d * sizeof(double));
	if (gp_combination(g, 2, both, c, mean, variance) < 0) {
		*mean = 0;
		*variance = INFINITY;
	}
}

int gp_combination(const struct gp *g, size_t m, const double *x, const double *c, double *mean,
		   double *variance)
{
	int n = (int)g->n;
	double *k = calloc(g->n + 1, sizeof(double));
	if (!k) {
		return -ENOMEM;
	}
	*variance = 0;
	for (size_t i = 0; i < m; i++) {
		for (size_t t = 0; t < g->n; t++) {
			k[t] += c[i] * prior_covariance(g, x + i * g->d, g->x + t * g->d);
		}
		for (size_t t = 0; t < m; t++) {
			*variance += c[i] * c[t] * prior_covariance(g, x + i * g->d, x + t * g->d);
		}
	}
	*mean = cblas_ddot(n, k, 1, g->alpha, 1);
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, g->k, n, k, 1);
	*variance = fmax(*variance - cblas_ddot(n, k, 1, k, 1), 0);
	free(k);
	return 0;
}
