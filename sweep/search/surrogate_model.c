/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the surrogate search believes: targets warped so that bad configurations do not bend the
 * model near the good ones, low outliers down-weighted, failures in a model of their own. Called by
 * surrogate.c.
 */
#include "cleanup.h"
#include "surrogate_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define WARP	       0.25 /* linear within about this much (log units) of the best, log below */
#define NOISE_DEFAULT  0.02 /* sd of a sample's log score where nothing better is known */
#define OUTLIER_BELOW  -2.5 /* leave-one-out residual from which a low point counts less */
#define OUTLIER_ROUNDS 2
#define OUTLIER_MOST   40
#define LABEL_GOOD     0.3 /* labels relative to a mean of 1: see acquisition.c */
#define LABEL_FAILED   -2.0
#define LABEL_NOISE    0.22 /* variance 0.05 */

int beliefs_init(struct beliefs *b, const struct search_problem *p, struct err *e)
{
	bool category[SEARCH_DIMS_MAX];
	*b = (struct beliefs){.problem = p, .noise = NOISE_DEFAULT, .best = -INFINITY};
	for (size_t j = 0; j < p->n; j++) {
		category[j] = p->dims[j].category;
	}
	int rc = gp_create(p->n, category, 1, &b->model, e);
	return rc < 0 ? rc : gp_create(p->n, category, 0, &b->failures, e);
}

void beliefs_clear(struct beliefs *b)
{
	gp_destroy(b->model);
	gp_destroy(b->failures);
	free(b->x);
	free(b->y);
	free(b->failed);
	free(b->points);
	*b = (struct beliefs){0};
}

static int make_room(struct beliefs *b)
{
	size_t d = b->problem->n, room = b->room ? 2 * b->room : 64;
	if (b->n < b->room) {
		return 0;
	}
	double *x = realloc(b->x, room * d * sizeof(double));
	b->x = x ? x : b->x;
	double *y = realloc(b->y, room * sizeof(double));
	b->y = y ? y : b->y;
	bool *failed = realloc(b->failed, room * sizeof(bool));
	b->failed = failed ? failed : b->failed;
	double *points = realloc(b->points, room * d * sizeof(double));
	b->points = points ? points : b->points;
	if (!x || !y || !failed || !points) {
		return -ENOMEM;
	}
	b->room = room;
	return 0;
}

int beliefs_add(struct beliefs *b, const double *x, double y, bool failed, struct err *e)
{
	size_t d = b->problem->n;
	if (make_room(b) < 0) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	memcpy(b->x + b->n * d, x, d * sizeof(double));
	b->y[b->n] = y;
	b->failed[b->n++] = failed;
	b->n_failed += failed;
	if (!failed && y > b->best) {
		b->best = y;
	}
	return 0;
}

static bool same_point(const struct beliefs *b, const double *p, const double *q)
{
	return memcmp(p, q, b->problem->n * sizeof(double)) == 0;
}

/* Distinct good points, and the pooled variance of those that were measured again. */
static void collect_points(struct beliefs *b)
{
	size_t d = b->problem->n, freedom = 0;
	double squares = 0;
	b->n_points = 0;
	for (size_t i = 0; i < b->n; i++) {
		bool known = b->failed[i];
		for (size_t k = 0; k < i; k++) {
			if (b->failed[i] || b->failed[k] ||
			    !same_point(b, b->x + i * d, b->x + k * d)) {
				continue;
			}
			/* successive replicates: half the squared difference is the variance */
			if (!known) {
				squares += 0.5 * (b->y[i] - b->y[k]) * (b->y[i] - b->y[k]);
				freedom++;
			}
			known = true;
		}
		if (!known) {
			memcpy(b->points + b->n_points++ * d, b->x + i * d, d * sizeof(double));
		}
	}
	/* a few replicates shift the prior, many replace it */
	double prior = NOISE_DEFAULT * NOISE_DEFAULT;
	b->noise = sqrt((4 * prior + squares) / (4 + (double)freedom));
}

struct training { /* what one model is fitted to */
	size_t n;
	double *x, *y, *w;
};

static void training_clear(struct training *t)
{
	free(t->x);
	free(t->y);
	free(t->w);
}

static int training_init(struct training *t, size_t n, size_t d, struct err *e)
{
	t->n = 0;
	t->x = calloc(n * d + 1, sizeof(double));
	t->y = calloc(n + 1, sizeof(double));
	t->w = calloc(n + 1, sizeof(double));
	if (!t->x || !t->y || !t->w) {
		training_clear(t);
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	return 0;
}

static int descending(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Beyond the limit: the newest third, the best, and every k-th of the rest, in order. */
static bool is_kept(const struct beliefs *b, size_t i, double good_enough, size_t every)
{
	return i + MODEL_POINTS_MAX / 3 >= b->n || (!b->failed[i] && b->y[i] >= good_enough) ||
	       i % every == 0;
}

static double good_enough_value(const struct beliefs *b)
{
	auto_free double *y = calloc(b->n + 1, sizeof(double));
	size_t n = 0;
	for (size_t i = 0; y && i < b->n; i++) {
		if (!b->failed[i]) {
			y[n++] = b->y[i];
		}
	}
	if (n <= MODEL_POINTS_MAX / 3) {
		return -INFINITY;
	}
	qsort(y, n, sizeof(*y), descending);
	return y[MODEL_POINTS_MAX / 3];
}

/* Good points with warped values, or (labels) all points with their label. */
static int fill_training(const struct beliefs *b, bool labels, struct training *t, struct err *e)
{
	size_t d = b->problem->n;
	bool all = b->n <= MODEL_POINTS_MAX;
	double good = all ? 0 : good_enough_value(b);
	size_t every = all ? 1 : 3 * b->n / MODEL_POINTS_MAX + 1;
	int rc = training_init(t, b->n, d, e);
	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		if ((b->failed[i] && !labels) || (!all && !is_kept(b, i, good, every))) {
			continue;
		}
		memcpy(t->x + t->n * d, b->x + i * d, d * sizeof(double));
		t->w[t->n] = 1;
		t->y[t->n++] = labels ? (b->failed[i] ? LABEL_FAILED : LABEL_GOOD)
				      : -WARP * log1p((b->best - b->y[i]) / WARP);
	}
	return rc;
}

static void standardise(struct beliefs *b, struct training *t)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < t->n; i++) {
		sum += t->y[i];
	}
	b->mean = sum / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		squares += (t->y[i] - b->mean) * (t->y[i] - b->mean);
	}
	b->scale = t->n > 1 ? sqrt(squares / (double)(t->n - 1)) : 0;
	b->scale = fmax(b->scale, 0.1 * b->noise + 1e-9);
	for (size_t i = 0; i < t->n; i++) {
		t->y[i] = (t->y[i] - b->mean) / b->scale;
	}
}

/* Low outliers count less; high ones do not: the search goes there and measures again. */
static int weigh_outliers(struct beliefs *b, struct training *t, double noise, struct err *e)
{
	auto_free double *residual = calloc(t->n, sizeof(double));
	bool any = false;
	for (int round = 0; residual && round < OUTLIER_ROUNDS; round++) {
		gp_leave_one_out(b->model, residual);
		for (size_t i = 0; i < t->n; i++) {
			double r = residual[i];
			double w = r < OUTLIER_BELOW ? fmin((4 + r * r) / 5 * t->w[i], OUTLIER_MOST)
						     : t->w[i];
			any |= w != t->w[i];
			t->w[i] = w;
		}
		if (!any) {
			return 0;
		}
		int rc = gp_set(b->model, t->n, t->x, t->y, t->w, noise, false, e);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

/* Refits get rarer as points get more: one more of many tells little about the lengths. */
static bool refit_is_due(const struct beliefs *b, size_t n)
{
	size_t every = n <= 24 ? 1 : n <= 60 ? 2 : n <= 120 ? 4 : 8;
	return b->fitted_at == 0 || n >= b->fitted_at + every;
}

static int update_model(struct beliefs *b, bool refit, struct err *e)
{
	struct training t;
	int rc = fill_training(b, false, &t, e);
	if (rc < 0) {
		return rc;
	}
	standardise(b, &t);
	double noise = b->noise / b->scale;
	rc = gp_set(b->model, t.n, t.x, t.y, t.w, noise, refit, e);
	if (rc == 0 && t.n >= 8) {
		rc = weigh_outliers(b, &t, noise, e);
	}
	training_clear(&t);
	return rc;
}

static int update_failures(struct beliefs *b, bool refit, struct err *e)
{
	struct training t;
	int rc = fill_training(b, true, &t, e);
	if (rc == 0) {
		rc = gp_set(b->failures, t.n, t.x, t.y, t.w, LABEL_NOISE, refit, e);
		training_clear(&t);
	}
	return rc;
}

int beliefs_update(struct beliefs *b, struct err *e)
{
	if (b->n == b->n_failed) {
		return err_set(e, -ENODATA, "no trial has worked yet");
	}
	bool refit = refit_is_due(b, b->n);
	collect_points(b);
	int rc = update_model(b, refit, e);
	if (rc == 0 && b->n_failed > 0) {
		rc = update_failures(b, refit, e);
	}
	if (rc == 0 && refit) {
		b->fitted_at = b->n;
	}
	return rc;
}

void beliefs_predict(const struct beliefs *b, const double *x, double *mean, double *sd)
{
	double m, v;
	gp_predict(b->model, x, &m, &v, NULL);
	double warped = b->mean + b->scale * m;
	*sd = b->scale * sqrt(v);
	/* undo the warp; above the best value it is the identity to first order */
	*mean = b->best - (warped < 0 ? WARP * expm1(-warped / WARP) : -warped);
}
