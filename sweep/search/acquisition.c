/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The value of one more measurement at a point: knowledge gradient over the anchors and the point
 * itself, times the probability of success. Its maximum is sought in acquisition_max.c. Called by
 * the surrogate search.
 */
#include "acquisition.h"
#include "cleanup.h"
#include "search_private.h"
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define LABEL_VARIANCE 0.03 /* of the probit link over the label model */
#define LABEL_MEAN     1.0  /* where nothing is known, trials are expected to work */
#define TABU_RADIUS    0.15
#define TABU_CATEGORY  0.11 /* one category that differs is still near, two are not */
#define LIKELY	       0.5  /* probability from which a known point counts as keeping the limits */

struct ranked {
	size_t index;
	double mean;
};

static int by_mean(const void *x, const void *y)
{
	const struct ranked *p = x, *q = y;
	return p->mean > q->mean ? -1 : p->mean < q->mean;
}

double acquisition_works(const struct acquisition_view *v, const double *x)
{
	double mean, variance;
	if (!v->failures) {
		return 1;
	}
	gp_predict(v->failures, x, &mean, &variance, NULL);
	return gsl_cdf_ugaussian_P((mean + LABEL_MEAN) / sqrt(variance + LABEL_VARIANCE));
}

double acquisition_keeps_limits(const struct acquisition_view *v, const double *x)
{
	double p = 1;
	for (size_t k = 0; k < v->n_limits; k++) {
		const struct acquisition_limit *l = &v->limit[k];
		double mean, variance;
		gp_predict(l->model, x, &mean, &variance, NULL);
		p *= gsl_cdf_ugaussian_P((l->mean / l->scale + mean) / sqrt(variance));
	}
	return p;
}

bool acquisition_is_tabu(const struct acquisition_view *v, const double *x)
{
	const struct search_problem *p = v->problem;
	for (size_t i = 0; i < v->n_tabu; i++) {
		double r2 = 0;
		for (size_t j = 0; j < p->n; j++) {
			double delta = fabs(x[j] - v->tabu[i * p->n + j]);
			delta = p->dims[j].category && delta > 1e-9 ? TABU_CATEGORY : delta;
			r2 += delta * delta;
		}
		if (r2 < TABU_RADIUS * TABU_RADIUS) {
			return true;
		}
	}
	return false;
}

static bool is_refused(const struct acquisition_view *v, const double *x)
{
	size_t d = v->problem->n;
	for (size_t i = 0; i < v->n_refused; i++) {
		if (memcmp(v->refused + i * d, x, d * sizeof(double)) == 0) {
			return true;
		}
	}
	return false;
}

bool acquisition_settle(const struct acquisition_view *v, double *x)
{
	const struct search_problem *p = v->problem;
	search_snap(p, x);
	return (!p->canonical || p->canonical(p->ctx, x)) && !is_refused(v, x) &&
	       !acquisition_is_tabu(v, x);
}

/* The best known points that probably keep the limits. What worked seldom comes last. */
static int choose_anchors(struct acquisition *q, struct err *e)
{
	const struct acquisition_view *v = &q->v;
	size_t d = v->problem->n, n = gp_size(v->model), usable = 0;
	auto_free struct ranked *r = calloc(v->n_points + 1, sizeof(*r));
	if (!r) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	for (size_t i = 0; i < v->n_points; i++) {
		const double *x = v->points + i * d;
		double variance;
		if (acquisition_keeps_limits(v, x) < LIKELY || acquisition_is_tabu(v, x)) {
			continue;
		}
		r[usable].index = i;
		gp_predict(v->model, x, &r[usable].mean, &variance, NULL);
		r[usable++].mean += log(fmax(acquisition_works(v, x), 1e-9));
	}
	qsort(r, usable, sizeof(*r), by_mean);
	q->m = usable < ACQUISITION_ANCHORS ? usable : ACQUISITION_ANCHORS;
	for (size_t i = 0; i < q->m; i++) {
		double variance;
		memcpy(q->anchor + i * d, v->points + r[i].index * d, d * sizeof(double));
		gp_predict(v->model, q->anchor + i * d, &q->mean[i], &variance, q->half + i * n);
	}
	return 0;
}

int acquisition_init(struct acquisition *q, const struct acquisition_view *v, struct err *e)
{
	size_t n = gp_size(v->model);
	*q = (struct acquisition){.v = *v};
	q->anchor = calloc(ACQUISITION_ANCHORS * v->problem->n, sizeof(double));
	q->half = calloc(ACQUISITION_ANCHORS * n, sizeof(double));
	q->scratch = calloc(n, sizeof(double));
	if (!q->anchor || !q->half || !q->scratch) {
		acquisition_clear(q);
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	int rc = choose_anchors(q, e);
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

static double knowledge_gradient(struct acquisition *q, const double *x)
{
	double a[ACQUISITION_ANCHORS + 1], b[ACQUISITION_ANCHORS + 1], variance;
	size_t d = q->v.problem->n, n = gp_size(q->v.model);
	gp_predict(q->v.model, x, &a[q->m], &variance, q->scratch);
	double spread = sqrt(variance + gp_noise_variance(q->v.model));
	for (size_t i = 0; i < q->m; i++) {
		a[i] = q->mean[i];
		b[i] = gp_covariance(q->v.model, q->anchor + i * d, q->half + i * n, x,
				     q->scratch) /
		       spread;
	}
	b[q->m] = variance / spread;
	return kg_log(a, b, q->m + 1);
}

double acquisition_log_gain(struct acquisition *q, const double *x)
{
	const struct search_problem *p = q->v.problem;
	double works = acquisition_works(&q->v, x), keeps = acquisition_keeps_limits(&q->v, x);
	double gain = log(fmax(works * keeps, 1e-300));
	if (q->m == 0) {
		double mean, variance;
		gp_predict(q->v.model, x, &mean, &variance, NULL);
		gain += 0.1 * mean; /* of equally safe points the one that looks better */
	} else {
		gain += knowledge_gradient(q, x);
	}
	return p->seconds ? gain - log(fmax(p->seconds(p->ctx, x), 1e-3)) : gain;
}
