/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the surrogate search says of its model: which measured point to use, how much may be left,
 * and which settings matter. Called by surrogate.c at the end of a sweep.
 */
#include "cleanup.h"
#include "surrogate_private.h"
#include <math.h>
#include <string.h>

#define CAUTION	   0.5 /* standard deviations that a recommendation gives up for certainty */
#define SURE	   0.9 /* probability of keeping all limits */
#define BACKGROUND 24  /* known points over which effects are averaged */
#define STEPS	   7   /* values of a number at which its effect is looked at */
#define PAIRS_OF   6   /* settings whose interactions are looked at */

struct effect {
	size_t dim;
	double share, low, high; /* variance; coordinates of the worst and the best value */
	double gain, sd;	 /* from the worst to the best, model's units */
};

struct interaction {
	size_t dims[2];
	double share, gain, sd;
};

struct survey { /* one beliefs_explain */
	const struct beliefs *b;
	double background[BACKGROUND * SEARCH_DIMS_MAX];
	size_t m;
	double total; /* sum of the variances found */
};

int beliefs_recommend(const struct beliefs *b, double *x, double *mean, double *sd)
{
	struct acquisition_view v = beliefs_view(b);
	double best = -INFINITY, kept = 0;
	size_t d = b->problem->n;
	/* sure to keep the limits, or else the one that most probably does */
	for (size_t i = 0; i < b->n_points; i++) {
		const double *p = b->points + i * d;
		double m, s, keeps = fmin(acquisition_keeps_limits(&v, p), SURE);
		if (acquisition_is_tabu(&v, p) || keeps < kept) {
			continue;
		}
		gp_predict(b->model, p, &m, &s, NULL);
		double value = m - CAUTION * sqrt(s);
		if (keeps > kept || value > best) {
			kept = keeps;
			best = value;
			memcpy(x, p, d * sizeof(double));
		}
	}
	if (!isfinite(best)) {
		return 0;
	}
	beliefs_predict(b, x, mean, sd);
	return 1;
}

/* Optimistic value of one candidate, in units of y. */
static double optimistic(const struct beliefs *b, const struct acquisition_view *v, const double *x)
{
	double mean, sd;
	if (acquisition_works(v, x) * acquisition_keeps_limits(v, x) < 0.5) {
		return -INFINITY;
	}
	beliefs_predict(b, x, &mean, &sd);
	return mean + sd;
}

/* Steps from the recommended point of halving size: a maximum of the sum, near enough. */
bool beliefs_remaining(const struct beliefs *b, struct stats_rng *rng, double *gain)
{
	struct acquisition_view v = beliefs_view(b);
	double x[SEARCH_DIMS_MAX], at[SEARCH_DIMS_MAX], mean, sd;
	size_t d = b->problem->n;
	if (beliefs_recommend(b, at, &mean, &sd) != 1) {
		return false;
	}
	double best = mean + sd;
	for (int i = 0; i < 1500; i++) {
		bool anywhere = i < 500;
		double step = 0.5 * pow(0.5, (i - 500) / 200.0);
		memcpy(x, at, d * sizeof(double));
		for (size_t j = 0; j < d; j++) {
			double u = stats_rng_uniform(rng);
			bool change = anywhere || stats_rng_uniform(rng) < 2.0 / (double)d;
			bool free = anywhere || b->problem->dims[j].category;
			x[j] = !change ? x[j] : free ? u : x[j] + step * stats_rng_normal(rng);
		}
		double value = acquisition_settle(&v, x) ? optimistic(b, &v, x) : -INFINITY;
		if (value > best) {
			best = value;
			memcpy(at, x, d * sizeof(double));
		}
	}
	*gain = best - mean;
	return true;
}

static size_t step_count(const struct search_dim *d)
{
	size_t levels = d->levels > 0 ? (size_t)d->levels : STEPS;
	return d->category || levels < STEPS ? levels : STEPS;
}

static double step_at(const struct search_dim *d, size_t k)
{
	size_t n = step_count(d);
	if (d->category || (d->levels > 0 && n == (size_t)d->levels)) {
		return search_cell((int)k, d->levels);
	}
	return (double)k / (double)(n - 1);
}

/* The background with up to two coordinates set: rows into x. */
static void with_set(const struct survey *s, double *x, size_t i, double u, size_t j, double v)
{
	size_t d = s->b->problem->n;
	memcpy(x, s->background, s->m * d * sizeof(double));
	for (size_t k = 0; k < s->m; k++) {
		x[k * d + i] = u;
		x[k * d + j] = v;
	}
}

/* Mean of the model over the background with coordinates i and j set (i = j: one of them). */
static double average(const struct survey *s, size_t i, double u, size_t j, double v)
{
	double x[BACKGROUND * SEARCH_DIMS_MAX], sum = 0, mean, variance;
	size_t d = s->b->problem->n;
	with_set(s, x, i, u, j, v);
	for (size_t k = 0; k < s->m; k++) {
		gp_predict(s->b->model, x + k * d, &mean, &variance, NULL);
		sum += mean;
	}
	return sum / (double)s->m;
}

/* Standard deviation of a contrast of n such averages with signs. */
static double contrast_sd(const struct survey *s, size_t i, size_t j, const double (*at)[2],
			  const double *sign, size_t n)
{
	size_t d = s->b->problem->n, m = n * s->m;
	auto_free double *x = calloc(m * d, sizeof(double)), *c = calloc(m, sizeof(double));
	double mean, variance = INFINITY;
	for (size_t k = 0; x && c && k < n; k++) {
		with_set(s, x + k * s->m * d, i, at[k][0], j, at[k][1]);
		for (size_t t = 0; t < s->m; t++) {
			c[k * s->m + t] = sign[k] / (double)s->m;
		}
	}
	if (x && c) {
		gp_combination(s->b->model, m, x, c, &mean, &variance);
	}
	return sqrt(variance);
}

static struct effect main_effect(const struct survey *s, size_t j)
{
	const struct search_dim *dim = &s->b->problem->dims[j];
	size_t n = step_count(dim);
	double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
	struct effect f = {.dim = j};
	for (size_t k = 0; k < n; k++) {
		double u = step_at(dim, k), y = average(s, j, u, j, u);
		sum += y;
		squares += y * y;
		f.low = y < least ? u : f.low;
		f.high = y > most ? u : f.high;
		least = fmin(least, y);
		most = fmax(most, y);
	}
	f.share = fmax(0, squares / (double)n - sum * sum / (double)(n * n));
	f.gain = most - least;
	const double at[2][2] = {{f.high, f.high}, {f.low, f.low}}, sign[2] = {1, -1};
	f.sd = contrast_sd(s, j, j, at, sign, 2);
	return f;
}

/* What is left of two settings together after each one's own effect: over the corners of their best
 * and worst values. */
static struct interaction interaction_of(const struct survey *s, const struct effect *f,
					 const struct effect *g)
{
	const double at[4][2] = {
		{f->high, g->high}, {f->high, g->low}, {f->low, g->high}, {f->low, g->low}};
	const double sign[4] = {1, -1, -1, 1};
	struct interaction r = {.dims = {f->dim, g->dim}};
	for (int k = 0; k < 4; k++) {
		r.gain += sign[k] * average(s, f->dim, at[k][0], g->dim, at[k][1]);
	}
	/* on four corners, each deviates by a quarter of the contrast */
	r.share = r.gain * r.gain / 16;
	r.sd = contrast_sd(s, f->dim, g->dim, at, sign, 4);
	return r;
}

static int by_share(const void *x, const void *y)
{
	const struct effect *p = x, *q = y;
	return p->share > q->share ? -1 : p->share < q->share;
}

static int by_interaction(const void *x, const void *y)
{
	const struct interaction *p = x, *q = y;
	return p->share > q->share ? -1 : p->share < q->share;
}

static void choose_background(struct survey *s)
{
	size_t d = s->b->problem->n, n = s->b->n_points;
	s->m = n < BACKGROUND ? n : BACKGROUND;
	for (size_t k = 0; k < s->m; k++) {
		memcpy(s->background + k * d, s->b->points + (k * n / s->m) * d,
		       d * sizeof(double));
	}
}

static json_t *effects_as_json(const struct survey *s, const struct effect *f, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(
			list, json_pack("{s:i, s:f, s:f, s:f, s:f, s:f}", "dim", (int)f[i].dim,
					"share", 100 * f[i].share / s->total, "low", f[i].low,
					"high", f[i].high, "gain", s->b->scale * f[i].gain,
					"gain_sd", s->b->scale * f[i].sd));
	}
	return list;
}

static json_t *interactions_as_json(const struct survey *s, const struct interaction *r, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(list, json_pack("{s:[i, i], s:f, s:f, s:f}", "dims",
						      (int)r[i].dims[0], (int)r[i].dims[1], "share",
						      100 * r[i].share / s->total, "gain",
						      s->b->scale * r[i].gain, "gain_sd",
						      s->b->scale * r[i].sd));
	}
	return list;
}

json_t *beliefs_explain(const struct beliefs *b)
{
	struct survey s = {.b = b};
	struct effect f[SEARCH_DIMS_MAX];
	struct interaction r[PAIRS_OF * PAIRS_OF];
	size_t n = 0, pairs = 0;
	choose_background(&s);
	for (size_t j = 0; j < b->problem->n; j++) {
		if (b->problem->dims[j].levels != 1) {
			f[n] = main_effect(&s, j);
			s.total += f[n++].share;
		}
	}
	qsort(f, n, sizeof(*f), by_share);
	for (size_t i = 0; i < n && i < PAIRS_OF; i++) {
		for (size_t j = 0; j < i; j++) {
			r[pairs] = interaction_of(&s, &f[j], &f[i]);
			s.total += r[pairs++].share;
		}
	}
	qsort(r, pairs, sizeof(*r), by_interaction);
	s.total = fmax(s.total, 1e-30);
	return json_pack("{s:f, s:o, s:o}", "noise", b->scale * sqrt(gp_noise_variance(b->model)),
			 "effects", effects_as_json(&s, f, n), "interactions",
			 interactions_as_json(&s, r, pairs < 2 ? pairs : 2));
}
