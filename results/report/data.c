/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the pictures of a run are drawn from: a compact object, a row a sample. Draws nothing;
 * which samples are shown in detail is decided here. Called by the report's body and, before that,
 * by who reads details from the store.
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

static const json_t *best_values(const json_t *run)
{
	const json_t *best = json_object_get(json_object_get(run, "result"), "best");
	return json_object_get(best, "values");
}

/* In which order samples are shown in detail: the best's and the baseline's first. */
static int interest(const json_t *run, const json_t *trial)
{
	if (best_values(run) && json_equal(json_object_get(trial, "values"), best_values(run))) {
		return 0;
	}
	return phase_number(trial) == 0 ? 1 : 2;
}

size_t report_detail_samples(const json_t *run, int64_t *sample, size_t max)
{
	json_t *trial, *s;
	size_t n = 0, i, j;
	for (int wanted = 0; wanted < 3; wanted++) {
		/* Half the places for the best, a quarter for the baseline, the rest for others. */
		size_t limit = wanted == 0 ? max / 2 : wanted == 1 ? 3 * max / 4 : max;
		json_array_foreach(json_object_get(run, "trials"), i, trial)
		{
			if (n >= limit || interest(run, trial) != wanted) {
				continue;
			}
			json_array_foreach(json_object_get(trial, "samples"), j, s)
			{
				if (n < limit && json_is_true(json_object_get(s, "ok"))) {
					sample[n++] = json_integer_value(
						json_object_get(s, "sample"));
				}
			}
		}
	}
	return n;
}

static bool is_among(int64_t x, const int64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == x) {
			return true;
		}
	}
	return false;
}

/* Where the run was read without them, {sample number as text: detail} holds some. */
const json_t *report_detail(const json_t *run, const json_t *sample)
{
	char key[32];
	const json_t *detail = json_object_get(sample, "detail");
	snprintf(key, sizeof(key), "%lld",
		 (long long)json_integer_value(json_object_get(sample, "sample")));
	detail = json_is_object(detail) ? detail
					: json_object_get(json_object_get(run, "details"), key);
	return json_is_object(detail) ? detail : NULL;
}

static json_t *details_of(const json_t *run)
{
	static const char *const titles[] = {"best", "baseline", "other"};
	int64_t chosen[REPORT_DETAILS];
	size_t n = report_detail_samples(run, chosen, REPORT_DETAILS), i, j;
	json_t *list = json_array(), *trial, *s;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, s)
		{
			int64_t number = json_integer_value(json_object_get(s, "sample"));
			const json_t *detail = report_detail(run, s);
			if (!detail || !is_among(number, chosen, n)) {
				continue;
			}
			json_array_append_new(list,
					      json_pack("{s:o, s:O}", "title",
							json_sprintf("%lld (%s)", (long long)number,
								     titles[interest(run, trial)]),
							"detail", detail));
		}
	}
	return list;
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
	append_values(best, best_values(run), tunables);
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", "run", "tunables", tunables, "rows",
			 rows, "best", best, "details", details_of(run));
}
