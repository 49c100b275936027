/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The change-point test: the published drop is found where it is and nothing before it, chance is
 * called a change as rarely as promised, and series too short to tell tell nothing.
 */
#include "change.h"
#include "cleanup.h"
#include "stats.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 64 };

/* Groups of one value each. Returns how many are marked. */
static size_t find(const double *x, size_t n, struct change *out)
{
	double level[MOST] = {0};
	size_t group[MOST] = {0}, marked = 0;
	for (size_t i = 0; i < n; i++) {
		level[i] = log(x[i]);
		group[i] = i;
	}
	assert_int_equal(change_find(level, group, n, 0.05, out), 0);
	for (size_t i = 0; i < n; i++) {
		marked += out[i].marked;
	}
	return marked;
}

static void published_drop(void **state)
{
	(void)state;
	static const double x[] = {464, 466, 469, 466, 470, 405, 407, 406,
				   402, 399, 395, 394, 374, 385, 382, 367};
	struct change c[MOST];
	size_t n = find(x, ARRAY_SIZE(x), c);
	assert_true(c[5].marked && c[5].p < 0.01);
	for (size_t i = 0; i < 5; i++) {
		assert_false(c[i].marked);
	}
	assert_true(n <= 2);
	/* Without the drop there is nothing to mark. */
	assert_int_equal(find(x, 5, c), 0);
}

static void one_bad_night_at_the_end(void **state)
{
	(void)state;
	double x[31];
	struct stats_rng rng;
	struct change c[MOST];
	stats_rng_seed(&rng, 3);
	for (size_t i = 0; i < 31; i++) {
		x[i] = exp(0.01 * stats_rng_normal(&rng)) * (i == 30 ? 0.86 : 1);
	}
	assert_int_equal(find(x, 31, c), 1);
	assert_true(c[30].marked);
}

static void two_changes(void **state)
{
	(void)state;
	double x[40];
	struct stats_rng rng;
	struct change c[MOST];
	stats_rng_seed(&rng, 4);
	for (size_t i = 0; i < 40; i++) {
		double level = i < 15 ? 100 : i < 28 ? 90 : 104;
		x[i] = level * exp(0.01 * stats_rng_normal(&rng));
	}
	assert_int_equal(find(x, 40, c), 2);
	assert_true(c[15].marked && c[28].marked);
}

/* At most 5 % of the series, whatever their length; 400 series have an error of about 1 %. */
static void chance_is_rarely_a_change(void **state)
{
	(void)state;
	static const size_t lengths[] = {3, 5, 8, 16, 40};
	struct stats_rng rng;
	stats_rng_seed(&rng, 5);
	for (size_t l = 0; l < ARRAY_SIZE(lengths); l++) {
		size_t wrong = 0;
		for (int round = 0; round < 400; round++) {
			double x[MOST];
			struct change c[MOST];
			for (size_t i = 0; i < lengths[l]; i++) {
				x[i] = exp(0.13 * stats_rng_normal(&rng));
			}
			wrong += find(x, lengths[l], c) > 0;
		}
		if (wrong > 32) {
			fail_msg("%zu of 400 series of %zu have a change", wrong, lengths[l]);
		}
	}
}

static void too_short_to_tell(void **state)
{
	(void)state;
	static const double x[] = {100, 50, 100};
	struct change c[MOST];
	assert_int_equal(find(x, 0, c), 0);
	assert_int_equal(find(x, 1, c), 0);
	assert_int_equal(find(x, 2, c), 0);
	assert_int_equal(find(x, 3, c), 0);
}

/* Two kernels, several boots each: the boots' own spread decides. */
static void groups_of_boots(void **state)
{
	(void)state;
	static const double boots[] = {100, 94, 107, 98, 103, 82, 79, 86, 81, 84};
	static const double wild[] = {100, 80, 120, 90, 110, 85, 118, 79, 105, 97};
	double level[10];
	size_t group[10];
	struct change c[2];
	for (size_t i = 0; i < 10; i++) {
		level[i] = log(boots[i]);
		group[i] = i / 5;
	}
	assert_int_equal(change_find(level, group, 10, 0.05, c), 0);
	assert_true(c[1].marked);
	for (size_t i = 0; i < 10; i++) {
		level[i] = log(wild[i]);
	}
	assert_int_equal(change_find(level, group, 10, 0.05, c), 0);
	assert_false(c[1].marked);
}

static void values_that_repeat(void **state)
{
	(void)state;
	static const double flat[] = {100, 100, 100, 100, 100, 100, 100, 100},
			    step[] = {100, 100, 100, 100, 90, 90, 90, 90};
	struct change c[MOST];
	assert_int_equal(find(flat, 8, c), 0);
	assert_int_equal(find(step, 8, c), 1);
	assert_true(c[4].marked);
	assert_true(change_spread(flat, 8) == 0);
	assert_true(change_spread(flat, 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_drop),     cmocka_unit_test(one_bad_night_at_the_end),
		cmocka_unit_test(two_changes),	      cmocka_unit_test(chance_is_rarely_a_change),
		cmocka_unit_test(too_short_to_tell),  cmocka_unit_test(groups_of_boots),
		cmocka_unit_test(values_that_repeat),
	};
	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
