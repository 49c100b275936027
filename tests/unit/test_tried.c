/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of tried configurations: ranking by medians, failures, who is measured again, and what
 * is kept of each. */
#include "stats.h"
#include "tried.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct configuration config(int64_t x)
{
	struct configuration c = {.n = 1};
	c.v[0] = value_int(x);
	return c;
}

static void add(struct tried_table *t, int64_t x, double score, bool admissible)
{
	struct configuration c = config(x);
	struct sample s;
	sample_init(&s);
	s.ok = true;
	s.m[METRIC_SCORE] = score;
	assert_int_equal(0, tried_add(t, tried_find(t, &c, &c), &s, score, admissible));
	sample_clear(&s);
}

static void one_lucky_sample_does_not_win(void **state)
{
	(void)state;
	struct tried_table t = {0};
	add(&t, 1, 10, true);
	add(&t, 2, 14, true);
	assert_int_equal(1, tried_best(&t));
	add(&t, 2, 8, true);
	add(&t, 2, 9, true);
	assert_int_equal(0, tried_best(&t));
	assert_true(fabs(tried_score(tried_at(&t, 1)) - 9) < 1e-12);
	tried_clear(&t);
}

static void equal_effective_values_are_one(void **state)
{
	(void)state;
	struct tried_table t = {0};
	struct configuration asked = config(100), effective = config(64);
	struct tried *first = tried_find(&t, &asked, &effective);
	assert_non_null(first);
	asked = config(65);
	assert_ptr_equal(first, tried_find(&t, &asked, &effective));
	assert_int_equal(1, tried_count(&t));
	tried_clear(&t);
}

static void failures_are_not_best(void **state)
{
	(void)state;
	struct tried_table t = {0};
	assert_int_equal(-1, tried_best(&t));
	assert_int_equal(-1, tried_least_known(&t, 3));
	add(&t, 1, 99, false);
	assert_int_equal(-1, tried_best(&t));
	add(&t, 2, 1, true);
	assert_int_equal(1, tried_best(&t));
	/* as often failed as counted: not to be recommended */
	add(&t, 2, 1, false);
	assert_int_equal(-1, tried_best(&t));
	tried_clear(&t);
}

static void leaders_with_fewest_samples_come_first(void **state)
{
	(void)state;
	struct tried_table t = {0};
	add(&t, 1, 5, true);
	add(&t, 2, 9, true);
	add(&t, 3, 7, true);
	add(&t, 4, 1, true);
	assert_int_equal(1, tried_least_known(&t, 3));
	add(&t, 2, 9, true);
	assert_int_equal(2, tried_least_known(&t, 3));
	add(&t, 3, 7, true);
	assert_int_equal(0, tried_least_known(&t, 3));
	add(&t, 1, 5, true);
	assert_int_equal(1, tried_least_known(&t, 3)); /* never the fourth */
	tried_clear(&t);
}

/* The best by looking at all, as the table's own note of it must say. */
static int best_of_all(const struct tried_table *t)
{
	int best = -1;
	for (size_t i = 0; i < tried_count(t); i++) {
		const struct tried *it = tried_at(t, i);
		if (it->n_scores > it->n_failed &&
		    (best < 0 || tried_score(it) > tried_score(tried_at(t, (size_t)best)))) {
			best = (int)i;
		}
	}
	return best;
}

static void the_best_is_known_after_each_sample(void **state)
{
	(void)state;
	struct tried_table t = {0};
	struct stats_rng rng;
	stats_rng_seed(&rng, 5);
	for (int i = 0; i < 3000; i++) {
		int64_t x = (int64_t)(stats_rng_uniform(&rng) * 40);
		add(&t, x, floor(stats_rng_uniform(&rng) * 20), stats_rng_uniform(&rng) < 0.7);
		assert_int_equal(best_of_all(&t), tried_best(&t));
	}
	assert_int_equal(40, tried_count(&t));
	tried_clear(&t);
}

static void many_are_found_again_with_their_numbers(void **state)
{
	(void)state;
	enum { N = 5000 };
	struct tried_table t = {0};
	for (int64_t x = 0; x < N; x++) {
		add(&t, x, (double)x, true);
	}
	struct tried *first = tried_at(&t, 0);
	for (int64_t x = 0; x < N; x++) {
		struct configuration c = config(x), back;
		struct tried *it = tried_find(&t, &c, &c);
		assert_ptr_equal(tried_at(&t, (size_t)x), it);
		assert_true(tried_score(it) == (double)x && it->n_scores == 1);
		tried_effective(it, &back);
		assert_true(configuration_equal(&c, &back) && tried_is(it, &c));
	}
	assert_ptr_equal(first, tried_at(&t, 0)); /* entries stay where they are */
	assert_int_equal(N, tried_count(&t));
	tried_clear(&t);
}

/* Of the sample nearest to the median: its metrics and what limited it. */
static void the_median_sample_keeps_its_metrics(void **state)
{
	(void)state;
	static const double scores[] = {10, 30, 22};
	static const char *const limits[] = {"cpu", "", "network"};
	struct tried_table t = {0};
	struct configuration c = config(1);
	struct tried *it = tried_find(&t, &c, &c);
	struct sample s, kept;
	tried_sample(it, &kept);
	assert_true(!kept.ok && isnan(kept.m[METRIC_SCORE]));
	for (int i = 0; i < 3; i++) {
		sample_init(&s);
		s.ok = true;
		s.m[METRIC_SCORE] = scores[i];
		s.m[METRIC_LATENCY_P99] = 100 + i;
		s.m[METRIC_LOST] = i == 1 ? 7 : NAN;
		strcpy(s.limited_by, limits[i]);
		assert_int_equal(0, tried_add(&t, it, &s, scores[i], true));
	}
	tried_sample(it, &kept);
	assert_true(kept.ok && kept.m[METRIC_SCORE] == 22 && kept.m[METRIC_LATENCY_P99] == 102);
	assert_true(isnan(kept.m[METRIC_LOST]) && isnan(kept.m[METRIC_THROUGHPUT]));
	assert_string_equal("network", kept.limited_by);
	assert_true(tried_scores(it)[0] == 10 && tried_scores(it)[2] == 22);
	tried_clear(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_lucky_sample_does_not_win),
		cmocka_unit_test(equal_effective_values_are_one),
		cmocka_unit_test(failures_are_not_best),
		cmocka_unit_test(leaders_with_fewest_samples_come_first),
		cmocka_unit_test(the_best_is_known_after_each_sample),
		cmocka_unit_test(many_are_found_again_with_their_numbers),
		cmocka_unit_test(the_median_sample_keeps_its_metrics),
	};
	return cmocka_run_group_tests_name("tried", tests, NULL, NULL);
}
