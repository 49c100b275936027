/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparisons of two runs: the difference that is there is found with the interval it deserves, and
 * where reboots could be the reason, that is said. Simulated runs with known differences.
 */
#include "compare.h"
#include "observation_fixture.h"
#include "stats.h"
#include <errno.h>
#include <math.h>

static struct observations observe_run(struct store *s, const char *id)
{
	struct err e = {0};
	struct observations o;
	struct observe_options which = {.which = OBSERVE_ALL, .run = id, .values = true};
	assert_int_equal(observations_read(s, &which, &o, &e), 0);
	return o;
}

/* A sweep of n configurations, each once; level is that of the machine. */
static struct observations sweep(const char *boot, double level, int n, double noise, uint64_t seed,
				 int base)
{
	struct err e = {0};
	struct store *s = open_store(true);
	auto_json json_t *hosts = json_pack("{s:{s:s,s:s,s:s}}", "tx", "kernel", "6.1.0", "boot_id",
					    boot, "cpu", "x");
	struct store_run r = {.name = "x", .hosts = hosts};
	struct stats_rng rng;
	stats_rng_seed(&rng, seed);
	assert_int_equal(store_begin_run(s, &r, &e), 0);
	for (int i = 0; i < n; i++) {
		int64_t trial;
		auto_json json_t *values = json_pack("{s:i}", "param.x", base + i);
		assert_int_equal(store_add_trial(s, r.id, i ? "search" : "baseline", values, NULL,
						 &trial, &e),
				 0);
		add(s, trial, level * (1 + i) * exp(noise * stats_rng_normal(&rng)));
	}
	struct observations o = observe_run(s, r.id);
	store_close(s);
	return o;
}

static json_t *compare(struct observations *a, struct observations *b)
{
	struct err e = {0};
	json_t *c = NULL;
	if (compare_make(a, b, "A", "B", &c, &e)) {
		fail_msg("%s", e.text);
	}
	observations_clear(a);
	observations_clear(b);
	return c;
}

static const json_t *throughput(const json_t *c)
{
	return json_object_get(json_object_get(c, "metrics"), "throughput");
}

static double bound(const json_t *c, size_t i)
{
	return json_number_value(json_array_get(json_object_get(throughput(c), "interval"), i));
}

static bool says(const json_t *c, const char *text)
{
	size_t i;
	json_t *word;
	json_array_foreach(json_object_get(c, "words"), i, word)
	{
		if (strstr(json_string_value(word), text)) {
			return true;
		}
	}
	return false;
}

/* Configurations differ by 30 times, the machines by 4 %: only pairs can see it. */
static void pairs_see_small_differences(void **state)
{
	(void)state;
	struct observations a = sweep("boot1", 1e9, 30, 0.01, 1, 0),
			    b = sweep("boot1", 1.04e9, 30, 0.01, 2, 0);
	auto_json json_t *c = compare(&a, &b);
	assert_string_equal(json_get_text(c, "how", ""), "paired");
	assert_int_equal(json_integer_value(json_object_get(c, "pairs")), 30);
	assert_true(bound(c, 0) > 3 && bound(c, 0) < 4 && bound(c, 1) > 4 && bound(c, 1) < 5);
	assert_true(json_is_true(json_object_get(c, "enough")));
	assert_true(says(c, "better in throughput, 95 % interval"));
}

static void nothing_to_see(void **state)
{
	(void)state;
	struct observations a = sweep("boot1", 1e9, 30, 0.01, 1, 0),
			    b = sweep("boot1", 1e9, 30, 0.01, 2, 0);
	auto_json json_t *c = compare(&a, &b);
	assert_true(json_is_false(json_object_get(throughput(c), "significant")));
	assert_true(says(c, "no difference larger than "));
}

static void one_boot_each_is_too_little(void **state)
{
	(void)state;
	struct observations a = sweep("boot1", 1e9, 30, 0.01, 1, 0),
			    b = sweep("boot2", 0.86e9, 30, 0.01, 2, 0);
	auto_json json_t *c = compare(&a, &b);
	assert_true(json_is_false(json_object_get(c, "enough")));
	assert_true(says(c, "Too little to tell"));
	assert_true(says(c, "one boot each"));
}

static void imported_boots(void **state)
{
	(void)state;
	struct observations a = observe_text("kernel,boot,throughput\n6.1,1,100\n6.1,2,112\n"
					     "6.1,3,93\n6.1,4,104\n");
	unlink(path);
	struct observations b = observe_text("kernel,boot,throughput\n6.2,5,86\n6.2,6,79\n"
					     "6.2,7,90\n6.2,8,84\n");
	auto_json json_t *c = compare(&a, &b);
	assert_string_equal(json_get_text(c, "how", ""), "boots");
	assert_true(json_is_true(json_object_get(c, "enough")));
	/* Welch by hand: logs differ by -0.1873, standard error 0.0471, 5.5 degrees: t = 2.50 */
	assert_true(fabs(json_get_number(throughput(c), "percent") + 17.0) < 0.3);
	assert_true(bound(c, 0) < -25 && bound(c, 0) > -28 && bound(c, 1) < -5);
	assert_true(says(c, "kernel: 6.1 in A, 6.2 in B"));
	assert_true(says(c, "worse in throughput"));
}

static void baselines_where_nothing_else_is_common(void **state)
{
	(void)state;
	struct observations a = sweep("boot1", 1e9, 10, 0.01, 1, 0),
			    b = sweep("boot1", 1e9, 10, 0.01, 2, 100);
	auto_json json_t *c = compare(&a, &b);
	assert_string_equal(json_get_text(c, "how", ""), "unpaired");
	assert_true(says(c, "too few samples for an interval"));
	struct observations one = observe_text("kernel,rmem_max,throughput\n6.1,1,5\n");
	unlink(path);
	struct observations other = observe_text("kernel,rmem_max,throughput\n6.1,2,5\n");
	struct err e = {0};
	json_t *none = NULL;
	assert_int_equal(compare_make(&one, &other, "A", "B", &none, &e), -EINVAL);
	assert_non_null(strstr(e.text, "nothing to compare"));
	observations_clear(&one);
	observations_clear(&other);
}

static void unknown_boots_are_said(void **state)
{
	(void)state;
	struct observations a = observe_text("throughput\n5\n6\n5\n6\n"),
			    b = observe_text("throughput\n5\n6\n5\n6\n");
	auto_json json_t *c = compare(&a, &b);
	assert_true(says(c, "boots are not known"));
}

/* Of 400 comparisons of equals, about 5 % may see a difference (two standard errors: 2.2 %). */
static void intervals_keep_their_level(void **state)
{
	(void)state;
	struct stats_rng rng;
	int wrong = 0, tight = 0;
	stats_rng_seed(&rng, 7);
	for (int round = 0; round < 400; round++) {
		double a[8], b[6];
		for (int i = 0; i < 8; i++) {
			a[i] = stats_rng_normal(&rng);
			b[i % 6] = stats_rng_normal(&rng) + 3;
		}
		struct interval r = stats_shift(a, 8, b, 6, 0.95);
		wrong += r.lo > 3 || r.hi < 3;
		tight += r.hi - r.lo < 3.5;
	}
	assert_true(wrong <= 29);
	assert_true(tight > 300);
}

/* Critical values of Hollander, Wolfe, Chicken, table A.6: n = m = 4, tail 0.0143: U = 0. */
static void exact_where_few(void **state)
{
	(void)state;
	static const double a[] = {1, 2, 3, 4}, b[] = {11, 12, 13, 14};
	struct interval r = stats_shift(a, 4, b, 4, 0.95);
	assert_true(r.estimate == 10 && r.lo == 7 && r.hi == 13);
	r = stats_shift(a, 3, b, 3, 0.95);
	assert_true(isinf(r.lo) && isinf(r.hi));
	r = stats_shift(a, 0, b, 3, 0.95);
	assert_true(isnan(r.estimate));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(pairs_see_small_differences),
		IN_FOLDER(nothing_to_see),
		IN_FOLDER(one_boot_each_is_too_little),
		IN_FOLDER(imported_boots),
		IN_FOLDER(baselines_where_nothing_else_is_common),
		IN_FOLDER(unknown_boots_are_said),
		cmocka_unit_test(intervals_keep_their_level),
		cmocka_unit_test(exact_where_few),
	};
	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
