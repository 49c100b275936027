/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The gain over several boots: boots are counted once, a mean of boots has the interval of so few,
 * and one boot alone says nothing over boots.
 */
#include "boots.h"
#include "cleanup.h"
#include "json_util.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void add(json_t *result, const char *boot, double percent)
{
	struct boot_gain g = {.boot = boot,
			      .pairs = 9,
			      .score = {percent, percent - 1, percent + 1, 0.95},
			      .throughput = {percent, 0, 0, 0.95},
			      .service_demand = {NAN, NAN, NAN, NAN}};
	boots_add(result, &g);
}

static double bound(const json_t *result, size_t i)
{
	const json_t *interval = json_object_get(json_object_get(result, "boots"), "interval");
	return json_number_value(json_array_get(interval, i));
}

/* log1p of 10, 11 and 12 %: mean 0.10436, sd 0.009009, t(0.975, 2) = 4.3027 */
static void a_mean_of_boots_has_students_interval(void **state)
{
	(void)state;
	auto_json json_t *result = json_object();
	boots_begin(result, 3);
	assert_int_equal(3, boots_wanted(result));
	add(result, "a", 10);
	const json_t *boots = json_object_get(result, "boots");
	assert_true(json_is_null(json_object_get(boots, "percent")));
	assert_false(json_is_true(json_object_get(boots, "significant")));
	add(result, "b", 11);
	add(result, "c", 12);
	assert_int_equal(3, boots_counted(result));
	assert_true(fabs(json_get_number(boots, "percent") - 10.997) < 0.002);
	assert_true(fabs(bound(result, 0) - 8.544) < 0.01);
	assert_true(fabs(bound(result, 1) - 13.505) < 0.01);
	assert_true(json_is_true(json_object_get(boots, "significant")));
	assert_true(boots_has(result, "b") && !boots_has(result, "d"));
}

/* Pairs of each boot agree well, boots do not: that is what counts. */
static void boots_that_disagree_prove_nothing(void **state)
{
	(void)state;
	auto_json json_t *result = json_object();
	boots_begin(result, 3);
	add(result, "a", 12);
	add(result, "b", -3);
	add(result, "c", 9);
	assert_false(
		json_is_true(json_object_get(json_object_get(result, "boots"), "significant")));
	assert_true(bound(result, 0) < 0 && bound(result, 1) > 0);
}

static void nobody_asked_for_boots(void **state)
{
	(void)state;
	auto_json json_t *result = json_pack("{s:s}", "recommended", "best");
	assert_int_equal(0, boots_wanted(result));
	assert_int_equal(0, boots_counted(result));
	assert_false(boots_has(result, "a"));
	assert_int_equal(0, boots_wanted(NULL));
}

static void hosts_of_one_boot_are_one(void **state)
{
	(void)state;
	char id[64];
	auto_json json_t *hosts = json_pack("{s:{s:s}, s:{s:s}, s:{s:s}, s:{s:n}}", "x", "boot_id",
					    "2", "y", "boot_id", "1", "z", "boot_id", "2", "w",
					    "boot_id");
	boots_id(hosts, id, sizeof(id));
	assert_string_equal("1 + 2", id);
	auto_json json_t *none = json_object();
	boots_id(none, id, sizeof(id));
	assert_string_equal("", id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mean_of_boots_has_students_interval),
		cmocka_unit_test(boots_that_disagree_prove_nothing),
		cmocka_unit_test(nobody_asked_for_boots),
		cmocka_unit_test(hosts_of_one_boot_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
