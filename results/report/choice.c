/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which samples of a run are shown in detail, and their details. Called by report/data.c and,
 * before a report is written, by who reads details from the store.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report.h"
#include "report_private.h"
#include <string.h>

/* Samples of a trial with an outlier: their median is what it is held against. */
#define BESIDE 12

const json_t *report_best_values(const json_t *run)
{
	const json_t *best = json_object_get(json_object_get(run, "result"), "best");
	return json_object_get(best, "values");
}

/* In which order samples are shown in detail: the best's and the baseline's first. */
static int interest(const json_t *run, const json_t *trial)
{
	if (report_best_values(run) &&
	    json_equal(json_object_get(trial, "values"), report_best_values(run))) {
		return 0;
	}
	return strcmp(json_get_text(trial, "phase", ""), "baseline") ? 2 : 1;
}

struct choice {
	int64_t *sample;
	size_t n, limit;
};

static bool is_among(int64_t x, const int64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == x) {
			return true;
		}
	}
	return false;
}

static void choose(struct choice *c, const json_t *sample)
{
	int64_t number = json_integer_value(json_object_get(sample, "sample"));
	if (c->n < c->limit && !is_among(number, c->sample, c->n)) {
		c->sample[c->n++] = number;
	}
}

static void choose_good(struct choice *c, const json_t *trial)
{
	size_t i;
	json_t *s;
	json_array_foreach(json_object_get(trial, "samples"), i, s)
	{
		if (json_is_true(json_object_get(s, "ok"))) {
			choose(c, s);
		}
	}
}

/* What was different about an outlier is told against others of its trial: some of each. */
static void choose_beside(struct choice *c, const json_t *run, const json_t *outliers, size_t max)
{
	size_t i;
	json_t *one;
	json_int_t last = -1;
	json_array_foreach(outliers, i, one)
	{
		json_int_t trial = json_integer_value(json_object_get(one, "trial"));
		if (trial != last) {
			c->limit = c->n + BESIDE < max ? c->n + BESIDE : max;
			choose_good(c, json_array_get(json_object_get(run, "trials"),
						      (size_t)trial - 1));
		}
		last = trial;
	}
}

size_t report_detail_samples(const json_t *run, int64_t *sample, size_t max)
{
	size_t shown = max < REPORT_SHOWN ? max : REPORT_SHOWN, i;
	auto_json json_t *outliers = report_outliers(run);
	struct choice c = {sample, 0, shown / 3};
	json_t *trial, *one;
	json_array_foreach(outliers, i, one)
	{
		choose(&c, one);
	}
	/* Of the other places half for the best, a quarter for the baseline, the rest for others.
	 */
	size_t left = shown - c.n, taken = c.n;
	for (int wanted = 0; wanted < 3; wanted++) {
		c.limit = taken + (wanted == 0 ? left / 2 : wanted == 1 ? 3 * left / 4 : left);
		json_array_foreach(json_object_get(run, "trials"), i, trial)
		{
			if (interest(run, trial) == wanted) {
				choose_good(&c, trial);
			}
		}
	}
	choose_beside(&c, run, outliers, max);
	return c.n;
}

static bool is_outlier(const json_t *outliers, const json_t *sample)
{
	size_t i;
	json_t *one;
	json_array_foreach(outliers, i, one)
	{
		if (json_equal(json_object_get(one, "sample"), json_object_get(sample, "sample"))) {
			return true;
		}
	}
	return false;
}

static json_t *detail_shown(const json_t *run, const json_t *trial, const json_t *sample,
			    bool outlier)
{
	static const char *const titles[] = {"best", "baseline", "other"};
	json_t *title = json_sprintf(
		"%lld (%s%s)", (long long)json_integer_value(json_object_get(sample, "sample")),
		titles[interest(run, trial)], outlier ? ", outlier" : "");
	return json_pack("{s:o, s:O}", "title", title, "detail", report_detail(run, sample));
}

json_t *report_details(const json_t *run)
{
	int64_t chosen[REPORT_SHOWN];
	size_t n = report_detail_samples(run, chosen, REPORT_SHOWN), i, j;
	auto_json json_t *outliers = report_outliers(run);
	json_t *list = json_array(), *trial, *s;
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, s)
		{
			int64_t number = json_integer_value(json_object_get(s, "sample"));
			if (report_detail(run, s) && is_among(number, chosen, n)) {
				json_array_append_new(
					list, detail_shown(run, trial, s, is_outlier(outliers, s)));
			}
		}
	}
	return list;
}
