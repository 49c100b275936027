/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The maximum of the acquisition over numbers and categories together: a pool of candidates, then
 * the best few polished in turns by NLopt's LN_BOBYQA over the numbers and by trying every category
 * and the next steps of every small count. Called by the surrogate search.
 */
#include "acquisition.h"
#include "search_private.h"
#include <math.h>
#include <nlopt.h>
#include <string.h>

#define RANDOM_CANDIDATES    300
#define NEIGHBOUR_CANDIDATES 150
#define NEIGHBOURED	     5 /* anchors whose neighbours are tried */
#define POLISHED	     4 /* candidates that are polished */
#define ROUNDS		     2
#define PAIR_CANDIDATES	     300
#define DRAWS		     16 /* of one random candidate, where many are forbidden */
#define PAIR_UNKNOWN	     8	/* standard deviations: it is the unknown that is looked for, ... */
#define PAIR_HOPE	     3	/* ... as long as so many may make it the best */
#define COUNT_LEVELS	     32 /* up to here, an ordered dimension is also tried step by step */

struct candidate {
	double x[SEARCH_DIMS_MAX];
	double value;
};

struct polish { /* LN_BOBYQA's view: the numbers of one candidate */
	struct acquisition *q;
	double x[SEARCH_DIMS_MAX];
	size_t number[SEARCH_DIMS_MAX], n;
};

static bool is_number(const struct search_dim *d)
{
	return !d->category && d->levels != 1;
}

static void keep_best(struct candidate *best, size_t *n, const double *x, double value, size_t d)
{
	size_t at = *n;
	while (at > 0 && value > best[at - 1].value) {
		at--;
	}
	if (at == POLISHED) {
		return;
	}
	if (*n < POLISHED) {
		(*n)++;
	}
	memmove(&best[at + 1], &best[at], (*n - at - 1) * sizeof(*best));
	memcpy(best[at].x, x, d * sizeof(double));
	best[at].value = value;
}

static double random_coordinate(const struct search_dim *d, struct stats_rng *rng)
{
	double u = stats_rng_uniform(rng);
	return d->levels ? search_cell((int)(u * d->levels), d->levels) : u;
}

/* The value of a point as it would be measured; x is moved to it. */
static double settled_value(struct acquisition *q, double *x)
{
	return acquisition_settle(&q->v, x) ? acquisition_log_gain(q, x) : -INFINITY;
}

/* One to three coordinates of an anchor changed: categories anew, numbers by a step of about a
 * third of their length. */
static void random_neighbour(const struct acquisition *q, struct stats_rng *rng, double *x)
{
	const struct search_problem *p = q->v.problem;
	size_t from = (size_t)(stats_rng_uniform(rng) * fmin(NEIGHBOURED, (double)q->m));
	int changes = 1 + (int)(3 * stats_rng_uniform(rng));
	memcpy(x, q->anchor + from * p->n, p->n * sizeof(double));
	for (int c = 0; c < changes; c++) {
		size_t j = (size_t)(stats_rng_uniform(rng) * (double)p->n);
		if (p->dims[j].category) {
			x[j] = random_coordinate(&p->dims[j], rng);
		} else {
			double step = fmin(0.3 * gp_length(q->v.model, j), 0.3);
			x[j] += step * stats_rng_normal(rng);
		}
	}
}

static double polish_value(unsigned n, const double *u, double *gradient, void *state)
{
	struct polish *p = state;
	(void)gradient;
	for (unsigned i = 0; i < n; i++) {
		p->x[p->number[i]] = fmin(fmax(u[i], 0), 1);
	}
	double value = acquisition_log_gain(p->q, p->x);
	return isfinite(value) ? value : -1e4;
}

/* The numbers of x moved by LN_BOBYQA; x is taken only if it is better once snapped. */
static void polish_numbers(struct acquisition *q, struct candidate *c)
{
	const struct search_problem *p = q->v.problem;
	struct polish w = {.q = q};
	double u[SEARCH_DIMS_MAX], step[SEARCH_DIMS_MAX], value;
	memcpy(w.x, c->x, p->n * sizeof(double));
	for (size_t j = 0; j < p->n; j++) {
		if (is_number(&p->dims[j])) {
			step[w.n] = fmin(0.3 * gp_length(q->v.model, j), 0.3);
			u[w.n] = c->x[j];
			w.number[w.n++] = j;
		}
	}
	nlopt_algorithm algorithm = w.n > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_COBYLA;
	nlopt_opt opt = w.n ? nlopt_create(algorithm, (unsigned)w.n) : NULL;
	if (!opt) {
		return;
	}
	nlopt_set_lower_bounds1(opt, 0);
	nlopt_set_upper_bounds1(opt, 1);
	nlopt_set_max_objective(opt, polish_value, &w);
	nlopt_set_initial_step(opt, step);
	nlopt_set_xtol_abs1(opt, 2e-3);
	nlopt_set_maxeval(opt, 12 * (int)w.n + 10);
	nlopt_set_maxtime(opt, 5);
	nlopt_optimize(opt, u, &value);
	nlopt_destroy(opt);
	polish_value((unsigned)w.n, u, NULL, &w);
	value = settled_value(q, w.x);
	if (value > c->value) {
		memcpy(c->x, w.x, p->n * sizeof(double));
		c->value = value;
	}
}

static void try_coordinate(struct acquisition *q, struct candidate *c, size_t j, double coordinate)
{
	double x[SEARCH_DIMS_MAX];
	size_t d = q->v.problem->n;
	if (coordinate < 0 || coordinate > 1 || coordinate == c->x[j]) {
		return;
	}
	memcpy(x, c->x, d * sizeof(double));
	x[j] = coordinate;
	double value = settled_value(q, x);
	if (value > c->value) {
		c->value = value;
		memcpy(c->x, x, d * sizeof(double));
	}
}

/* Every category, and two steps either way of every small count. */
static void polish_steps(struct acquisition *q, struct candidate *c)
{
	const struct search_problem *p = q->v.problem;
	for (size_t j = 0; j < p->n; j++) {
		const struct search_dim *d = &p->dims[j];
		int levels = d->levels;
		if (d->category) {
			for (int k = 0; k < levels; k++) {
				try_coordinate(q, c, j, search_cell(k, levels));
			}
		} else if (levels > 1 && levels <= COUNT_LEVELS) {
			double at = c->x[j];
			for (int k = -2; k <= 2; k++) {
				try_coordinate(q, c, j, at + (double)k / levels);
			}
		}
	}
}

static void random_point(const struct acquisition *q, struct stats_rng *rng, double *x)
{
	for (size_t j = 0; j < q->v.problem->n; j++) {
		x[j] = random_coordinate(&q->v.problem->dims[j], rng);
	}
}

static size_t make_pool(struct acquisition *q, struct stats_rng *rng, struct candidate *best)
{
	double c[SEARCH_DIMS_MAX];
	size_t n = 0;
	for (int i = 0; i < RANDOM_CANDIDATES + NEIGHBOUR_CANDIDATES; i++) {
		double value = -INFINITY;
		for (int draw = 0; draw < DRAWS && value == -INFINITY; draw++) {
			if (i < RANDOM_CANDIDATES || q->m == 0) {
				random_point(q, rng, c);
			} else {
				random_neighbour(q, rng, c);
			}
			value = settled_value(q, c);
		}
		keep_best(best, &n, c, value, q->v.problem->n);
	}
	return n;
}

double acquisition_maximise(struct acquisition *q, struct stats_rng *rng, double *x)
{
	size_t d = q->v.problem->n;
	struct candidate best[POLISHED + 1], winner = {.value = -INFINITY};
	size_t n = make_pool(q, rng, best);
	for (size_t i = 0; i < n; i++) {
		for (int round = 0; round < ROUNDS; round++) {
			polish_numbers(q, &best[i]);
			polish_steps(q, &best[i]);
		}
		winner = best[i].value > winner.value ? best[i] : winner;
	}
	/* A replicate of a known point may be worth more than any new one. */
	for (size_t i = 0; i < q->v.n_points; i++) {
		const double *known = q->v.points + i * d;
		double value = acquisition_is_tabu(&q->v, known) ? -INFINITY
								 : acquisition_log_gain(q, known);
		if (value > winner.value) {
			winner.value = value;
			memcpy(winner.x, known, d * sizeof(double));
		}
	}
	memcpy(x, winner.x, d * sizeof(double));
	return winner.value;
}

static bool is_known(const struct acquisition *q, const double *x)
{
	size_t d = q->v.problem->n;
	for (size_t i = 0; i < q->v.n_points; i++) {
		if (memcmp(q->v.points + i * d, x, d * sizeof(double)) == 0) {
			return true;
		}
	}
	return false;
}

/* Two categories of the best anchor changed at random; false if there are not two. */
static bool change_two(const struct acquisition *q, struct stats_rng *rng, double *x)
{
	const struct search_problem *p = q->v.problem;
	size_t category[SEARCH_DIMS_MAX], n = 0;
	for (size_t j = 0; j < p->n; j++) {
		if (p->dims[j].category && p->dims[j].levels > 1) {
			category[n++] = j;
		}
	}
	if (n < 2 || q->m == 0) {
		return false;
	}
	memcpy(x, q->anchor, p->n * sizeof(double));
	for (int c = 0; c < 2; c++) {
		size_t at = (size_t)(stats_rng_uniform(rng) * (double)n), j = category[at];
		int levels = p->dims[j].levels, k = (int)(x[j] * levels);
		k = (k + 1 + (int)(stats_rng_uniform(rng) * (levels - 1))) % levels;
		x[j] = search_cell(k, levels);
		category[at] = category[--n];
	}
	return true;
}

bool acquisition_pair(struct acquisition *q, struct stats_rng *rng, double *x)
{
	double c[SEARCH_DIMS_MAX], best = -INFINITY, mean, variance;
	for (int i = 0; i < PAIR_CANDIDATES && change_two(q, rng, c); i++) {
		if (!acquisition_settle(&q->v, c) || is_known(q, c)) {
			continue;
		}
		gp_predict(q->v.model, c, &mean, &variance, NULL);
		double works = acquisition_works(&q->v, c) * acquisition_keeps_limits(&q->v, c);
		double value = mean + PAIR_UNKNOWN * sqrt(variance) + log(fmax(works, 1e-9));
		if (mean + PAIR_HOPE * sqrt(variance) > q->mean[0] && value > best) {
			best = value;
			memcpy(x, c, q->v.problem->n * sizeof(double));
		}
	}
	return isfinite(best);
}
