/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples far from the others: told, with what was different about them, and never in small
 * numbers or where all are alike.
 */
#include "cleanup.h"
#include "json_util.h"
#include "outliers.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N 12

static void samples_make(struct sample s[N])
{
	for (int i = 0; i < N; i++) {
		sample_init(&s[i]);
		s[i].ok = true;
		s[i].m[METRIC_THROUGHPUT] = 1e10 + 1e8 * (i * 5 % 7);
		s[i].m[METRIC_SERVICE_DEMAND] = 0.5 + 0.005 * (i * 3 % 7);
		s[i].m[METRIC_RETRANSMITS] = i % 3;
		s[i].m[METRIC_SECONDS] = 0.1;
		s[i].detail = json_loads(
			"{\"sender\": {\"cpu_busy\": 0.15, \"cpu_self\": 0.14, "
			"\"seconds\": 0.1, \"cpus\": 2, \"cpu_background\": 0.02, "
			"\"stolen_by_spin\": 0.01, \"counters\": {\"rx_pause\": 0}}}",
			0, NULL);
		assert_non_null(s[i].detail);
	}
}

static void samples_clear(struct sample s[N])
{
	for (int i = 0; i < N; i++) {
		sample_clear(&s[i]);
	}
}

static void sender_set(struct sample *s, const char *key, double value)
{
	json_object_set_new(json_object_get(s->detail, "sender"), key, json_real(value));
}

static const char *why(const json_t *outlier, size_t i)
{
	const char *text = json_string_value(json_array_get(json_object_get(outlier, "why"), i));
	return text ? text : "";
}

static void test_none(void **state)
{
	(void)state;
	struct sample s[N];
	samples_make(s);
	auto_json json_t *found = outliers_find(s, N);
	assert_int_equal(json_array_size(found), 0);
	/* of a few nobody knows which is the odd one, and what failed is none */
	s[3].m[METRIC_THROUGHPUT] = 1;
	auto_json json_t *few = outliers_find(s, OUTLIERS_FROM - 1);
	assert_int_equal(json_array_size(few), 0);
	s[3].ok = false;
	auto_json json_t *failed = outliers_find(s, N);
	assert_int_equal(json_array_size(failed), 0);
	auto_json json_t *nothing = outliers_find(NULL, 0);
	assert_int_equal(json_array_size(nothing), 0);
	samples_clear(s);
}

static void test_alike(void **state)
{
	(void)state;
	struct sample s[N];
	samples_make(s);
	for (int i = 0; i < N; i++) {
		s[i].m[METRIC_THROUGHPUT] = 1e9;
	}
	s[5].m[METRIC_THROUGHPUT] = 1.04e9; /* no spread at all: a little is not far */
	auto_json json_t *found = outliers_find(s, N);
	assert_int_equal(json_array_size(found), 0);
	samples_clear(s);
}

static void test_reasons(void **state)
{
	(void)state;
	struct sample s[N];
	samples_make(s);
	s[4].m[METRIC_THROUGHPUT] = 5.15e9;
	sender_set(&s[4], "cpu_busy", 0.19);
	sender_set(&s[4], "cpu_self", 0.07);
	sender_set(&s[4], "stolen_by_spin", 0.4);
	s[9].m[METRIC_THROUGHPUT] = 2e10;
	s[7].m[METRIC_SERVICE_DEMAND] = 0.9;
	s[7].m[METRIC_RETRANSMITS] = 500;
	s[7].m[METRIC_SECONDS] = 0.7;
	sender_set(&s[7], "cpu_background", 0.5);
	json_object_set_new(json_object_get(s[7].detail, "sender"), "counters",
			    json_pack("{s:f, s:f, s:f}", "rx_drops", 40.0, "softnet_drops", 2.0,
				      "rx_pause", 77.0));
	auto_json json_t *found = outliers_find(s, N);
	assert_int_equal(json_array_size(found), 3);
	json_t *low = json_array_get(found, 0), *high = json_array_get(found, 1),
	       *dear = json_array_get(found, 2);
	assert_true(json_get_number(low, "sample") == 5);
	assert_string_equal(json_get_text(low, "metric", ""), "throughput");
	assert_true(fabs(json_get_number(low, "percent") + 50) < 1);
	assert_int_equal(json_array_size(json_object_get(low, "why")), 2);
	assert_string_equal(why(low, 0),
			    "60 % of the CPUs were others' (5 % in the median sample)");
	assert_string_equal(why(low, 1), "a hypervisor took up to 40 % of a CPU away (1 %)");
	/* nothing that was measured tells */
	assert_true(json_get_number(high, "sample") == 10);
	assert_int_equal(json_array_size(json_object_get(high, "why")), 0);
	assert_true(json_get_number(dear, "sample") == 8);
	assert_string_equal(json_get_text(dear, "metric", ""), "service_demand");
	assert_int_equal(json_array_size(json_object_get(dear, "why")), 5);
	assert_string_equal(why(dear, 0), "50 % of the CPUs were busy before it (2 %)");
	assert_string_equal(why(dear, 1), "500 retransmits (1)");
	assert_string_equal(why(dear, 2), "42 packets dropped on arrival (0)");
	assert_string_equal(why(dear, 3), "77 pause frames received (0)");
	assert_string_equal(why(dear, 4), "its window was 0.700 s long (0.100 s)");
	samples_clear(s);
}

/* Engines that leave no detail. */
static void test_no_detail(void **state)
{
	(void)state;
	struct sample s[N];
	samples_make(s);
	for (int i = 0; i < N; i++) {
		json_decref(s[i].detail);
		s[i].detail = NULL;
		s[i].m[METRIC_SERVICE_DEMAND] = NAN;
	}
	s[0].m[METRIC_THROUGHPUT] = 1e9;
	auto_json json_t *found = outliers_find(s, N);
	assert_int_equal(json_array_size(found), 1);
	assert_int_equal(json_array_size(json_object_get(json_array_get(found, 0), "why")), 0);
	samples_clear(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_no_detail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
