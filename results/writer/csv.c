/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as comma-separated values for spreadsheets and scripts: a row a sample, a column a metric
 * and a column a setting; RFC 4180 with plain line feeds, unknown is empty, numbers to their last
 * digit.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report_private.h"
#include "sample.h"
#include <string.h>

void report_csv_field(FILE *out, const char *text, bool first)
{
	if (!first) {
		fputc(',', out);
	}
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"') {
			fputc('"', out);
		}
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_value(FILE *out, const json_t *value)
{
	char buf[512];
	report_csv_field(out, report_value(value, buf, sizeof(buf)), false);
}

/* {key: null}: the settings, and the commands' own metrics, of all trials in order of appearance.
 */
static json_t *all_keys(const json_t *run, bool extra)
{
	json_t *keys = json_object(), *trial, *sample, *value;
	const char *key;
	size_t i, j;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		if (!extra) {
			json_object_foreach(json_object_get(trial, "values"), key, value)
			{
				json_object_set_new(keys, key, json_null());
			}
			continue;
		}
		json_array_foreach(json_object_get(trial, "samples"), j, sample)
		{
			json_object_update_missing(keys, json_object_get(sample, "extra"));
		}
	}
	return keys;
}

static const char *const before_metrics[] = {"run",  "trial", "phase", "sample",
					     "time", "ok",    "reason"};
static const char *const after_metrics[] = {"limited_by", "cpu_source"};

static void put_heads(FILE *out, json_t *extra, json_t *settings)
{
	const char *key;
	json_t *unused;
	for (size_t i = 0; i < ARRAY_SIZE(before_metrics); i++) {
		report_csv_field(out, before_metrics[i], i == 0);
	}
	for (int m = 0; m < METRIC_COUNT; m++) {
		report_csv_field(out, metric_name(m), false);
	}
	for (size_t i = 0; i < ARRAY_SIZE(after_metrics); i++) {
		report_csv_field(out, after_metrics[i], false);
	}
	json_object_foreach(extra, key, unused)
	{
		report_csv_field(out, key, false);
	}
	json_object_foreach(settings, key, unused)
	{
		report_csv_field(out, key, false);
	}
	fputc('\n', out);
}

static void put_sample(FILE *out, const json_t *run, const json_t *trial, const json_t *sample,
		       json_t *extra, json_t *settings)
{
	const char *key;
	json_t *unused;
	report_csv_field(out, json_get_text(run, "run", ""), true);
	put_value(out, json_object_get(trial, "trial"));
	put_value(out, json_object_get(trial, "phase"));
	for (size_t i = 3; i < ARRAY_SIZE(before_metrics); i++) {
		put_value(out, json_object_get(sample, before_metrics[i]));
	}
	for (int m = 0; m < METRIC_COUNT; m++) {
		put_value(out, json_object_get(sample, metric_name(m)));
	}
	for (size_t i = 0; i < ARRAY_SIZE(after_metrics); i++) {
		put_value(out, json_object_get(sample, after_metrics[i]));
	}
	json_object_foreach(extra, key, unused)
	{
		put_value(out, json_object_get(json_object_get(sample, "extra"), key));
	}
	json_object_foreach(settings, key, unused)
	{
		put_value(out, json_object_get(json_object_get(trial, "values"), key));
	}
	fputc('\n', out);
}

void report_csv(const json_t *run, FILE *out)
{
	auto_json json_t *extra = all_keys(run, true), *settings = all_keys(run, false);
	json_t *trial, *sample;
	size_t i, j;
	put_heads(out, extra, settings);
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, sample)
		{
			put_sample(out, run, trial, sample, extra, settings);
		}
	}
}
