/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the surrogate search believes: targets warped so that bad configurations do not bend the
 * model near the good ones, low outliers down-weighted, drift where the data want it, failures and
 * measured limits in models of their own, points that are being measured as if their expected value
 * had been seen (kriging believer, Ginsbourger et al. 2010). Called by surrogate.c.
 */
#include "cleanup.h"
#include "surrogate_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define OUTLIER_FROM   8      /* points from which outliers can be told */
#define OUTLIER_BELOW  (-2.5) /* leave-one-out residual from which a low point counts less */
#define OUTLIER_ROUNDS 2
#define OUTLIER_MOST   40
#define LABEL_NOISE    0.22 /* variance 0.05 */
#define LIMIT_NOISE    0.1  /* prior, of a margin's own spread */
#define LEVEL_SD       0.05 /* of boots and hosts, log units */
#define EARLIER_SD     0.03 /* by how much the surface of another night may differ */
#define DRIFT_FROM     40   /* points */
#define DRIFT_TO       160  /* from here what was decided stays */
#define DRIFT_EVERY    20
#define DRIFT_GAIN     2.0 /* log likelihood */

int beliefs_init(struct beliefs *b, const struct search_problem *p, struct err *e)
{
	bool category[SEARCH_DIMS_MAX];
	*b = (struct beliefs){.problem = p, .best = -INFINITY};
	for (size_t j = 0; j < p->n; j++) {
		category[j] = p->dims[j].category;
	}
	int rc = gp_create(p->n, category, 1, &b->model, e);
	rc = rc ? rc : gp_create(p->n, category, 0, &b->failures, e);
	for (size_t k = 0; rc == 0 && k < p->n_margins; k++) {
		rc = gp_create(p->n, category, 1, &b->limit[k], e);
	}
	return rc;
}

void beliefs_clear(struct beliefs *b)
{
	gp_destroy(b->model);
	gp_destroy(b->failures);
	for (size_t k = 0; k < SEARCH_MARGINS_MAX; k++) {
		gp_destroy(b->limit[k]);
	}
	free(b->x);
	free(b->told);
	free(b->points);
	free(b->refused);
	free(b->tabu);
	*b = (struct beliefs){0};
}

static struct gp_data data_of(const struct beliefs *b, const struct training *t)
{
	double level = LEVEL_SD / t->scale, change = EARLIER_SD / t->scale;
	return (struct gp_data){
		.n = t->n,
		.x = t->x,
		.y = t->y,
		.w = t->w,
		.origin = t->origin,
		.noise = b->noise / t->scale,
		.group_variance = b->several_groups ? level * level : 0,
		.earlier_variance = b->several_groups ? change * change : 0,
		.drift = b->drift,
	};
}

/* Low outliers count less; high ones do not: the search goes there and measures again. */
static int weigh_outliers(struct beliefs *b, struct training *t, struct err *e)
{
	struct gp_data data = data_of(b, t);
	auto_free double *residual = calloc(t->n, sizeof(double));
	for (int round = 0; residual && t->n >= OUTLIER_FROM && round < OUTLIER_ROUNDS; round++) {
		bool any = false;
		gp_leave_one_out(b->model, residual);
		for (size_t i = 0; i < t->n; i++) {
			double r = residual[i];
			if (r < OUTLIER_BELOW) {
				t->w[i] = fmin((4 + r * r) / 5 * t->w[i], OUTLIER_MOST);
				any = true;
			}
		}
		int rc = any ? gp_set(b->model, &data, false, e) : 0;
		if (rc < 0 || !any) {
			return rc;
		}
	}
	return 0;
}

/* Is a drift worth its extra freedom? Asked seldom: it costs a fit. */
static int consider_drift(struct beliefs *b, const struct training *t, struct err *e)
{
	if (t->n < DRIFT_FROM || t->n > DRIFT_TO || b->n < b->drift_tried_at + DRIFT_EVERY) {
		return 0;
	}
	double value[2];
	for (int k = 0; k < 2; k++) { /* the kernel in use last, so that its fit is kept */
		b->drift = !b->drift;
		struct gp_data data = data_of(b, t);
		int rc = gp_set(b->model, &data, true, e);
		if (rc < 0) {
			return rc;
		}
		value[b->drift] = gp_log_likelihood(b->model);
	}
	b->drift_tried_at = b->n;
	bool wanted = value[1] > value[0] + DRIFT_GAIN;
	if (wanted == b->drift) {
		return 0;
	}
	b->drift = wanted;
	struct gp_data data = data_of(b, t);
	return gp_set(b->model, &data, true, e);
}

/* Refits get rarer as points get more: one more of many tells little about the lengths. */
static bool refit_is_due(const struct beliefs *b)
{
	size_t n = b->n, every = n <= 24 ? 1 : n <= 60 ? 2 : n <= 120 ? 4 : 8;
	return b->fitted_at == 0 || n >= b->fitted_at + every;
}

static int add_believers(struct beliefs *b, struct training *t, struct err *e)
{
	size_t d = b->problem->n;
	for (size_t i = 0; i < b->n_pending; i++) {
		double variance;
		gp_predict(b->model, b->pending[i], &t->y[t->n], &variance, NULL);
		memcpy(t->x + t->n * d, b->pending[i], d * sizeof(double));
		t->origin[t->n] = (struct gp_origin){.group = GP_NO_GROUP};
		t->w[t->n++] = 1;
	}
	struct gp_data data = data_of(b, t);
	return b->n_pending ? gp_set(b->model, &data, false, e) : 0;
}

static int update_model(struct beliefs *b, bool refit, struct err *e)
{
	struct training t;
	int rc = training_fill(b, TRAIN_VALUES, &t, e);
	if (rc < 0) {
		return rc;
	}
	b->mean = t.mean;
	b->scale = t.scale;
	struct gp_data data = data_of(b, &t);
	rc = gp_set(b->model, &data, refit, e);
	rc = rc ? rc : weigh_outliers(b, &t, e);
	rc = rc || !refit ? rc : consider_drift(b, &t, e);
	rc = rc ? rc : add_believers(b, &t, e);
	training_clear(&t);
	return rc;
}

static int update_labels(struct beliefs *b, bool refit, struct err *e)
{
	struct training t;
	int rc = b->n_failed ? training_fill(b, TRAIN_LABELS, &t, e) : 0;
	if (rc == 0 && b->n_failed) {
		struct gp_data data = {
			.n = t.n, .x = t.x, .y = t.y, .w = t.w, .noise = LABEL_NOISE};
		rc = gp_set(b->failures, &data, refit, e);
		training_clear(&t);
	}
	return rc;
}

static int update_limit(struct beliefs *b, size_t k, bool refit, struct err *e)
{
	struct training t;
	int rc = training_fill(b, (int)k, &t, e);
	if (rc == 0 && t.n > 0) {
		struct gp_data data = {
			.n = t.n, .x = t.x, .y = t.y, .w = t.w, .noise = LIMIT_NOISE};
		b->limit_mean[k] = t.mean;
		b->limit_scale[k] = t.scale;
		rc = gp_set(b->limit[k], &data, refit, e);
	}
	b->limit_points[k] = rc == 0 ? t.n : 0;
	if (rc == 0) {
		training_clear(&t);
	}
	return rc;
}

int beliefs_update(struct beliefs *b, struct err *e)
{
	if (b->n == b->n_failed) {
		return err_set(e, -ENODATA, "no trial has worked yet");
	}
	bool refit = refit_is_due(b);
	beliefs_survey(b);
	int rc = update_model(b, refit, e);
	rc = rc ? rc : update_labels(b, refit, e);
	for (size_t k = 0; rc == 0 && k < b->problem->n_margins; k++) {
		rc = update_limit(b, k, refit, e);
	}
	if (rc == 0 && refit) {
		b->fitted_at = b->n;
	}
	return rc;
}

struct acquisition_view beliefs_view(const struct beliefs *b)
{
	struct acquisition_view v = {
		.problem = b->problem,
		.model = b->model,
		.failures = b->n_failed ? b->failures : NULL,
		.points = b->points,
		.n_points = b->n_points,
		.refused = b->refused,
		.n_refused = b->n_refused,
		.tabu = b->tabu,
		.n_tabu = b->n_tabu,
	};
	for (size_t k = 0; k < b->problem->n_margins; k++) {
		if (b->limit_points[k] > 0) {
			v.limit[v.n_limits++] = (struct acquisition_limit){
				b->limit[k], b->limit_mean[k], b->limit_scale[k]};
		}
	}
	return v;
}

void beliefs_predict(const struct beliefs *b, const double *x, double *mean, double *sd)
{
	double m, v;
	gp_predict(b->model, x, &m, &v, NULL);
	double warped = b->mean + b->scale * m;
	*sd = b->scale * sqrt(v);
	/* undo the warp; above the best value it is the identity to first order */
	*mean = b->best - (warped < 0 ? b->warp * expm1(-warped / b->warp) : -warped);
}
