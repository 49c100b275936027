/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The surrogate search by asks and answers: odd spaces, failures, odd values, its seed and its end.
 * What else it learns stands in test_surrogate_learn.c, how good it is in the bench.
 */
#include "slow.h"
#include "surrogate_game.h"

static void odd_spaces_end_well(void **state)
{
	(void)state;
	static const struct {
		size_t n;
		int levels, budget;
		bool category;
	} shapes[] = {
		{1, 0, 20, false}, {1, 1, 10, false},	  {3, 1, 10, false}, {1, 2, 12, true},
		{4, 3, 25, true},  {5, 0, 1, false},	  {5, 9, 2, false},  {60, 0, 16, false},
		{64, 4, 14, true}, {2, 10000, 20, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct game g;
		bool fits = shapes[i].n < 60 || !is_slow();
		struct search_problem p = problem(shapes[i].n, shapes[i].levels,
						  fits ? shapes[i].budget : 4);
		for (size_t j = 0; j < p.n; j++) {
			p.dims[j].category = shapes[i].category;
		}
		begin(&g, &p);
		play(&g);
		assert_true(g.asked >= 1);
		assert_true(true_of_recommended(&g) > 1.2);
		json_t *told = search_explain(g.s);
		assert_non_null(told);
		json_decref(told);
		search_destroy(g.s);
	}
}

static void the_hill_is_found(void **state)
{
	(void)state;
	for (int k = 0; k < 3; k++) {
		struct game g;
		struct search_problem p = problem(4, 0, 40);
		p.seed = 10 + (uint64_t)k;
		begin(&g, &p);
		play(&g);
		assert_true(true_of_recommended(&g) > 2.97);
		search_destroy(g.s);
	}
}

static void a_seed_decides_everything(void **state)
{
	(void)state;
	struct game a, b, c;
	struct search_problem p = problem(3, 33, 25);
	begin(&a, &p);
	play(&a);
	begin(&b, &p);
	while (step(&b)) { /* questions in between change nothing */
		double gain;
		true_of_recommended(&b);
		search_remaining(b.s, &gain);
	}
	assert_int_equal(a.asked, b.asked);
	assert_memory_equal(a.log, b.log, sizeof(a.log));
	p.seed++;
	begin(&c, &p);
	play(&c);
	assert_memory_not_equal(a.log, c.log, sizeof(a.log));
	search_destroy(a.s);
	search_destroy(b.s);
	search_destroy(c.s);
}

static bool never(const double *x)
{
	(void)x;
	return false;
}

static bool right_works(const double *x)
{
	return x[0] > 0.55;
}

static void if_all_fails_it_goes_on_and_recommends_nothing(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(3, 5, 30);
	double x[SEARCH_DIMS_MAX], mean, sd, gain;
	begin(&g, &p);
	g.works = never;
	play(&g);
	assert_int_equal(g.asked, 30);
	assert_int_equal(search_recommend(g.s, x, &mean, &sd), 0);
	assert_false(search_remaining(g.s, &gain));
	assert_null(search_explain(g.s));
	search_destroy(g.s);
}

static void what_failed_is_not_asked_again(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(2, 12, 60);
	p.whole_budget = true;
	begin(&g, &p);
	g.works = right_works;
	play(&g);
	int failed = 0;
	for (int i = 0; i < g.asked; i++) {
		failed += !right_works(g.log[i]);
		for (int k = 0; k < i && !right_works(g.log[i]); k++) {
			assert_memory_not_equal(g.log[i], g.log[k], 2 * sizeof(double));
		}
	}
	assert_true(failed < 30);
	assert_true(true_of_recommended(&g) > 2.8);
	search_destroy(g.s);
}

static void odd_values_count_as_failures(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(2, 0, 40);
	const double odd[] = {NAN, INFINITY, -INFINITY};
	double x[SEARCH_DIMS_MAX];
	begin(&g, &p);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		assert_int_equal(search_ask(g.s, x, &e), 1);
		search_tell(g.s, x, odd[i], true);
	}
	play(&g);
	assert_true(true_of_recommended(&g) > 2.95);
	search_destroy(g.s);
}

/* The baseline, and points that somebody else chose. */
static void what_was_not_asked_for_is_learnt_too(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(2, 0, 40);
	double x[SEARCH_DIMS_MAX], again[SEARCH_DIMS_MAX], own[2] = {0.3, 0.7};
	begin(&g, &p);
	assert_int_equal(search_ask(g.s, x, &e), 1);
	for (int i = 0; i < 3; i++) {
		measure(&g, own);
	}
	assert_int_equal(search_ask(g.s, again, &e), 1); /* still waits for its answer */
	assert_memory_equal(x, again, 2 * sizeof(double));
	measure(&g, x);
	assert_true(true_of_recommended(&g) > 2.999);
	search_destroy(g.s);
}

static void effective_values_may_differ_from_asked_ones(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(2, 0, 30);
	double x[SEARCH_DIMS_MAX], next[SEARCH_DIMS_MAX], effective[2] = {0.1, 0.1};
	begin(&g, &p);
	assert_int_equal(search_ask(g.s, x, &e), 1);
	struct search_observation o = {.x = effective, .asked = x, .y = 1};
	search_learn(g.s, &o);
	assert_int_equal(search_ask(g.s, next, &e), 1);
	assert_memory_not_equal(x, next, 2 * sizeof(double));
	search_destroy(g.s);
}

static double flat(const double *x, size_t n)
{
	(void)x;
	(void)n;
	return 1;
}

static void it_ends_when_nothing_is_left_to_learn(void **state)
{
	(void)state;
	struct game g, whole;
	struct search_problem p = problem(2, 0, 150);
	begin(&g, &p);
	g.noise = 0.002;
	play(&g);
	assert_true(g.asked < 80 && true_of_recommended(&g) > 2.98);
	double gain;
	assert_true(search_remaining(g.s, &gain));
	assert_true(gain >= 0 && gain < 0.05);
	p.budget = 60;
	p.whole_budget = true;
	begin(&whole, &p);
	whole.truth = flat;
	play(&whole);
	assert_int_equal(whole.asked, 60);
	search_destroy(g.s);
	search_destroy(whole.s);
}

static void values_below_zero_are_fine_if_plain(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(2, 0, 40);
	double x[SEARCH_DIMS_MAX];
	struct err e;
	p.plain = true;
	begin(&g, &p);
	while (search_ask(g.s, x, &e) == 1) {
		double noise = 20 * stats_rng_normal(&g.rng);
		search_tell(g.s, x, 1e3 * (hill(x, 2) - 6) + noise, true);
	}
	assert_true(true_of_recommended(&g) > 2.95);
	search_destroy(g.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_spaces_end_well),
		cmocka_unit_test(the_hill_is_found),
		cmocka_unit_test(a_seed_decides_everything),
		cmocka_unit_test(if_all_fails_it_goes_on_and_recommends_nothing),
		cmocka_unit_test(what_failed_is_not_asked_again),
		cmocka_unit_test(odd_values_count_as_failures),
		cmocka_unit_test(what_was_not_asked_for_is_learnt_too),
		cmocka_unit_test(effective_values_may_differ_from_asked_ones),
		cmocka_unit_test(it_ends_when_nothing_is_left_to_learn),
		cmocka_unit_test(values_below_zero_are_fine_if_plain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
