/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports of a recorded run against the files in tests/golden (UPDATE_GOLDEN=1 writes them anew),
 * and of runs where something is missing. Names in the recording try to break each format.
 */
#include "report_fixture.h"
#include <locale.h>
#include <math.h>
#include <sys/stat.h>

static char *slurp(const char *path)
{
	auto_fclose FILE *f = fopen(path, "r");
	char *buf = calloc(1, 1 << 20);
	if (f) {
		fread(buf, 1, (1 << 20) - 1, f);
	}
	return buf;
}

static void assert_golden(const char *format, const char *path)
{
	auto_json json_t *run = recorded();
	auto_free char *text = as(run, format);
	if (getenv("UPDATE_GOLDEN")) {
		struct err e = {0};
		assert_int_equal(report_save(run, format, path, &e), 0);
	}
	auto_free char *golden = slurp(path);
	assert_string_equal(text, golden);
}

/* Interrupts that came elsewhere are told with the CPUs' counts; a few late ones are not. */
static void interrupts_astray_are_a_warning(void **state)
{
	static const char *const formats[] = {"text", "md", "html"};
	(void)state;
	auto_json json_t *run = recorded();
	json_t *few = json_pack("{s:{s:{s:{s:{s:i, s:i}, s:s, s:i, s:{s:i}}}}}", "interrupts",
				"receiver", "eth0", "cpus", "0", 1, "2", 400, "effective", "2",
				"astray", 1, "astray_cpus", "0", 1);
	json_t *many = json_pack("{s:{s:{s:{s:{s:i, s:i, s:i}, s:s, s:i, s:{s:i, s:i}}}}}",
				 "interrupts", "receiver", "eth0", "cpus", "0", 300, "2", 97, "5",
				 3, "effective", "2", "astray", 303, "astray_cpus", "0", 300, "5",
				 3);
	json_t *first = json_array_get(json_object_get(run, "trials"), 0);
	json_t *sample = json_array_get(json_object_get(first, "samples"), 0);
	json_object_set_new(run, "details", json_object());
	json_object_set_new(json_object_get(run, "details"), "1", few);
	auto_free char *silent = as(run, "text");
	assert_null(strstr(silent, "Interrupts astray"));
	json_object_set_new(sample, "detail", many);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		auto_free char *text = as(run, formats[i]);
		assert_non_null(strstr(text, "Interrupts astray"));
		assert_non_null(strstr(text, "eth0 of receiver"));
		assert_non_null(strstr(text, "CPU 0: 300, CPU 5: 3"));
	}
}

static void text_as_recorded(void **state)
{
	(void)state;
	assert_golden("text", "tests/golden/report.txt");
}

/* What stands before the scripts, without the style sheet. */
static void html_as_recorded(void **state)
{
	(void)state;
	auto_json json_t *run = recorded();
	auto_free char *html = as(run, "html");
	char *style = strstr(html, "<style>"), *body = strstr(html, "</style>");
	char *script = strstr(html, "<noscript>");
	assert_true(style && body && script);
	memmove(style, body, (size_t)(script - body));
	style[script - body] = 0;
	if (getenv("UPDATE_GOLDEN")) {
		auto_fclose FILE *f = fopen("tests/golden/report.html", "w");
		fputs(html, f);
	}
	auto_free char *golden = slurp("tests/golden/report.html");
	assert_string_equal(html, golden);
}

static void md_as_recorded(void **state)
{
	(void)state;
	assert_golden("md", "tests/golden/report.md");
}

/* The data of the pictures: whole, and with no way out of their element. */
static void data_of_the_pictures(void **state)
{
	(void)state;
	auto_json json_t *run = recorded();
	auto_free char *html = as(run, "html");
	static const char open[] = "<script type=\"application/json\" id=\"data\">";
	char *begin = strstr(html, open), *end = begin ? strstr(begin, "</script>") : NULL;
	assert_non_null(end);
	*end = 0;
	begin += strlen(open);
	assert_null(strchr(begin, '<'));
	auto_json json_t *data = json_loads(begin, 0, NULL);
	assert_non_null(data);
	assert_int_equal(json_array_size(json_object_get(data, "tunables")), 2);
	assert_int_equal(json_array_size(json_object_get(data, "rows")), 4);
	json_t *row = json_array_get(json_object_get(data, "rows"), 1);
	assert_true(json_number_value(json_array_get(row, 5)) == 1999876543.0);
	assert_true(json_integer_value(json_array_get(row, 7)) == 16777216);
	assert_true(json_integer_value(json_array_get(json_object_get(data, "best"), 0)) ==
		    16777216);
}

/* The best's and the baseline's samples come first; failed ones do not. */
static void samples_in_detail(void **state)
{
	(void)state;
	int64_t chosen[REPORT_DETAILS];
	auto_json json_t *run = recorded(), *empty = json_object();
	assert_int_equal(report_detail_samples(run, chosen, REPORT_DETAILS), 2);
	assert_int_equal(chosen[0], 2);
	assert_int_equal(chosen[1], 1);
	assert_int_equal(report_detail_samples(empty, chosen, REPORT_DETAILS), 0);
	json_object_set_new(run, "details",
			    json_pack("{s:{s:[[i,i],[i,i]]}}", "2", "intervals", 0, 0, 1, 100));
	auto_json json_t *data = report_data(run);
	json_t *one = json_array_get(json_object_get(data, "details"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "title")), "2 (best)");
}

static void csv_as_recorded(void **state)
{
	(void)state;
	assert_golden("csv", "tests/golden/report.csv");
}

/* RFC 4180: line ends, commas and quotes stay within their field. */
static void csv_keeps_its_rows(void **state)
{
	(void)state;
	auto_json json_t *run = recorded();
	json_t *trial = json_array_get(json_object_get(run, "trials"), 0);
	json_t *sample = json_array_get(json_object_get(trial, "samples"), 0);
	static const char *const texts[][2] = {{"two\nlines", "\"two\nlines\""},
					       {"a\rreturn", "\"a\rreturn\""},
					       {"a \"word\"", "\"a \"\"word\"\"\""},
					       {"one, two", "\"one, two\""},
					       {"plain", ",plain,"}};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		json_object_set_new(sample, "reason", json_string(texts[i][0]));
		auto_free char *text = as(run, "csv");
		assert_non_null(strstr(text, texts[i][1]));
	}
}

static void json_is_the_object(void **state)
{
	(void)state;
	auto_json json_t *run = recorded();
	auto_free char *text = as(run, "json");
	auto_json json_t *back = json_loads(text, 0, NULL);
	assert_true(json_equal(run, back));
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;
	for (; (text = strstr(text, word)); text++) {
		n++;
	}
	return n;
}

/* A value that closes the script in which the data stands, and one that opens a comment there. */
static void data_stay_data(void **state)
{
	(void)state;
	auto_json json_t *run = recorded();
	auto_free char *before = as(run, "html");
	json_t *trial = json_array_get(json_object_get(run, "trials"), 0);
	json_t *values = json_object_get(trial, "values");
	const char *key = json_object_iter_key(json_object_iter(values));
	json_object_set_new(values, key, json_string("</script><b>bold</b><!--<script>"));
	auto_free char *html = as(run, "html");
	assert_non_null(strstr(html, "\\u003c/script>\\u003cb>bold"));
	assert_int_equal(count(html, "</script"), count(before, "</script"));
	assert_int_equal(count(html, "<script"), count(before, "<script"));
	assert_int_equal(count(html, "<!--"), count(before, "<!--"));
	assert_null(strstr(html, "<b>bold"));
}

static void nothing_breaks_out(void **state)
{
	(void)state;
	auto_json json_t *run = recorded();
	auto_free char *html = as(run, "html"), *text = as(run, "text");
	assert_null(strstr(html, "<script>alert"));
	assert_null(strstr(html, "<10 s>"));
	assert_null(strstr(html, " src="));
	assert_null(strstr(html, "url("));
	assert_non_null(strstr(html, "default-src 'none'"));
	assert_null(strchr(html, '\x1b'));
	assert_null(strchr(text, '\x1b'));
	/* CSI as one character, which some terminals obey, and what only looks like it */
	json_object_set_new(run, "name",
			    json_string("clear\xc2\x9b"
					"2J caf\xc3\xa9"));
	auto_free char *marked = as(run, "text");
	assert_null(strstr(marked, "\xc2\x9b"));
	assert_non_null(strstr(marked, "clear?2J caf\xc3\xa9"));
}

/* As it is while a sweep runs, or when one was killed. */
static void unfinished_runs(void **state)
{
	(void)state;
	static const char *const formats[] = {"text", "html", "json", "csv", "md"};
	auto_json json_t *run = recorded(), *empty = json_object();
	json_object_set_new(run, "result", json_null());
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		free(as(run, formats[i]));
		free(as(empty, formats[i]));
	}
	auto_free char *text = as(run, "text");
	assert_non_null(strstr(text, "no result"));
}

static void verdicts(void **state)
{
	(void)state;
	static const struct {
		const char *result, *says;
	} cases[] = {
		{"{\"recommended\": \"baseline\", \"gain\": {\"percent\": 0.31, \"interval\": "
		 "[-0.5, 1.2], \"level\": 0.95, \"significant\": false, \"pairs\": 60}}",
		 "No proved gain: keep the defaults: +0.31 % (95 % interval -0.5 to +1.2 %, 60 "
		 "pairs)"},
		{"{\"recommended\": \"baseline\", \"gain\": {\"percent\": 3, \"interval\": "
		 "[null, null], \"level\": 0.95, \"significant\": false, \"pairs\": 3}}",
		 "+3 % (no interval yet, 3 pairs)"},
		{"{\"recommended\": \"best\", \"gain\": {\"percent\": null, \"difference\": 0.25, "
		 "\"interval\": [0.2, 0.3], \"level\": 0.95, \"significant\": true, \"pairs\": 9}}",
		 "Proved gain of the score: +0.25 (95 % interval +0.2 to +0.3, 9 pairs)"},
		{"{\"recommended\": \"best\", \"gain\": null}", "The baseline failed"},
		{"{\"recommended\": \"baseline\", \"gain\": null}", "keep the defaults"},
		{"{\"recommended\": \"baseline\", \"gain\": null, \"restored\": false}",
		 "could be put back"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json json_t *run = json_object();
		json_object_set_new(run, "result", json_loads(cases[i].result, 0, NULL));
		auto_free char *text = as(run, "text");
		if (!strstr(text, cases[i].says)) {
			fail_msg("wanted \"%s\" in:\n%s", cases[i].says, text);
		}
	}
}

static void numbers_for_people(void **state)
{
	(void)state;
	char buf[64];
	static const struct {
		double x;
		const char *number, *rate;
	} cases[] = {
		{0, "0", "0 bit/s"},
		{0.5421098, "0.5421", "0.5421 bit/s"},
		{0.00054219, "0.0005422", "0.0005422 bit/s"},
		{999.94, "999.9", "999.9 bit/s"},
		{999.96, "1000", "1 kbit/s"},
		{12345, "12350", "12.35 kbit/s"},
		{2.13e9, "2130000000", "2.13 Gbit/s"},
		{999960000, "1000000000", "1 Gbit/s"},
		{4.2e13, "42000000000000", "42 Tbit/s"},
		{-5.51234, "-5.512", "-5.512 bit/s"},
		{NAN, "unknown", "unknown"},
		{INFINITY, "unknown", "unknown"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(report_number(cases[i].x, buf, sizeof(buf)), cases[i].number);
		assert_string_equal(report_rate(cases[i].x, buf, sizeof(buf)), cases[i].rate);
	}
}

static void unknown_format(void **state)
{
	(void)state;
	struct err e = {0};
	auto_json json_t *run = recorded();
	assert_int_equal(report_write(run, "htlm", stdout, &e), -EINVAL);
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "did you mean html?"));
}

static void saved_whole_or_not(void **state)
{
	(void)state;
	struct err e = {0};
	char folder[] = "/tmp/tunesweep-test-XXXXXX", path[64], command[96];
	auto_json json_t *run = recorded();
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/report.csv", folder);
	assert_int_equal(report_save(run, "csv", path, &e), 0);
	assert_int_equal(report_save(run, "csv", path, &e), 0);
	auto_free char *saved = slurp(path), *golden = slurp("tests/golden/report.csv");
	assert_string_equal(saved, golden);
	assert_true(report_save(run, "nothing", path, &e) < 0);
	auto_free char *still = slurp(path);
	assert_string_equal(still, golden);
	assert_int_equal(report_save(run, "csv", "/nowhere/at/all", &e), -ENOENT);
	snprintf(command, sizeof(command), "ls %s | wc -l | grep -qx 1 && rm -r %s", folder,
		 folder);
	assert_int_equal(system(command), 0);
	auto_fclose FILE *full = fopen("/dev/full", "w");
	assert_int_equal(report_write(run, "text", full, &e), -ENOSPC);
}

/* A comma as decimal separator. Skipped where no such locale is installed. */
static void locale_does_not_matter(void **state)
{
	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
		skip();
	}
	auto_json json_t *run = recorded();
	auto_free char *text = as(run, "text"), *golden = slurp("tests/golden/report.txt");
	setlocale(LC_ALL, "C");
	assert_string_equal(text, golden);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_astray_are_a_warning),
		cmocka_unit_test(text_as_recorded),
		cmocka_unit_test(html_as_recorded),
		cmocka_unit_test(md_as_recorded),
		cmocka_unit_test(data_of_the_pictures),
		cmocka_unit_test(samples_in_detail),
		cmocka_unit_test(csv_as_recorded),
		cmocka_unit_test(csv_keeps_its_rows),
		cmocka_unit_test(json_is_the_object),
		cmocka_unit_test(data_stay_data),
		cmocka_unit_test(nothing_breaks_out),
		cmocka_unit_test(unfinished_runs),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(numbers_for_people),
		cmocka_unit_test(unknown_format),
		cmocka_unit_test(saved_whole_or_not),
		cmocka_unit_test(locale_does_not_matter),
	};
	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
