/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples and their JSON: what is not known is null, and it parses whatever other programs wrote.
 */
#include "cleanup.h"
#include "json_util.h"
#include "sample.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void metric_table(void **state)
{
	(void)state;
	for (int m = 0; m < METRIC_COUNT; m++) {
		assert_non_null(metric_name(m));
		assert_non_null(metric_unit(m));
		assert_int_equal(metric_find(metric_name(m)), m);
	}
	assert_int_equal(metric_find("limited_by"), -1);
	assert_int_equal(metric_find(""), -1);
}

static void copies_own_their_detail(void **state)
{
	(void)state;
	struct sample a, b;
	sample_init(&a);
	assert_false(a.ok);
	assert_true(isnan(a.m[METRIC_THROUGHPUT]) && isnan(a.cpu_error) && isnan(a.warmup));
	a.detail = json_pack("{s:i}", "x", 1);
	sample_copy(&b, &a);
	sample_clear(&a);
	assert_null(a.detail);
	assert_int_equal(json_integer_value(json_object_get(b.detail, "x")), 1);
	sample_clear(&b);
	sample_clear(&b);
}

static void metrics_by_name(void **state)
{
	(void)state;
	struct sample s;
	sample_init(&s);
	s.m[METRIC_RTT] = 20;
	s.n_extra = 1;
	strcpy(s.extra[0].name, "jitter");
	s.extra[0].value = 3;
	assert_true(sample_metric(&s, "rtt") == 20);
	assert_true(sample_metric(&s, "jitter") == 3);
	assert_true(isnan(sample_metric(&s, "cwnd")));
	assert_true(isnan(sample_metric(&s, "nothing")));
}

static void json_always_parses(void **state)
{
	(void)state;
	struct sample s;
	sample_init(&s);
	assert_int_equal(sample_fail(&s, "exit status %d: \xff\xc3(\xed\xa0\x80 \"x\"\n\x1b[2J", 7),
			 -EIO);
	s.m[METRIC_THROUGHPUT] = INFINITY;
	s.m[METRIC_RTT] = 0.1;
	s.n_extra = 1;
	strcpy(s.extra[0].name, "\xfe");
	s.extra[0].value = -INFINITY;
	strcpy(s.limited_by, "\xf5");
	auto_json json_t *o = sample_to_json(&s);
	auto_free char *text = json_dumps(o, 0);
	assert_non_null(text);
	auto_json json_t *back = json_loads(text, 0, NULL);
	assert_non_null(back);
	assert_true(json_is_null(json_object_get(back, "throughput")));
	assert_true(json_is_null(json_object_get(back, "service_demand")));
	assert_true(json_get_number(back, "rtt") == 0.1);
	assert_non_null(strstr(json_get_text(back, "reason", ""), "exit status 7"));
	for (int m = 0; m < METRIC_COUNT; m++) {
		assert_non_null(json_object_get(back, metric_name(m)));
	}
	s.ok = true; /* as when a second try has worked */
	auto_json json_t *good = sample_to_json(&s);
	assert_true(json_is_null(json_object_get(good, "reason")));
}

static void helpers_are_lenient(void **state)
{
	(void)state;
	assert_true(isnan(json_get_number(NULL, "x")));
	assert_string_equal(json_get_text(NULL, "x", "none"), "none");
	auto_json json_t *o = json_pack("{s:i, s:s, s:n}", "i", 5, "s", "t", "n");
	assert_true(json_get_number(o, "i") == 5);
	assert_true(isnan(json_get_number(o, "s")));
	assert_string_equal(json_get_text(o, "n", "none"), "none");
	auto_json json_t *fine = json_text_or_null("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_string_equal(json_string_value(fine), "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	auto_json json_t *cut = json_text_or_null("a\xe2\x82");
	assert_string_equal(json_string_value(cut), "a\xef\xbf\xbd\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metric_table),	       cmocka_unit_test(copies_own_their_detail),
		cmocka_unit_test(metrics_by_name),     cmocka_unit_test(json_always_parses),
		cmocka_unit_test(helpers_are_lenient),
	};
	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
