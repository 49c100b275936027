/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bench surface as one seed makes it: bounds moved, labels permuted, the true optimum sought with
 * the truth at hand; and its machine, with noise, low outliers and drift.
 */
#include "search_bench.h"
#include "search_private.h"
#include <math.h>
#include <nlopt.h>
#include <string.h>

#define STARTS	   32
#define WANDERINGS 8000

const struct bench_surface *const bench_surfaces[] = {
	&bench_paper2d, &bench_bneck2d, &bench_ridge5, &bench_place6,
	&bench_mix6,	&bench_cliff6,	&bench_mix12,  NULL,
};

const struct bench_surface *bench_find(const char *name)
{
	for (size_t i = 0; bench_surfaces[i]; i++) {
		if (strcmp(bench_surfaces[i]->name, name) == 0) {
			return bench_surfaces[i];
		}
	}
	return NULL;
}

/* No method shall profit from an optimum that happens to lie on its grid. */
static void move_dimension(struct bench_dim *d, struct stats_rng *rng)
{
	if (d->category) {
		for (int k = 0; k < d->levels; k++) {
			int at = (int)(stats_rng_uniform(rng) * (k + 1));
			d->meaning[k] = d->meaning[at];
			d->meaning[at] = k;
		}
		return;
	}
	double range = d->hi - d->lo;
	d->lo += range * (0.24 * stats_rng_uniform(rng) - 0.08);
	d->hi -= range * (0.24 * stats_rng_uniform(rng) - 0.08);
}

static double start_coordinate(const struct bench_dim *d)
{
	for (int k = 0; d->category && k < d->levels; k++) {
		if (d->meaning[k] == (int)d->start) {
			return search_cell(k, d->levels);
		}
	}
	return fmin(fmax((d->start - d->lo) / (d->hi - d->lo), 0), 1);
}

static double value_of(const struct bench_dim *d, double x)
{
	int k = (int)(x * d->levels);
	if (d->category) {
		return d->meaning[k < d->levels ? k : d->levels - 1];
	}
	if (d->levels) { /* the first cell is lo, the last is hi */
		k = k < d->levels ? k : d->levels - 1;
		x = (double)k / (d->levels - 1);
	}
	return d->lo + (d->hi - d->lo) * x;
}

double bench_truth(const struct bench_world *w, const double *x)
{
	double v[SEARCH_DIMS_MAX], bend = 0;
	for (size_t j = 0; j < w->problem.n; j++) {
		v[j] = value_of(&w->dims[j], x[j]);
		bend += sin(2.5 * x[j] + (double)j);
	}
	return w->surface->at(w, v) + w->bend * bend / sqrt((double)w->problem.n);
}

static double minus_truth(unsigned n, const double *x, double *gradient, void *world)
{
	(void)n;
	(void)gradient;
	double y = bench_truth(world, x);
	return isfinite(y) ? -y : 100;
}

/* Every level (65 points of a continuum) of every coordinate, as long as that helps. */
static double climb(const struct bench_world *w, double *x)
{
	double best = -minus_truth(0, x, NULL, (void *)w);
	for (bool better = true; better;) {
		better = false;
		for (size_t j = 0; j < w->problem.n; j++) {
			int levels = w->dims[j].levels ? w->dims[j].levels : 65;
			double keep = x[j];
			for (int k = 0; k < levels; k++) {
				x[j] = search_cell(k, levels);
				double y = -minus_truth(0, x, NULL, (void *)w);
				if (y > best + 1e-9) {
					best = y;
					keep = x[j];
					better = true;
				}
			}
			x[j] = keep;
		}
	}
	return best;
}

static double polish(struct bench_world *w, double *x)
{
	double value, lo[SEARCH_DIMS_MAX], hi[SEARCH_DIMS_MAX];
	size_t d = w->problem.n;
	for (size_t j = 0; j < d; j++) {
		lo[j] = w->dims[j].category ? x[j] : 0;
		hi[j] = w->dims[j].category ? x[j] : 1;
	}
	nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, (unsigned)d);
	nlopt_set_lower_bounds(opt, lo);
	nlopt_set_upper_bounds(opt, hi);
	nlopt_set_min_objective(opt, minus_truth, w);
	nlopt_set_maxeval(opt, 3000);
	nlopt_optimize(opt, x, &value);
	nlopt_destroy(opt);
	return -value;
}

/* One to three coordinates changed at random, as long as that helps now and then. */
static double wander(struct bench_world *w, struct stats_rng *rng, double *x)
{
	double y[SEARCH_DIMS_MAX], best = -minus_truth(0, x, NULL, w);
	size_t d = w->problem.n;
	for (int i = 0; i < WANDERINGS; i++) {
		memcpy(y, x, sizeof(y));
		for (int c = 0; c < 1 + i % 3; c++) {
			size_t j = (size_t)(stats_rng_uniform(rng) * (double)d);
			double step = 0.3 * exp(-4.0 * i / WANDERINGS);
			y[j] = w->dims[j].category ? stats_rng_uniform(rng)
						   : y[j] + step * stats_rng_normal(rng);
		}
		search_snap(&w->problem, y);
		double value = -minus_truth(0, y, NULL, w);
		if (value > best) {
			best = value;
			memcpy(x, y, sizeof(y));
		}
	}
	return best;
}

static void find_best(struct bench_world *w, struct stats_rng *rng)
{
	double x[SEARCH_DIMS_MAX] = {0}, top[SEARCH_DIMS_MAX];
	w->best = -INFINITY;
	for (int s = 0; s < STARTS; s++) {
		double best = -INFINITY;
		for (int i = 0; i < 2000; i++) {
			for (size_t j = 0; j < w->problem.n; j++) {
				x[j] = stats_rng_uniform(rng);
			}
			search_snap(&w->problem, x);
			double y = -minus_truth(0, x, NULL, w);
			if (y > best) {
				best = y;
				memcpy(top, x, sizeof(top));
			}
		}
		w->best = fmax(w->best, climb(w, top));
		w->best = fmax(w->best, wander(w, rng, top));
		w->best = fmax(w->best, polish(w, top));
		w->best = fmax(w->best, climb(w, top));
	}
}

void bench_world_init(struct bench_world *w, const struct bench_surface *s, uint64_t seed,
		      const struct bench_noise *noise, int budget)
{
	struct stats_rng rng;
	stats_rng_seed(&rng, seed * 1000003 + s->d * 101 + (uint64_t)s->name[0]);
	*w = (struct bench_world){.surface = s, .noise = *noise, .seed = seed};
	w->problem = (struct search_problem){.n = s->d, .budget = budget, .seed = seed};
	for (size_t j = 0; j < s->d; j++) {
		w->dims[j] = s->dims[j];
		move_dimension(&w->dims[j], &rng);
		w->problem.dims[j] = (struct search_dim){
			.category = w->dims[j].category,
			.levels = w->dims[j].levels,
			.start = start_coordinate(&w->dims[j]),
		};
	}
	if (s->prepare) {
		s->prepare(w, &rng);
	}
	w->drift_period = 60 + 120 * stats_rng_uniform(&rng);
	w->drift_phase = 2 * M_PI * stats_rng_uniform(&rng);
	w->drift_slope = 2 * stats_rng_uniform(&rng) - 1;
	find_best(w, &rng);
}

double bench_measure(struct bench_world *w, const double *x, bool *ok)
{
	struct stats_rng rng;
	double y = bench_truth(w, x), t = w->tests++;
	stats_rng_seed(&rng, w->seed * 7919 + (uint64_t)t * 31 + 17);
	y += w->noise.sigma * stats_rng_normal(&rng);
	if (stats_rng_uniform(&rng) < w->noise.outliers) {
		y += log(1 - 0.05 - 0.35 * stats_rng_uniform(&rng));
	}
	y += w->noise.drift *
	     (sin(2 * M_PI * t / w->drift_period + w->drift_phase) + w->drift_slope * t / 100);
	*ok = isfinite(y);
	return y + w->shift;
}

double bench_regret(const struct bench_world *w, const double *x)
{
	double y = x ? bench_truth(w, x) : NAN;
	return isfinite(y) ? 100 * (1 - exp(y - w->best)) : 100;
}
