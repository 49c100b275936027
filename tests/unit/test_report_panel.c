/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report says of the best under other tests: a row a test, an empty cell where a test does
 * not know a number, the word where it is worse, and nothing at all without a panel.
 */
#include "cleanup.h"
#include "report.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *report_of(json_t *panel, const char *format)
{
	auto_json json_t *run = json_pack("{s:s, s:s, s:s, s:[], s:{s:s, s:o?}}", "run",
					  "20310310-020000-1", "name", "x", "status", "complete",
					  "trials", "result", "run", "20310310-020000-1", "panel",
					  panel);
	char *text = NULL;
	size_t size;
	struct err e = {0};
	FILE *f = open_memstream(&text, &size);
	assert_non_null(run);
	if (report_write(run, format, f, &e)) {
		fail_msg("%s", e.text);
	}
	fclose(f);
	return text;
}

static json_t *two_tests(void)
{
	return json_pack("[{s:s, s:i, s:b, s:f, s:f, s:n}, {s:s, s:i, s:b, s:n, s:n, s:f}]", "test",
			 "16 streams", "pairs", 6, "worse", 1, "throughput_percent", -20.04,
			 "service_demand_percent", 1.5, "latency_p99_percent", "test",
			 "request and response", "pairs", 6, "worse", 0, "throughput_percent",
			 "service_demand_percent", "latency_p99_percent", -3.0);
}

/* The line that begins with (blanks and) this word. */
static void line_of(const char *text, const char *word, char line[256])
{
	const char *at = strstr(text, word);
	assert_non_null(at);
	snprintf(line, 256, "%.*s", (int)strcspn(at, "\n"), at);
}

static void each_test_has_its_row(void **state)
{
	char line[256];
	(void)state;
	auto_free char *text = report_of(two_tests(), "text");
	assert_non_null(strstr(text, "The best under other tests"));
	line_of(text, "16 streams", line);
	assert_non_null(strstr(line, "-20.0 %"));
	assert_non_null(strstr(line, "+1.5 %"));
	assert_non_null(strstr(line, "worse"));
	line_of(text, "request and response", line);
	assert_non_null(strstr(line, "-3.0 %"));
	assert_null(strstr(line, "worse"));
	assert_null(strstr(line, "nan"));
}

static void html_has_them_too(void **state)
{
	(void)state;
	auto_free char *text = report_of(two_tests(), "html");
	assert_non_null(strstr(text, "The best under other tests"));
	assert_non_null(strstr(text, "16 streams"));
	assert_null(strstr(text, "nan"));
}

static void without_one_nothing_is_said(void **state)
{
	(void)state;
	auto_free char *none = report_of(NULL, "text");
	auto_free char *empty = report_of(json_array(), "text");
	assert_null(strstr(none, "other tests"));
	assert_null(strstr(empty, "other tests"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_test_has_its_row),
		cmocka_unit_test(html_has_them_too),
		cmocka_unit_test(without_one_nothing_is_said),
	};
	return cmocka_run_group_tests_name("report panel", tests, NULL, NULL);
}
