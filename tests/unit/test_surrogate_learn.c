/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the surrogate search learns beyond points and values: pending points, earlier nights,
 * limits, lost links, forbidden points, noise; and what it says of what it learnt.
 */
#include "surrogate_game.h"

static void a_batch_is_of_different_points_told_in_any_order(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(3, 0, 48);
	double x[4][SEARCH_DIMS_MAX];
	int rounds = 0;
	p.whole_budget = true;
	begin(&g, &p);
	while (search_ask(g.s, x[0], &e) == 1) {
		int n = 1;
		while (n < 4 && search_ask_more(g.s, x[n], &e) == 1) {
			n++;
		}
		assert_true(n == 4);
		for (int i = 0; i < n && rounds < 8; i++) {
			for (int k = 0; k < i; k++) {
				assert_memory_not_equal(x[i], x[k], 3 * sizeof(double));
			}
		}
		for (int i = n; i-- > 0;) {
			measure(&g, x[(i + rounds) % n]);
		}
		rounds++;
	}
	assert_int_equal(rounds, 12);
	assert_true(true_of_recommended(&g) > 2.93);
	search_destroy(g.s);
}

static void known_good_points_come_first(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(3, 10, 20);
	const double good[2][3] = {{0.31, 0.68, 0.29}, {0.9, 0.9, 0.9}};
	begin(&g, &p);
	search_suggest(g.s, good[0]);
	search_suggest(g.s, good[1]);
	step(&g);
	step(&g);
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 3; j++) {
			assert_true(fabs(g.log[i][j] - good[i][j]) < 0.0501);
		}
	}
	search_destroy(g.s);
}

/* The same hill on another night, 0.4 lower: its level must not be taken for the point's. */
static void earlier_nights_help_whatever_their_level(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct game g;
		struct stats_rng rng;
		struct search_problem p = problem(4, 0, 14);
		begin(&g, &p);
		stats_rng_seed(&rng, 2);
		for (int i = 0; i < 80; i++) {
			double x[4];
			for (int j = 0; j < 4; j++) {
				x[j] = stats_rng_uniform(&rng);
			}
			struct search_observation o = {
				.x = x,
				.y = hill(x, 4) + 0.15 * sign + 0.02 * stats_rng_normal(&rng),
				.group = 1,
				.earlier = true,
				.when = i,
			};
			search_learn(g.s, &o);
		}
		play(&g);
		assert_true(true_of_recommended(&g) > 2.95);
		search_destroy(g.s);
	}
}

/* A limit that cuts the hill's top off: x0 + x1 <= 0.8 (the top is at 1.0). */
static void limits_are_kept(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(2, 0, 50);
	double x[SEARCH_DIMS_MAX], mean, sd;
	p.n_margins = 1;
	begin(&g, &p);
	while (search_ask(g.s, x, &e) == 1) {
		struct search_observation o = {.x = x,
					       .y = hill(x, 2) + 0.02 * stats_rng_normal(&g.rng)};
		o.margin[0] = 0.8 - x[0] - x[1] + 0.01 * stats_rng_normal(&g.rng);
		search_learn(g.s, &o);
	}
	assert_int_equal(search_recommend(g.s, x, &mean, &sd), 1);
	assert_true(x[0] + x[1] < 0.81);
	assert_true(hill(x, 2) > 2.93); /* 2.972 at the best that is allowed */
	search_destroy(g.s);
}

static void margins_that_are_missing_are_borne(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(2, 0, 20);
	double x[SEARCH_DIMS_MAX];
	p.n_margins = 2;
	begin(&g, &p);
	while (search_ask(g.s, x, &e) == 1) {
		struct search_observation o = {.x = x, .y = hill(x, 2), .margin = {NAN, 1}};
		search_learn(g.s, &o);
	}
	assert_true(true_of_recommended(&g) > 2.9);
	search_destroy(g.s);
}

static void where_the_link_was_cut_nobody_goes_again(void **state)
{
	(void)state;
	struct game g;
	struct err e;
	struct search_problem p = problem(2, 0, 50);
	double x[SEARCH_DIMS_MAX], cut[2] = {0.3, 0.7}, mean, sd; /* the very top */
	p.whole_budget = true;
	begin(&g, &p);
	struct search_observation o = {.x = cut, .failed = true, .cut_link = true};
	search_learn(g.s, &o);
	for (int i = 0; search_ask(g.s, x, &e) == 1; i++) {
		assert_true(hypot(x[0] - cut[0], x[1] - cut[1]) >= 0.15);
		measure(&g, x);
	}
	assert_int_equal(search_recommend(g.s, x, &mean, &sd), 1);
	assert_true(hypot(x[0] - cut[0], x[1] - cut[1]) >= 0.15);
	search_destroy(g.s);
}

static bool not_the_upper_half(const void *ctx, double *x)
{
	(void)ctx;
	if (x[2] < 0.5) {
		x[1] = 0.25; /* has an effect only if x2 is set */
	}
	return x[0] <= 0.5;
}

static void forbidden_is_not_asked_and_equal_in_effect_is_one(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(3, 0, 30);
	p.dims[2] = (struct search_dim){.category = true, .levels = 2, .start = 0.25};
	p.canonical = not_the_upper_half;
	begin(&g, &p);
	play(&g);
	assert_true(g.asked > 10);
	for (int i = 0; i < g.asked; i++) {
		assert_true(g.log[i][0] <= 0.5);
		assert_true(g.log[i][2] > 0.5 || g.log[i][1] == 0.25);
	}
	search_destroy(g.s);
}

/* One lucky value of a poor point against several of a good one. */
static void one_lucky_value_is_not_recommended(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(2, 0, 100);
	const double good[2] = {0.3, 0.7}, lucky[2] = {0.6, 0.4};
	struct stats_rng rng;
	begin(&g, &p);
	stats_rng_seed(&rng, 3);
	for (int i = 0; i < 25; i++) {
		double x[2] = {stats_rng_uniform(&rng), stats_rng_uniform(&rng)};
		measure(&g, x);
	}
	for (int i = 0; i < 4; i++) {
		measure(&g, good);
	}
	search_tell(g.s, lucky, hill(good, 2) + 0.06, true);
	assert_true(true_of_recommended(&g) > 2.98);
	search_destroy(g.s);
}

static void low_outliers_do_not_hide_the_best(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(2, 0, 100);
	const double good[2] = {0.3, 0.7};
	struct stats_rng rng;
	begin(&g, &p);
	stats_rng_seed(&rng, 3);
	for (int i = 0; i < 30; i++) {
		double x[2] = {stats_rng_uniform(&rng), stats_rng_uniform(&rng)};
		measure(&g, x);
	}
	for (int i = 0; i < 3; i++) {
		measure(&g, good);
	}
	search_tell(g.s, good, hill(good, 2) - 0.4, true);
	assert_true(true_of_recommended(&g) > 2.99);
	search_destroy(g.s);
}

/* A noisier sample counts less: twice the same values, the upper with a large standard error. */
static void standard_errors_count(void **state)
{
	(void)state;
	double mean[2], sd, x[SEARCH_DIMS_MAX];
	for (int k = 0; k < 2; k++) {
		struct game g;
		struct search_problem p = problem(1, 0, 100);
		begin(&g, &p);
		for (int i = 0; i < 18; i++) {
			double at = (i % 6 + 0.5) / 6;
			struct search_observation o = {.x = &at, .y = i < 12 ? 1 : 1.2, .se = 0.02};
			o.se = k == 1 && i >= 12 ? 0.2 : o.se;
			search_learn(g.s, &o);
		}
		assert_int_equal(search_recommend(g.s, x, &mean[k], &sd), 1);
		search_destroy(g.s);
	}
	assert_true(mean[0] > 1.04 && mean[1] < 1.03);
}

static double two_matter(const double *x, size_t n)
{
	(void)n;
	return 0.5 * x[1] + 0.4 * (x[3] > 0.5) + 0.5 * x[1] * (x[3] > 0.5);
}

static void it_explains_what_matters(void **state)
{
	(void)state;
	struct game g;
	struct search_problem p = problem(5, 0, 60);
	p.dims[3] = (struct search_dim){.category = true, .levels = 2, .start = 0.25};
	p.whole_budget = true;
	begin(&g, &p);
	g.truth = two_matter;
	play(&g);
	json_t *told = search_explain(g.s), *effects = json_object_get(told, "effects");
	assert_int_equal(json_array_size(effects), 5);
	double share = 0;
	for (size_t i = 0; i < 2; i++) {
		json_t *f = json_array_get(effects, i);
		json_int_t dim = json_integer_value(json_object_get(f, "dim"));
		assert_true(dim == 1 || dim == 3);
		assert_true(json_real_value(json_object_get(f, "high")) >
			    json_real_value(json_object_get(f, "low")));
		double gain = json_real_value(json_object_get(f, "gain"));
		double sd = json_real_value(json_object_get(f, "gain_sd"));
		if (!(gain > 0.1 && sd > 0 && sd < 0.3)) {
			fail_msg("gain %g, standard deviation %g", gain, sd);
		}
		share += json_real_value(json_object_get(f, "share"));
	}
	assert_true(share > 70 && share <= 100);
	json_t *pair = json_array_get(json_object_get(told, "interactions"), 0);
	json_t *dims = json_object_get(pair, "dims");
	json_int_t sum = json_integer_value(json_array_get(dims, 0)) +
			 json_integer_value(json_array_get(dims, 1));
	assert_int_equal(sum, 4); /* 1 and 3 */
	json_decref(told);
	search_destroy(g.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_is_of_different_points_told_in_any_order),
		cmocka_unit_test(known_good_points_come_first),
		cmocka_unit_test(earlier_nights_help_whatever_their_level),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(margins_that_are_missing_are_borne),
		cmocka_unit_test(where_the_link_was_cut_nobody_goes_again),
		cmocka_unit_test(forbidden_is_not_asked_and_equal_in_effect_is_one),
		cmocka_unit_test(one_lucky_value_is_not_recommended),
		cmocka_unit_test(low_outliers_do_not_hide_the_best),
		cmocka_unit_test(standard_errors_count),
		cmocka_unit_test(it_explains_what_matters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
