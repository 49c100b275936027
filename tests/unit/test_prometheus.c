/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs in Prometheus' text format: base units, the newest of each name, labels that stay within
 * their quotes, and nothing where nothing is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "export_private.h"
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newest first, as the store lists them. */
static const char runs[] =
	"[{\"run\": \"r3\", \"name\": \"a\", \"status\": \"complete\", \"started\": "
	"\"2026-01-02T03:04:05Z\", \"samples\": 60, \"failed\": 2, \"seconds\": 1.5,"
	"  \"throughput\": 2e9, \"service_demand\": 2.048, \"gain\": {\"percent\": -12.5}},"
	" {\"run\": \"r2\", \"name\": \"q\\\"b\\\\n\\nx\", \"status\": \"failed\", \"started\": "
	"null,"
	"  \"samples\": 4, \"failed\": 4, \"seconds\": 2, \"throughput\": null,"
	"  \"service_demand\": null, \"gain\": null},"
	" {\"run\": \"r1\", \"name\": \"a\", \"status\": \"complete\", \"started\": "
	"\"2026-01-01T00:00:00Z\", \"samples\": 7, \"failed\": 0, \"seconds\": 9,"
	"  \"throughput\": 1e9, \"service_demand\": 1, \"gain\": {\"percent\": 3}}]";

static char *exported(const char *name)
{
	char *text = NULL;
	size_t size;
	auto_json json_t *list = json_loads(runs, 0, NULL);
	assert_non_null(list);
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	export_prometheus(list, name, out);
	fclose(out);
	return text;
}

/* The value of a metric of a run: the number behind its labels. */
static double value(const char *text, const char *metric, const char *run)
{
	char start[80], label[40];
	snprintf(start, sizeof(start), "\n%s{", metric);
	snprintf(label, sizeof(label), ",run=\"%s\",", run);
	for (const char *l = text; (l = strstr(l, start)); l++) {
		const char *end = strchr(l + 1, '\n'), *at = strstr(l, label);
		if (at && at < end) {
			return strtod(strstr(at, "} ") + 2, NULL);
		}
	}
	fail_msg("no %s of %s in: %s", metric, run, text);
	return 0;
}

static void base_units(void **state)
{
	(void)state;
	auto_free char *text = exported(NULL);
	assert_true(value(text, "tunesweep_throughput_bits_per_second", "r3") == 2e9);
	double demand = value(text, "tunesweep_service_demand_seconds_per_byte", "r3");
	assert_true(demand > 1.9999e-9 && demand < 2.0001e-9); /* 2.048 us/KB of 1024 bytes */
	assert_true(value(text, "tunesweep_gain_ratio", "r3") == -0.125);
	assert_true(value(text, "tunesweep_samples", "r3") == 60);
	assert_true(value(text, "tunesweep_failed_samples", "r3") == 2);
	assert_true(value(text, "tunesweep_duration_seconds", "r3") == 1.5);
	assert_true(value(text, "tunesweep_started_timestamp_seconds", "r3") == 1767323045);
	assert_true(value(text, "tunesweep_failed_samples", "r2") == 4);
}

static void newest_of_each_name(void **state)
{
	(void)state;
	auto_free char *all = exported(NULL), *one = exported("a"), *none = exported("b");
	assert_null(strstr(all, "run=\"r1\""));
	assert_null(strstr(one, "run=\"r2\""));
	assert_true(value(one, "tunesweep_samples", "r3") == 60);
	assert_null(strstr(none, "run=\""));
	assert_non_null(strstr(none, "# TYPE tunesweep_samples gauge\n"));
}

static void unknown_is_left_out(void **state)
{
	(void)state;
	auto_free char *text = exported(NULL);
	for (const char *l = text; (l = strstr(l, "run=\"r2\"")); l++) {
		const char *start = l;
		while (start > text && start[-1] != '\n') {
			start--;
		}
		assert_true(!strncmp(start, "tunesweep_samples{", 18) ||
			    !strncmp(start, "tunesweep_failed_samples{", 25) ||
			    !strncmp(start, "tunesweep_duration_seconds{", 27));
	}
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "null"));
}

static void labels_stay_within_their_quotes(void **state)
{
	(void)state;
	auto_free char *text = exported(NULL);
	assert_non_null(
		strstr(text, "{name=\"q\\\"b\\\\n\\nx\",run=\"r2\",status=\"failed\"} 4\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_units),
		cmocka_unit_test(newest_of_each_name),
		cmocka_unit_test(unknown_is_left_out),
		cmocka_unit_test(labels_stay_within_their_quotes),
	};
	return cmocka_run_group_tests_name("prometheus", tests, NULL, NULL);
}
