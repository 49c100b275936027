/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A surrogate search and the hill that it is sent up, as the loop would do it. Not a test itself:
 * what the two test programs of the surrogate share.
 */
#ifndef TUNESWEEP_SURROGATE_GAME_H
#define TUNESWEEP_SURROGATE_GAME_H

#include "cleanup.h"
#include "search.h"
#include "stats.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ASKS_MAX 400

struct game {
	struct search_problem p;
	struct search *s;
	struct stats_rng rng;
	double noise;
	double (*truth)(const double *x, size_t n);
	bool (*works)(const double *x);
	int asked;
	double log[ASKS_MAX][SEARCH_DIMS_MAX];
};

static inline double hill(const double *x, size_t n)
{
	double sum = 0;
	for (size_t j = 0; j < n; j++) {
		double d = x[j] - 0.3 - 0.4 * (j % 2);
		sum += d * d;
	}
	return 3 - 2 * sum / sqrt((double)n);
}

static inline struct search_problem problem(size_t n, int levels, int budget)
{
	struct search_problem p = {.n = n, .budget = budget, .seed = 7};
	for (size_t j = 0; j < n; j++) {
		p.dims[j].levels = levels;
		p.dims[j].start = 0.5;
	}
	return p;
}

static inline void begin(struct game *g, const struct search_problem *p)
{
	struct err e;
	*g = (struct game){.p = *p, .noise = 0.02, .truth = hill};
	stats_rng_seed(&g->rng, p->seed + 5);
	if (search_create("surrogate", p, &g->s, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static inline void measure(struct game *g, const double *x)
{
	bool ok = !g->works || g->works(x);
	search_tell(g->s, x, g->truth(x, g->p.n) + g->noise * stats_rng_normal(&g->rng), ok);
}

/* false: it has nothing more to ask. */
static inline bool step(struct game *g)
{
	struct err e;
	double *x = g->log[g->asked];
	int rc = search_ask(g->s, x, &e);
	if (rc < 0) {
		fail_msg("%s", e.text);
	}
	if (rc == 0) {
		return false;
	}
	for (size_t j = 0; j < g->p.n; j++) {
		assert_true(x[j] >= 0 && x[j] <= 1);
	}
	measure(g, x);
	g->asked++;
	return true;
}

static inline void play(struct game *g)
{
	while (g->asked < ASKS_MAX - 1 && step(g)) {
	}
	assert_true(g->asked <= g->p.budget);
}

static inline double true_of_recommended(struct game *g)
{
	double x[SEARCH_DIMS_MAX], mean, sd;
	assert_int_equal(search_recommend(g->s, x, &mean, &sd), 1);
	assert_true(isfinite(mean) && sd >= 0);
	return g->truth(x, g->p.n);
}

#endif
