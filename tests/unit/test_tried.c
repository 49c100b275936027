/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of tried configurations: ranking by medians, failures, and who is measured again. */
#include "tried.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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
	assert_int_equal(0, tried_add(tried_find(t, &c, &c), &s, score, admissible));
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
	assert_true(fabs(tried_score(&t.items[1]) - 9) < 1e-12);
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
	assert_int_equal(1, t.n);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_lucky_sample_does_not_win),
		cmocka_unit_test(equal_effective_values_are_one),
		cmocka_unit_test(failures_are_not_best),
		cmocka_unit_test(leaders_with_fewest_samples_come_first),
	};
	return cmocka_run_group_tests_name("tried", tests, NULL, NULL);
}
