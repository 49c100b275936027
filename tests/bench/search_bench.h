/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bench of the searches: seeded surfaces that imitate what tuning meets, a noisy machine over
 * them, and runs of one method on one surface. The surfaces are ours and synthetic; their truth is
 * known, which a real host's never is. Used by the bench program and by the short unit test.
 */
#ifndef TUNESWEEP_SEARCH_BENCH_H
#define TUNESWEEP_SEARCH_BENCH_H

#include "search.h"
#include "stats.h"

#define BENCH_PARAMS 64

struct bench_dim {
	bool category;
	int levels;	 /* 0: continuous */
	double lo, hi;	 /* of what the surface computes with: log2 of sizes, or as they are */
	double start;	 /* kernel default, in the same units; of a category its meaning's index */
	int meaning[16]; /* of a category's levels, permuted by the seed */
};

struct bench_world;

struct bench_surface {
	const char *name;
	size_t d;
	const struct bench_dim *dims;
	/* Numbers of this seed that at() reads from w->param (may be NULL). */
	void (*prepare)(struct bench_world *w, struct stats_rng *rng);
	/* v[j]: value of a number, meaning's index of a category. Log of the score; NaN: fails. */
	double (*at)(const struct bench_world *w, const double *v);
};

extern const struct bench_surface bench_paper2d, bench_bneck2d, bench_ridge5, bench_place6,
	bench_mix6, bench_cliff6, bench_mix12;
extern const struct bench_surface *const bench_surfaces[]; /* NULL-terminated */
const struct bench_surface *bench_find(const char *name);

struct bench_noise {
	double sigma, outliers, drift;
};

struct bench_world { /* one surface as one seed makes it, and its machine */
	const struct bench_surface *surface;
	struct bench_noise noise;
	uint64_t seed;
	struct search_problem problem;
	struct bench_dim dims[SEARCH_DIMS_MAX];
	double param[BENCH_PARAMS];
	double best; /* largest true value */
	double drift_period, drift_phase, drift_slope;
	double shift; /* of all values: another boot */
	double bend;  /* size of a smooth change of the surface: another night */
	int tests;    /* measured so far */
};

void bench_world_init(struct bench_world *w, const struct bench_surface *s, uint64_t seed,
		      const struct bench_noise *noise, int budget);
/* True value at a point of the cube; NaN: fails. */
double bench_truth(const struct bench_world *w, const double *x);
/* One noisy test. Its noise belongs to seed and number, whatever is measured. */
double bench_measure(struct bench_world *w, const double *x, bool *ok);
double bench_regret(const struct bench_world *w, const double *x); /* percent; 100 for failing */

struct bench_run {
	int budget, batch;
	const double *warm_x, *warm_y; /* an earlier night */
	size_t n_warm;
	double *regret;		     /* [budget]: of what would be recommended after each test */
	double step_worst, step_sum; /* seconds in ask */
};

/* algorithm: a name for search_create. 0, or < 0 and e. */
int bench_play(struct bench_world *w, const char *algorithm, struct bench_run *run, struct err *e);

/* What users do with raw searches: the best observed mean of a configuration. */
struct bench_tally;
struct bench_tally *bench_tally_create(size_t d);
void bench_tally_destroy(struct bench_tally *t);
void bench_tally_add(struct bench_tally *t, const double *x, double y, bool ok);
const double *bench_tally_best(const struct bench_tally *t); /* NULL: nothing worked */

#endif
