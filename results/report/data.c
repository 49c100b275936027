/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the pictures of a run are drawn from: a compact object, a row a sample. Draws nothing.
 * Called by the report's body.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report.h"
#include "report_private.h"
#include <string.h>

/* Keys of all trials' values, in order of appearance. */
static json_t *tunables_of(const json_t *run)
{
	auto_json json_t *keys = json_object();
	json_t *list = json_array(), *trial, *unused;
	const char *key;
	size_t i;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_object_update(keys, json_object_get(trial, "values"));
	}
	json_object_foreach(keys, key, unused)
	{
		json_array_append_new(list, json_string(key));
	}
	return list;
}

static void append(json_t *row, json_t *value)
{
	if (value) {
		json_array_append(row, value);
	} else {
		json_array_append_new(row, json_null());
	}
}

static void append_values(json_t *row, const json_t *values, json_t *tunables)
{
	size_t i;
	json_t *key;
	json_array_foreach(tunables, i, key)
	{
		append(row, json_object_get(values, json_string_value(key)));
	}
}

static int phase_number(const json_t *trial)
{
	static const char *const phases[] = {"baseline", "search", "proof", "import"};
	const char *phase = json_get_text(trial, "phase", "");
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		if (!strcmp(phase, phases[i])) {
			return (int)i;
		}
	}
	return -1;
}

static json_t *row_of(const json_t *trial, const json_t *sample, json_t *tunables)
{
	static const char *const metrics[] = {"score", "throughput", "service_demand"};
	json_t *row = json_array();
	append(row, json_object_get(sample, "sample"));
	append(row, json_object_get(trial, "trial"));
	json_array_append_new(row, json_integer(phase_number(trial)));
	json_array_append_new(row, json_integer(json_is_true(json_object_get(sample, "ok"))));
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		append(row, json_object_get(sample, metrics[i]));
	}
	append_values(row, json_object_get(trial, "values"), tunables);
	return row;
}

static int by_sample(const void *a, const void *b)
{
	json_int_t x = json_integer_value(json_array_get(*(json_t *const *)a, 0));
	json_int_t y = json_integer_value(json_array_get(*(json_t *const *)b, 0));
	return x < y ? -1 : x > y;
}

/* In the order of measuring: a trial may have been measured again after others. */
static json_t *in_order(json_t *rows)
{
	size_t n = json_array_size(rows);
	json_t *sorted = json_array();
	auto_free json_t **list = calloc(n + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++) {
		list[i] = json_array_get(rows, i);
	}
	if (list) {
		qsort(list, n, sizeof(*list), by_sample);
	}
	for (size_t i = 0; list && i < n; i++) {
		json_array_append(sorted, list[i]);
	}
	json_decref(rows);
	return sorted;
}

/* {reason: [sample, ...]} */
static json_t *failures_of(const json_t *run)
{
	size_t i, j;
	json_t *trial, *s, *all = json_object();
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, s)
		{
			const char *reason = json_get_text(s, "reason", "no reason given");
			if (json_is_true(json_object_get(s, "ok"))) {
				continue;
			}
			if (!json_object_get(all, reason)) {
				json_object_set_new(all, reason, json_array());
			}
			json_array_append(json_object_get(all, reason),
					  json_object_get(s, "sample"));
		}
	}
	return all;
}

json_t *report_data(const json_t *run)
{
	json_t *tunables = tunables_of(run), *rows = json_array(), *best = json_array(), *trial, *s;
	size_t i, j;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, s)
		{
			json_array_append_new(rows, row_of(trial, s, tunables));
		}
	}
	rows = in_order(rows);
	append_values(best, report_best_values(run), tunables);
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", "run", "tunables", tunables,
			 "rows", rows, "best", best, "details", report_details(run), "outliers",
			 report_outliers(run), "failures", failures_of(run));
}
