/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report made of what is read for it is the one that is made of the whole record, letter by
 * letter, though most of the record stays in the store.
 */
#include "report.h"
#include "store_fixture.h"
#include <math.h>

enum { TRIALS = 30, ASTRAY_FROM = 20 };

static json_t *detail_of(int i)
{
	int astray = i >= ASTRAY_FROM ? 40 + i : 0;
	return json_pack("{s:[[i,i],[i,i]], s:{s:{s:{s:{s:i, s:i}, s:s, s:i, s:{s:i}}}}}",
			 "intervals", 0, 0, 1, 100 + i, "interrupts", "receiver", "eth0", "cpus",
			 "0", 300, "2", astray, "meant", "0", "astray", astray, "astray_cpus", "2",
			 astray);
}

static void add_trial(struct store *s, const char *run, int i)
{
	struct err e = {0};
	struct sample m;
	int64_t trial;
	auto_json json_t *values = json_pack("{s:i}", "param.x", i % 25);
	assert_int_equal(
		store_add_trial(s, run, i ? "search" : "baseline", values, NULL, &trial, &e), 0);
	for (int k = 0; k <= i % 3; k++) {
		sample_init(&m);
		m.ok = i % 7 != 6;
		m.m[METRIC_THROUGHPUT] = m.ok ? 1e9 + i : NAN;
		m.m[METRIC_SECONDS] = 2;
		m.m[METRIC_CWND] = k;
		snprintf(m.limited_by, sizeof(m.limited_by), "%s", i % 2 ? "cpu" : "");
		if (m.ok) {
			m.detail = detail_of(i);
		} else {
			sample_fail(&m, "no answer %d", i % 2);
		}
		assert_int_equal(store_add_sample(s, trial, &m, m.ok ? 100 - i : NAN, &e), 0);
		sample_clear(&m);
	}
}

static void make_run(struct store *s, struct store_run *r)
{
	struct err e = {0};
	*r = (struct store_run){.name = "many", .spec = "-", .spec_sha = "0"};
	assert_int_equal(store_begin_run(s, r, &e), 0);
	for (int i = 0; i < TRIALS; i++) {
		add_trial(s, r->id, i);
	}
	auto_json json_t *result = json_pack("{s:{s:{s:i}}, s:{s:{s:i}}}", "baseline", "values",
					     "param.x", 0, "best", "values", "param.x", 3);
	assert_int_equal(store_end_run(s, r->id, "complete", result, &e), 0);
}

static char *written(const json_t *run, const char *format)
{
	char *text = NULL;
	size_t size;
	struct err e = {0};
	FILE *f = open_memstream(&text, &size);
	assert_int_equal(report_write(run, format, f, &e), 0);
	fclose(f);
	return text;
}

static void the_report_is_that_of_the_whole_record(void **state)
{
	(void)state;
	static const char *const formats[] = {"text", "html", "md", "csv", "json"};
	struct err e = {0};
	struct store *s = open_store(true);
	struct store_run r;
	make_run(s, &r);
	auto_json json_t *whole = get(s, r.id);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		auto_json json_t *run = NULL;
		assert_int_equal(report_read(s, i ? "latest" : r.id, formats[i], &run, &e), 0);
		auto_free char *wanted = written(whole, formats[i]), *is = written(run, formats[i]);
		assert_string_equal(wanted, is);
		/* of all samples, not only of those that are shown over time */
		bool told = i < 3 && strstr(is, "eth0 of receiver");
		assert_true(told == (i < 3));
	}
	auto_json json_t *none = NULL;
	assert_true(report_read(s, "nothing", "text", &none, &e) < 0);
	store_close(s);
}

static void only_what_is_shown_is_read(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	struct store_run r;
	auto_json json_t *run = NULL;
	make_run(s, &r);
	assert_int_equal(report_read(s, r.id, "html", &run, &e), 0);
	assert_int_equal(json_object_size(json_object_get(run, "details")), 24);
	json_t *one = (json_t *)first_sample(run);
	assert_int_equal(json_object_size(one), 5); /* sample, ok, score, throughput, seconds */
	assert_null(json_object_get(one, "detail"));
	assert_null(json_object_get(one, "cwnd"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(the_report_is_that_of_the_whole_record),
		IN_FOLDER(only_what_is_shown_is_read),
	};
	return cmocka_run_group_tests_name("report_read", tests, NULL, NULL);
}
