/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two modes told as two, one not; a sample that is surely worse, and one that only may be; and how
 * often a comparison of a configuration with itself differs. Simulated, with fixed seeds.
 */
#include "modes.h"
#include "stats.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_two(void **state)
{
	(void)state;
	struct stats_rng r;
	int found = 0;
	stats_rng_seed(&r, 7);
	for (int k = 0; k < 100; k++) {
		double x[16];
		for (int i = 0; i < 16; i++) {
			x[i] = (i % 3 ? 12e9 : 48e9) * exp(0.08 * stats_rng_normal(&r));
		}
		struct modes m = modes_find(x, 16);
		found += m.n == 2 && m.count[0] == 10 && fabs(m.center[1] / 48e9 - 1) < 0.15;
	}
	assert_true(found >= 98);
}

static int false_alarms(size_t n, bool even, double sd)
{
	struct stats_rng r;
	int found = 0;
	stats_rng_seed(&r, 3);
	for (int k = 0; k < 500; k++) {
		double x[64];
		for (size_t i = 0; i < n; i++) {
			x[i] = exp(sd * (even ? 3.5 * (stats_rng_uniform(&r) - 0.5)
					      : stats_rng_normal(&r)));
		}
		found += modes_find(x, n).n == 2;
	}
	return found;
}

static void test_one(void **state)
{
	(void)state;
	static const size_t sizes[] = {12, 14, 16, 32, 64};
	for (size_t i = 0; i < 5; i++) {
		int normal = false_alarms(sizes[i], false, 0.3),
		    even = false_alarms(sizes[i], true, 0.3);
		print_message("of 500 with %zu values: %d normal, %d even\n", sizes[i], normal,
			      even);
		assert_true(normal <= 30);
		assert_true(even <= 50);
	}
	/* two levels that nobody would mind */
	const double near[] = {100, 100.1, 100.2, 100.1, 100, 100.2,
			       104, 104.1, 104.2, 104.1, 104, 104.2};
	assert_int_equal(modes_find(near, 12).n, 1);
}

static void test_edges(void **state)
{
	(void)state;
	const double x[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		     odd[] = {1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	assert_int_equal(modes_find(x, 0).n, 0);
	assert_int_equal(modes_find(x, 11).n, 0);
	assert_int_equal(modes_find(x, 12).n, 1);
	assert_int_equal(modes_find(odd, 12).n, 0);
}

/* Looked at after each interval: ended wrongly in at most the share that the level allows. */
static void test_surely_below(void **state)
{
	(void)state;
	struct stats_rng r;
	int wrong = 0, right = 0;
	stats_rng_seed(&r, 11);
	for (int k = 0; k < 200; k++) {
		double x[40], e = 0;
		bool as_good = false, worse = false;
		for (size_t i = 0; i < 40; i++) {
			/* neighbours are alike */
			e = 0.4 * e + 0.1 * stats_rng_normal(&r);
			x[i] = 10 + e;
			as_good |= modes_surely_below(x, i + 1, 10, 0.95);
			worse |= modes_surely_below(x, i + 1, 11, 0.95);
		}
		wrong += as_good;
		right += worse;
	}
	print_message("ended wrongly %d, rightly %d of 200\n", wrong, right);
	assert_true(wrong <= 10);
	assert_true(right >= 190);
	const double few[] = {1, 1, 1, 1};
	assert_false(modes_surely_below(few, 4, 100, 0.95));
	assert_false(modes_surely_below(NULL, 0, 100, 0.95));
}

/* A configuration against itself, 12 pairs each: significant in at most 8 %. */
static void test_a_a(void **state)
{
	(void)state;
	struct stats_rng r;
	int differ = 0;
	stats_rng_seed(&r, 1);
	for (int k = 0; k < 200; k++) {
		double x[12];
		for (int i = 0; i < 12; i++) {
			/* heavy tails: one in ten is four times as noisy */
			double sd = stats_rng_uniform(&r) < 0.1 ? 0.4 : 0.1;
			x[i] = sd * (stats_rng_normal(&r) - stats_rng_normal(&r));
		}
		struct interval v = stats_hodges_lehmann(x, 12, 0.95);
		differ += v.lo > 0 || v.hi < 0;
	}
	print_message("%d of 200 differ\n", differ);
	assert_true(differ <= 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two),   cmocka_unit_test(test_one),
		cmocka_unit_test(test_edges), cmocka_unit_test(test_surely_below),
		cmocka_unit_test(test_a_a),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
