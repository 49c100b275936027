/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which changes of a night are alarms, decided over all comparisons that are there: of one machine,
 * or of a fleet whose summaries were gathered. Called by the night and by the nightly command.
 */
#include "cleanup.h"
#include "false_discovery.h"
#include "json_util.h"
#include "nightly.h"
#include <errno.h>
#include <math.h>
#include <string.h>

struct family { /* all comparisons, borrowed, with one of their p-values */
	json_t **one;
	double *p;
	bool *called;
	size_t n;
};

static size_t count_all(json_t *const *summaries, size_t n)
{
	size_t all = 0;
	for (size_t i = 0; i < n; i++) {
		all += json_array_size(json_object_get(summaries[i], "comparisons"));
	}
	return all;
}

static void gather(struct family *f, json_t *const *summaries, size_t n, const char *key)
{
	f->n = 0;
	for (size_t s = 0; s < n; s++) {
		json_t *one;
		size_t i;
		json_array_foreach(json_object_get(summaries[s], "comparisons"), i, one)
		{
			f->p[f->n] = json_get_number(one, key);
			f->one[f->n++] = one;
		}
	}
}

static bool is_confirmed(const json_t *comparison)
{
	return strcmp(json_get_text(comparison, "verdict", ""), "regression") == 0 &&
	       strcmp(json_get_text(comparison, "again", ""), "regression") == 0;
}

/* A gain that is too small to count is none, however sure it is. */
static bool is_gain(const json_t *comparison)
{
	bool small = strcmp(json_get_text(comparison, "metric", ""), "service_demand") == 0;
	double percent = json_get_number(comparison, "percent") * (small ? -1 : 1);
	return percent > 50 * json_get_number(comparison, "threshold");
}

static void mark(struct family *f, json_t *const *summaries, size_t n, double rate)
{
	gather(f, summaries, n, "p_better");
	false_discovery_call(f->p, f->n, rate, f->called);
	for (size_t i = 0; i < f->n; i++) {
		bool better = f->called[i] && is_gain(f->one[i]);
		const char *change = isnan(f->p[i]) ? "unknown" : better ? "better" : "same";
		json_object_set_new(f->one[i], "change", json_string(change));
	}
	gather(f, summaries, n, "p_worse");
	false_discovery_call(f->p, f->n, rate, f->called);
	for (size_t i = 0; i < f->n; i++) {
		bool alarm = f->called[i] && is_confirmed(f->one[i]);
		json_object_set_new(f->one[i], "alarm", json_boolean(alarm));
		if (alarm) {
			json_object_set_new(f->one[i], "change", json_string("worse"));
		}
	}
}

static int count_alarms(json_t *summary)
{
	json_t *one;
	size_t i;
	int alarms = 0;
	json_array_foreach(json_object_get(summary, "comparisons"), i, one)
	{
		alarms += json_is_true(json_object_get(one, "alarm"));
	}
	json_object_set_new(summary, "alarms", json_integer(alarms));
	return alarms;
}

int nightly_call_alarms(json_t *const *summaries, size_t n, double rate)
{
	size_t all = count_all(summaries, n);
	auto_free json_t **one = calloc(all + 1, sizeof(*one));
	auto_free double *p = calloc(all + 1, sizeof(*p));
	auto_free bool *called = calloc(all + 1, sizeof(*called));
	int alarms = 0;
	if (one && p && called) {
		struct family f = {one, p, called, 0};
		mark(&f, summaries, n, rate);
	}
	for (size_t i = 0; i < n; i++) {
		alarms += count_alarms(summaries[i]);
	}
	return alarms;
}

/* Only the newest night of each host speaks for it. */
static bool is_newest(json_t *const *summaries, size_t n, size_t at)
{
	const char *host = json_get_text(summaries[at], "host", "");
	const char *night = json_get_text(summaries[at], "night", "");
	for (size_t i = 0; i < n; i++) {
		int order = strcmp(json_get_text(summaries[i], "night", ""), night);
		if (strcmp(json_get_text(summaries[i], "host", ""), host) == 0 &&
		    (order > 0 || (order == 0 && i > at))) {
			return false;
		}
	}
	return true;
}

int nightly_fleet(json_t *const *summaries, size_t n, double rate, json_t **out, struct err *e)
{
	auto_free json_t **newest = calloc(n + 1, sizeof(*newest));
	size_t hosts = 0, i;
	if (!newest) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (i = 0; i < n; i++) {
		if (!json_is_integer(json_object_get(summaries[i], "tunesweep_nightly"))) {
			return err_usage(e, "summary %zu is none of a night", i + 1);
		}
		if (is_newest(summaries, n, i)) {
			newest[hosts++] = summaries[i];
		}
	}
	int alarms = nightly_call_alarms(newest, hosts, rate);
	json_t *comparisons = json_array(), *nights = json_array();
	for (i = 0; i < hosts; i++) {
		json_array_extend(comparisons, json_object_get(newest[i], "comparisons"));
		json_array_append_new(nights,
				      json_pack("{s:O?, s:O?, s:O?, s:O?}", "host",
						json_object_get(newest[i], "host"), "night",
						json_object_get(newest[i], "night"), "status",
						json_object_get(newest[i], "status"), "alarms",
						json_object_get(newest[i], "alarms")));
	}
	*out = json_pack("{s:i, s:I, s:i, s:f, s:o, s:o}", "tunesweep_nightly_fleet", 1, "hosts",
			 (json_int_t)hosts, "alarms", alarms, "false_discovery", rate, "nights",
			 nights, "comparisons", comparisons);
	return *out ? 0 : err_set(e, -ENOMEM, "out of memory");
}
