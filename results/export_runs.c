/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of all runs as CSV, JSON and JSON lines. Prometheus' text is export_prometheus.c's.
 * Called by the export-runs command.
 */
#include "export_runs.h"
#include "cleanup.h"
#include "export_private.h"
#include "json_util.h"
#include "report_private.h"
#include "sample.h"
#include <errno.h>
#include <string.h>

struct exporting { /* one export_runs */
	struct store *s;
	const char *name;
	FILE *out;
	bool array;	 /* JSON: the samples as one array, not a line each */
	size_t n;	 /* samples written to it */
	json_t *columns; /* {key: null}: values and labels of all runs, for CSV */
};

typedef int each_run(struct exporting *x, const json_t *run, struct err *e);

/* Oldest first, each whole but for its details. */
static int for_runs(struct exporting *x, const json_t *list, each_run *f, struct err *e)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *entry = json_array_get(list, i);
		auto_json json_t *run = NULL;
		if (x->name && strcmp(json_get_text(entry, "name", ""), x->name)) {
			continue;
		}
		int rc = store_get_run_brief(x->s, json_get_text(entry, "run", ""), &run, e);
		rc = rc ? rc : f(x, run, e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

static int collect_columns(struct exporting *x, const json_t *run, struct err *e)
{
	json_t *trial, *value;
	const char *key;
	size_t i;
	(void)e;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_object_foreach(json_object_get(trial, "values"), key, value)
		{
			json_object_set_new(x->columns, key, json_null());
		}
		json_object_foreach(json_object_get(trial, "labels"), key, value)
		{
			json_object_set_new(x->columns, key, json_null());
		}
	}
	return 0;
}

static void put(FILE *out, const json_t *value, bool first)
{
	char buf[512];
	report_csv_field(out, report_value(value, buf, sizeof(buf)), first);
}

static void csv_sample(struct exporting *x, const json_t *run, const json_t *trial,
		       const json_t *sample)
{
	static const char *const ours[] = {"time", "ok", "reason"};
	const char *key;
	json_t *unused;
	put(x->out, json_object_get(run, "run"), true);
	put(x->out, json_object_get(run, "name"), false);
	put(x->out, json_object_get(trial, "trial"), false);
	put(x->out, json_object_get(trial, "phase"), false);
	put(x->out, json_object_get(sample, "sample"), false);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		put(x->out, json_object_get(sample, ours[i]), false);
	}
	for (int m = 0; m < METRIC_COUNT; m++) {
		put(x->out, json_object_get(sample, metric_name(m)), false);
	}
	json_object_foreach(x->columns, key, unused)
	{
		const json_t *value = json_object_get(json_object_get(trial, "values"), key);
		put(x->out, value ? value : json_object_get(json_object_get(trial, "labels"), key),
		    false);
	}
	fputc('\n', x->out);
}

static void json_sample(struct exporting *x, const json_t *run, const json_t *trial, json_t *sample)
{
	static const char *const of_run[] = {"run", "name"}, *const of_trial[] = {"trial", "phase",
										  "values",
										  "labels"};
	auto_json json_t *line = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(of_run); i++) {
		json_object_set(line, of_run[i], json_object_get(run, of_run[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_trial); i++) {
		json_object_set(line, of_trial[i], json_object_get(trial, of_trial[i]));
	}
	json_object_update(line, sample);
	if (x->array) {
		fputs(x->n++ ? ",\n" : "\n", x->out);
	}
	json_dumpf(line, x->out, JSON_COMPACT);
	if (!x->array) {
		fputc('\n', x->out);
	}
}

static void each_sample(struct exporting *x, const json_t *run, bool csv)
{
	json_t *trial, *sample;
	size_t i, j;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, sample)
		{
			if (csv) {
				csv_sample(x, run, trial, sample);
			} else {
				json_sample(x, run, trial, sample);
			}
		}
	}
}

static int csv_run(struct exporting *x, const json_t *run, struct err *e)
{
	(void)e;
	each_sample(x, run, true);
	return 0;
}

static int json_run(struct exporting *x, const json_t *run, struct err *e)
{
	(void)e;
	each_sample(x, run, false);
	return 0;
}

static void csv_heads(struct exporting *x)
{
	const char *key;
	json_t *unused;
	fputs("run,name,trial,phase,sample,time,ok,reason", x->out);
	for (int m = 0; m < METRIC_COUNT; m++) {
		report_csv_field(x->out, metric_name(m), false);
	}
	json_object_foreach(x->columns, key, unused)
	{
		report_csv_field(x->out, key, false);
	}
	fputc('\n', x->out);
}

static int json_array_of_runs(struct exporting *x, const json_t *list, struct err *e)
{
	x->array = true;
	fputc('[', x->out);
	int rc = for_runs(x, list, json_run, e);
	fputs(x->n ? "\n]\n" : "]\n", x->out);
	return rc;
}

static int export(struct exporting *x, const char *format, const json_t *list, struct err *e)
{
	if (!strcmp(format, "prometheus")) {
		export_prometheus(list, x->name, x->out);
		return 0;
	}
	if (!strcmp(format, "jsonl")) {
		return for_runs(x, list, json_run, e);
	}
	if (!strcmp(format, "json")) {
		return json_array_of_runs(x, list, e);
	}
	if (strcmp(format, "csv")) {
		return err_usage(e, "there is no format \"%.40s\": csv, json, jsonl or prometheus",
				 format);
	}
	int rc = for_runs(x, list, collect_columns, e);
	if (!rc) {
		csv_heads(x);
		rc = for_runs(x, list, csv_run, e);
	}
	return rc;
}

int export_runs(struct store *s, const char *format, const char *name, FILE *out, struct err *e)
{
	auto_json json_t *list = NULL, *columns = json_object();
	struct exporting x = {.s = s, .name = name, .out = out, .columns = columns};
	int rc = store_list_runs(s, &list, e);
	rc = rc ? rc : export(&x, format, list, e);
	errno = 0;
	if (!rc && (fflush(out) || ferror(out))) {
		int code = errno ? errno : EIO;
		rc = err_set(e, -code, "cannot write: %s", strerror(code));
	}
	return rc;
}
