/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the surrogate search was told: all measurements in order, the distinct good points, how
 * noisy one is, and the sets that its models are fitted to. No model here. Called by surrogate.c
 * and surrogate_model.c.
 */
#include "cleanup.h"
#include "surrogate_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define WARP	      0.25 /* log units */
#define NOISE_DEFAULT 0.02 /* sd of a sample's log score where nothing better is known */
#define NOISE_WORTH   4	   /* the default counts as much as this many replicates */
#define LABEL_GOOD    0.3  /* labels relative to a mean of 1: see acquisition.c */
#define LABEL_FAILED  (-2.0)

static int make_room(struct beliefs *b)
{
	size_t d = b->problem->n, room = b->room ? 2 * b->room : 64;
	if (b->n < b->room) {
		return 0;
	}
	double *x = realloc(b->x, room * d * sizeof(double));
	b->x = x ? x : b->x;
	struct told *told = realloc(b->told, room * sizeof(*told));
	b->told = told ? told : b->told;
	double *points = realloc(b->points, room * d * sizeof(double));
	b->points = points ? points : b->points;
	double *refused = realloc(b->refused, room * d * sizeof(double));
	b->refused = refused ? refused : b->refused;
	double *tabu = realloc(b->tabu, room * d * sizeof(double));
	b->tabu = tabu ? tabu : b->tabu;
	if (!x || !told || !points || !refused || !tabu) {
		return -ENOMEM;
	}
	b->room = room;
	return 0;
}

int beliefs_add(struct beliefs *b, const struct search_observation *o)
{
	size_t d = b->problem->n;
	bool failed = o->failed || !isfinite(o->y);
	if (make_room(b) < 0) {
		return -ENOMEM;
	}
	memcpy(b->x + b->n * d, o->x, d * sizeof(double));
	b->told[b->n] = (struct told){
		.y = o->y,
		.se = isfinite(o->se) && o->se > 0 ? o->se : 0,
		.failed = failed,
		.origin = {o->group, o->earlier, isfinite(o->when) ? o->when : 0},
	};
	memcpy(b->told[b->n].margin, o->margin, sizeof(o->margin));
	if (o->cut_link) {
		memcpy(b->tabu + b->n_tabu++ * d, o->x, d * sizeof(double));
	}
	b->n_failed += failed;
	b->several_groups |= o->group != b->told[0].origin.group;
	b->best = failed ? b->best : fmax(b->best, o->y);
	b->n++;
	return 0;
}

static bool same_point(const struct beliefs *b, size_t i, size_t k)
{
	size_t d = b->problem->n;
	return memcmp(b->x + i * d, b->x + k * d, d * sizeof(double)) == 0;
}

static int ascending(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;
	return a < b ? -1 : a > b;
}

static double middle(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), ascending);
	return v[n / 2];
}

/* The last good measurement of the same point before i, of the same group; n if there is none. */
static size_t find_replicate(const struct beliefs *b, size_t i)
{
	for (size_t k = i; k-- > 0;) {
		if (!b->told[k].failed && b->told[k].origin.group == b->told[i].origin.group &&
		    same_point(b, i, k)) {
			return k;
		}
	}
	return b->n;
}

static bool is_new_point(const struct beliefs *b, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!b->told[k].failed && same_point(b, i, k)) {
			return false;
		}
	}
	return true;
}

/* A few replicates shift the prior, many replace it. The median of differences, since a low outlier
 * among them says nothing about the noise of the others. */
static void survey_noise(struct beliefs *b, double *differences, size_t n)
{
	double prior = NOISE_DEFAULT;
	if (b->problem->plain) {
		prior *= fmax(b->warp, 1e-9);
	}
	prior = b->median_se > 0 ? b->median_se : prior;
	double sd = n ? middle(differences, n) / (0.6745 * M_SQRT2) : 0;
	double squares = NOISE_WORTH * prior * prior + (double)n * sd * sd;
	b->noise = sqrt(squares / (NOISE_WORTH + (double)n));
}

/* Linear within a quarter of the best; of values that are no logarithms, within their own spread.
 */
static void survey_warp(struct beliefs *b, double *values, size_t n)
{
	b->warp = WARP;
	if (b->problem->plain && n > 0) {
		b->warp = b->best - middle(values, n);
		b->warp = b->warp > 0 ? b->warp : fmax(fabs(b->best), 1e-3);
	}
}

/* A configuration that failed and worked at other times may be asked again; else its probability of
 * working is what the model of failures says of its neighbours too. */
static void survey_refused(struct beliefs *b)
{
	size_t d = b->problem->n;
	b->n_refused = 0;
	for (size_t i = 0; i < b->n; i++) {
		bool known = !b->told[i].failed;
		for (size_t k = 0; k < b->n && !known; k++) {
			known = (!b->told[k].failed || k < i) && same_point(b, i, k);
		}
		if (!known) {
			memcpy(b->refused + b->n_refused++ * d, b->x + i * d, d * sizeof(double));
		}
	}
}

void beliefs_survey(struct beliefs *b)
{
	size_t d = b->problem->n, n = 0, n_differences = 0, n_se = 0;
	auto_free double *values = calloc(3 * b->n + 1, sizeof(double));
	double *differences = values + b->n, *se = differences + b->n;
	b->n_points = 0;
	survey_refused(b);
	for (size_t i = 0; values && i < b->n; i++) {
		if (b->told[i].failed) {
			continue;
		}
		size_t k = find_replicate(b, i);
		if (k < b->n) {
			differences[n_differences++] = fabs(b->told[i].y - b->told[k].y);
		}
		if (is_new_point(b, i)) {
			memcpy(b->points + b->n_points++ * d, b->x + i * d, d * sizeof(double));
		}
		values[n++] = b->told[i].y;
		if (b->told[i].se > 0) {
			se[n_se++] = b->told[i].se;
		}
	}
	survey_warp(b, values, n);
	b->median_se = n_se ? middle(se, n_se) : 0;
	survey_noise(b, differences, n_differences);
}

void training_clear(struct training *t)
{
	free(t->x);
	free(t->y);
	free(t->w);
	free(t->origin);
	*t = (struct training){0};
}

static int training_init(struct training *t, size_t n, size_t d, struct err *e)
{
	*t = (struct training){.scale = 1};
	t->x = calloc(n * d + 1, sizeof(double));
	t->y = calloc(n + 1, sizeof(double));
	t->w = calloc(n + 1, sizeof(double));
	t->origin = calloc(n + 1, sizeof(*t->origin));
	if (!t->x || !t->y || !t->w || !t->origin) {
		training_clear(t);
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	return 0;
}

/* Beyond the limit: the newest third, the best third, and every k-th of the rest. */
static double good_enough(const struct beliefs *b)
{
	auto_free double *y = calloc(b->n + 1, sizeof(double));
	size_t n = 0;
	for (size_t i = 0; y && i < b->n; i++) {
		if (!b->told[i].failed) {
			y[n++] = b->told[i].y;
		}
	}
	if (n <= MODEL_POINTS_MAX / 3) {
		return -INFINITY;
	}
	qsort(y, n, sizeof(*y), ascending);
	return y[n - MODEL_POINTS_MAX / 3];
}

static bool is_kept(const struct beliefs *b, size_t i, double good)
{
	size_t every = 3 * b->n / MODEL_POINTS_MAX + 1;
	return b->n <= MODEL_POINTS_MAX || i + MODEL_POINTS_MAX / 3 >= b->n || i % every == 0 ||
	       (!b->told[i].failed && b->told[i].y >= good);
}

/* Is this measurement in the set, and with which value? */
static bool value_of(const struct beliefs *b, const struct told *o, int what, double *y)
{
	if (what == TRAIN_LABELS) {
		*y = o->failed ? LABEL_FAILED : LABEL_GOOD;
		return true;
	}
	*y = what == TRAIN_VALUES ? -b->warp * log1p((b->best - o->y) / b->warp) : o->margin[what];
	return !o->failed && isfinite(*y);
}

/* Labels have a scale of their own; all else is brought to mean 0 and standard deviation 1. */
static void standardise(struct training *t, double least)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < t->n; i++) {
		sum += t->y[i];
	}
	t->mean = sum / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		squares += (t->y[i] - t->mean) * (t->y[i] - t->mean);
	}
	t->scale = t->n > 1 ? sqrt(squares / (double)(t->n - 1)) : 0;
	t->scale = fmax(t->scale, least);
	for (size_t i = 0; i < t->n; i++) {
		t->y[i] = (t->y[i] - t->mean) / t->scale;
	}
}

/* Noisier samples count less; quieter ones than the median do not count more: their standard error
 * is itself only known roughly. */
static double weight_of(const struct beliefs *b, const struct told *o)
{
	double ratio = b->median_se > 0 ? o->se / b->median_se : 1;
	return fmax(1, ratio * ratio);
}

int training_fill(const struct beliefs *b, int what, struct training *t, struct err *e)
{
	size_t d = b->problem->n;
	double y, good = b->n > MODEL_POINTS_MAX ? good_enough(b) : 0;
	int rc = training_init(t, b->n + PENDING_MAX, d, e);
	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		if (!value_of(b, &b->told[i], what, &y) || !is_kept(b, i, good)) {
			continue;
		}
		memcpy(t->x + t->n * d, b->x + i * d, d * sizeof(double));
		t->w[t->n] = what == TRAIN_VALUES ? weight_of(b, &b->told[i]) : 1;
		t->origin[t->n] = b->told[i].origin;
		t->y[t->n++] = y;
	}
	if (rc == 0 && what != TRAIN_LABELS && t->n > 0) {
		standardise(t, what == TRAIN_VALUES ? 0.1 * b->noise + 1e-9 : 1e-3);
	}
	return rc;
}
