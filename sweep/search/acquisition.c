/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The value of one more measurement at a point: knowledge gradient over the anchors and the point
 * itself, times the probability of success. Its maximum is sought in acquisition_max.c. Called by
 * the surrogate search.
 */
#include "acquisition.h"
#include "cleanup.h"
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define LABEL_VARIANCE 0.1 /* of the probit link over the label model */
#define LABEL_MEAN     1.0 /* where nothing is known, trials are expected to work */

struct ranked {
	size_t index;
	double mean;
};

static int by_mean(const void *x, const void *y)
{
	const struct ranked *p = x, *q = y;
	return p->mean > q->mean ? -1 : p->mean < q->mean;
}

double acquisition_feasible(const struct acquisition *q, const double *x)
{
	double mean, variance;
	if (!q->failures) {
		return 1;
	}
	gp_predict(q->failures, x, &mean, &variance, NULL);
	return gsl_cdf_ugaussian_P((mean + LABEL_MEAN) / sqrt(variance + LABEL_VARIANCE));
}

static int choose_anchors(struct acquisition *q, const double *points, size_t n_points,
			  struct err *e)
{
	auto_free struct ranked *r = calloc(n_points + 1, sizeof(*r));
	size_t d = q->problem->n, n = gp_size(q->model);
	if (!r) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	for (size_t i = 0; i < n_points; i++) {
		double variance;
		r[i].index = i;
		gp_predict(q->model, points + i * d, &r[i].mean, &variance, NULL);
		/* What probably fails must not be taken for the best. */
		r[i].mean += log(fmax(acquisition_feasible(q, points + i * d), 1e-9));
	}
	qsort(r, n_points, sizeof(*r), by_mean);
	q->m = n_points < ACQUISITION_ANCHORS ? n_points : ACQUISITION_ANCHORS;
	for (size_t i = 0; i < q->m; i++) {
		memcpy(q->anchor + i * d, points + r[i].index * d, d * sizeof(double));
		gp_predict(q->model, q->anchor + i * d, &q->mean[i], &q->variance[i],
			   q->half + i * n);
	}
	return 0;
}

int acquisition_init(struct acquisition *q, const struct search_problem *p, const struct gp *model,
		     const struct gp *failures, const double *points, size_t n_points,
		     struct err *e)
{
	size_t n = gp_size(model);
	*q = (struct acquisition){.problem = p, .model = model, .failures = failures};
	q->anchor = calloc(ACQUISITION_ANCHORS * p->n, sizeof(double));
	q->half = calloc(ACQUISITION_ANCHORS * n, sizeof(double));
	q->scratch = calloc(n, sizeof(double));
	if (!q->anchor || !q->half || !q->scratch) {
		acquisition_clear(q);
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	int rc = choose_anchors(q, points, n_points, e);
	if (rc < 0) {
		acquisition_clear(q);
	}
	return rc;
}

void acquisition_clear(struct acquisition *q)
{
	free(q->anchor);
	free(q->half);
	free(q->scratch);
	*q = (struct acquisition){0};
}

double acquisition_log_gain(struct acquisition *q, const double *x)
{
	double a[ACQUISITION_ANCHORS + 1], b[ACQUISITION_ANCHORS + 1], variance;
	size_t d = q->problem->n, n = gp_size(q->model);
	gp_predict(q->model, x, &a[q->m], &variance, q->scratch);
	double spread = sqrt(variance + gp_noise_variance(q->model));
	for (size_t i = 0; i < q->m; i++) {
		a[i] = q->mean[i];
		b[i] = gp_covariance(q->model, q->anchor + i * d, q->half + i * n, x, q->scratch) /
		       spread;
	}
	b[q->m] = variance / spread;
	return kg_log(a, b, q->m + 1) + log(fmax(acquisition_feasible(q, x), 1e-12));
}
