/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The short form of the searches' bench: three surfaces, few seeds, wide margins. It catches a
 * search that has gone bad, not one that is a little worse; "make bench-search" has the figures.
 */
#include "../bench/search_play.c"
#include "../bench/search_world.c"
#include "../bench/surfaces.c"
#include "../bench/surfaces_host.c"
#include "slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SEEDS 7
#define TESTS 60
#define FLOOR 0.05

static const struct bench_noise noise = {.sigma = 0.03, .outliers = 0.03, .drift = 0.015};

static void play_all(const struct bench_surface *s, const char *method, double *regret)
{
	for (int k = 0; k < SEEDS; k++) {
		struct bench_world w;
		struct err e;
		double all[TESTS];
		struct bench_run run = {.budget = TESTS, .regret = all};
		bench_world_init(&w, s, 301 + (uint64_t)k, &noise, TESTS);
		if (bench_play(&w, method, &run, &e) < 0) {
			fail_msg("%s: %s", method, e.text);
		}
		regret[k] = fmax(all[TESTS - 1], FLOOR);
	}
}

static void the_surrogate_needs_few_measurements(void **state)
{
	(void)state;
	if (is_slow()) {
		skip();
	}
	static const struct {
		const struct bench_surface *surface;
		double median; /* percent; the bench has less than half */
	} goals[] = {{&bench_paper2d, 1.0}, {&bench_place6, 6.0}, {&bench_mix6, 6.0}};
	double direct = 0, random = 0;
	for (size_t i = 0; i < 3; i++) {
		double own[SEEDS], other[SEEDS];
		play_all(goals[i].surface, "surrogate", own);
		if (stats_median(own, SEEDS) > goals[i].median) {
			fail_msg("%s: median regret %g %%", goals[i].surface->name,
				 stats_median(own, SEEDS));
		}
		play_all(goals[i].surface, "GN_DIRECT_L", other);
		for (int k = 0; k < SEEDS; k++) {
			direct += log(own[k] / other[k]) / (3 * SEEDS);
		}
		play_all(goals[i].surface, "random", other);
		for (int k = 0; k < SEEDS; k++) {
			random += log(own[k] / other[k]) / (3 * SEEDS);
		}
	}
	if (exp(direct) > 0.75 || exp(random) > 0.3) {
		fail_msg("regret %.2f of DIRECT_L's, %.2f of random's", exp(direct), exp(random));
	}
	printf("# regret %.2f of DIRECT_L's, %.2f of random's\n", exp(direct), exp(random));
}

/* The machine's own truth: the optimum is the best that a million points find. */
static void the_optimum_is_the_best(void **state)
{
	(void)state;
	for (size_t i = 0; bench_surfaces[i]; i++) {
		struct bench_world w;
		struct stats_rng rng;
		bench_world_init(&w, bench_surfaces[i], 301, &noise, TESTS);
		stats_rng_seed(&rng, 1);
		for (int k = 0; k < (is_slow() ? 500 : 50000); k++) {
			double x[SEARCH_DIMS_MAX];
			for (size_t j = 0; j < w.problem.n; j++) {
				x[j] = stats_rng_uniform(&rng);
			}
			search_snap(&w.problem, x);
			assert_true(bench_regret(&w, x) > -0.01);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_surrogate_needs_few_measurements),
		cmocka_unit_test(the_optimum_is_the_best),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
