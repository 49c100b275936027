/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples far from the others in reports: which details are read for them, and what is said.
 */
#include "report_fixture.h"

#define ODD 27 /* number of the sample that is odd */

/* A third trial of 24 samples from number 21 on, as a proof leaves it: one of them far off. */
static json_t *with_an_outlier(void)
{
	json_t *run = recorded(), *samples = json_array();
	for (int i = 21; i <= 44; i++) {
		json_array_append_new(samples,
				      json_pack("{s:i, s:b, s:f, s:f, s:f}", "sample", i, "ok", 1,
						"throughput", i == ODD ? 5e8 : 1e9 + 1e6 * (i % 5),
						"service_demand", 0.5, "retransmits",
						i == ODD ? 900.0 : 2.0));
	}
	json_array_append_new(json_object_get(run, "trials"),
			      json_pack("{s:i, s:s, s:{s:i}, s:o}", "trial", 4, "phase", "proof",
					"values", "x", 1, "samples", samples));
	return run;
}

static json_t *detail_busy(double busy)
{
	return json_pack("{s:{s:f, s:f, s:f, s:i, s:{}}}", "sender", "cpu_busy", busy, "cpu_self",
			 0.5, "seconds", 1.0, "cpus", 2, "counters");
}

static bool is_wanted(const int64_t *chosen, size_t n, int64_t sample)
{
	for (size_t i = 0; i < n; i++) {
		if (chosen[i] == sample) {
			return true;
		}
	}
	return false;
}

/* It is the first that is shown, and others of its trial are read along, to compare. */
static void details_of_outliers(void **state)
{
	(void)state;
	int64_t chosen[REPORT_DETAILS], few[REPORT_SHOWN];
	auto_json json_t *run = with_an_outlier();
	size_t n = report_detail_samples(run, chosen, REPORT_DETAILS), beside = 0;
	assert_int_equal(chosen[0], ODD);
	for (size_t i = 0; i < n; i++) {
		beside += chosen[i] > 20 && chosen[i] != ODD;
		assert_false(is_wanted(chosen, i, chosen[i]));
	}
	assert_true(is_wanted(chosen, n, 1) && is_wanted(chosen, n, 2));
	assert_false(is_wanted(chosen, n, 3)); /* failed */
	assert_true(beside >= 12);
	assert_int_equal(report_detail_samples(run, few, REPORT_SHOWN), REPORT_SHOWN);
	assert_int_equal(few[0], ODD);
}

/* Named in each format with what was different; the details of a few others are enough for that. */
static void outliers_are_told(void **state)
{
	(void)state;
	static const char *const formats[] = {"text", "md", "html"};
	auto_json json_t *run = with_an_outlier(), *none = recorded();
	json_t *details = json_object();
	json_object_set_new(run, "details", details);
	json_object_set_new(details, "27", detail_busy(1.9));
	json_object_set_new(details, "22", detail_busy(0.6));
	json_object_set_new(details, "23", detail_busy(0.6));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		auto_free char *text = as(run, formats[i]), *quiet = as(none, formats[i]);
		assert_non_null(strstr(text, "Samples far from the others"));
		assert_non_null(strstr(text, "-50 %"));
		assert_non_null(strstr(text, "70 % of the CPUs were others"));
		assert_non_null(strstr(text, "900 retransmits (2)"));
		assert_null(strstr(quiet, "Samples far from the others"));
	}
	auto_json json_t *data = report_data(run);
	json_t *outliers = json_object_get(data, "outliers"), *one = json_array_get(outliers, 0);
	assert_int_equal(json_array_size(outliers), 1);
	assert_int_equal(json_integer_value(json_object_get(one, "sample")), ODD);
	assert_int_equal(json_integer_value(json_object_get(one, "trial")), 4);
	assert_string_equal(json_string_value(json_object_get(one, "metric")), "throughput");
	assert_int_equal(json_array_size(json_object_get(one, "why")), 2);
	size_t i;
	json_t *shown;
	bool titled = false;
	json_array_foreach(json_object_get(data, "details"), i, shown)
	{
		titled |= !strcmp(json_string_value(json_object_get(shown, "title")),
				  "27 (other, outlier)");
	}
	assert_true(titled);
	/* and what failed, by its reason */
	const json_t *failed = json_object_get(json_object_get(data, "failures"),
					       "host receiver: \"no\" answer <10 s>,\nat all");
	assert_int_equal(json_array_size(failed), 2);
	assert_int_equal(json_integer_value(json_array_get(failed, 1)), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(details_of_outliers),
		cmocka_unit_test(outliers_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
