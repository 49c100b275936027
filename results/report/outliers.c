/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The samples of a run that lie far from the others of their trial, and the table that says so. A
 * trial is one configuration in one stretch of the run, so what is compared was measured in the
 * same hour. Called by report/body.c and report/data.c.
 */
#include "outliers.h"
#include "cleanup.h"
#include "json_util.h"
#include "report_private.h"
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 20 /* more are counted; the page's table of samples has all */

/* What outliers.h looks at. The detail is borrowed. */
static void sample_read(const json_t *run, const json_t *from, struct sample *to)
{
	sample_init(to);
	to->ok = json_is_true(json_object_get(from, "ok"));
	for (int m = 0; m < METRIC_COUNT; m++) {
		to->m[m] = json_get_number(from, metric_name((enum metric)m));
	}
	to->detail = (json_t *)report_detail(run, from);
}

static void add_found(json_t *found, const json_t *trial, const json_t *samples, json_t *all)
{
	size_t i;
	json_t *one;
	json_array_foreach(found, i, one)
	{
		size_t at = (size_t)json_integer_value(json_object_get(one, "sample")) - 1;
		json_object_set(one, "sample",
				json_object_get(json_array_get(samples, at), "sample"));
		json_object_set(one, "trial", json_object_get(trial, "trial"));
		json_object_set(one, "phase", json_object_get(trial, "phase"));
		json_array_append(all, one);
	}
}

json_t *report_outliers(const json_t *run)
{
	size_t i, j;
	json_t *trial, *sample, *all = json_array();
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		json_t *samples = json_object_get(trial, "samples");
		size_t n = json_array_size(samples);
		auto_free struct sample *s = n < OUTLIERS_FROM ? NULL : calloc(n, sizeof(*s));
		if (!s) {
			continue;
		}
		json_array_foreach(samples, j, sample)
		{
			sample_read(run, sample, &s[j]);
		}
		auto_json json_t *found = outliers_find(s, n);
		add_found(found, trial, samples, all);
	}
	return all;
}

static void add_row(struct report_table *t, const json_t *one)
{
	char buf[512] = "";
	size_t i, used = 0;
	json_t *reason;
	report_table_add(t, report_value(json_object_get(one, "sample"), buf, sizeof(buf)));
	report_table_add(t, report_value(json_object_get(one, "trial"), buf, sizeof(buf)));
	report_table_add(t, json_get_text(one, "phase", ""));
	report_table_add(t, json_get_text(one, "metric", ""));
	snprintf(buf, sizeof(buf), "%+.0f %%", json_get_number(one, "percent"));
	report_table_add(t, buf);
	snprintf(buf, sizeof(buf), "nothing that was measured");
	json_array_foreach(json_object_get(one, "why"), i, reason)
	{
		used += used < sizeof(buf)
				? (size_t)snprintf(buf + used, sizeof(buf) - used, "%s%s",
						   used ? "; " : "", json_string_value(reason))
				: 0;
	}
	report_table_add(t, buf);
}

void report_say_outliers(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"#sample", "#trial",	  "phase",
					    "metric",  "#off the median", "what else was different",
					    NULL};
	auto_json json_t *all = report_outliers(run);
	size_t n = json_array_size(all);
	struct report_table t;
	report_table_init(&t, heads);
	for (size_t i = 0; i < n && i < ROWS_MAX; i++) {
		add_row(&t, json_array_get(all, i));
	}
	if (t.n_cells) {
		char more[96];
		w->section(out, "Samples far from the others");
		w->paragraph(out,
			     "Each lies further than four robust standard deviations, and 5 "
			     "percent, from the median of its trial. They are kept and counted: "
			     "medians, and the pairs of a proof, bear a few. Left out are only "
			     "samples that failed.");
		w->table(out, &t);
		snprintf(more, sizeof(more), "And %zu more.", n - ROWS_MAX);
		if (n > ROWS_MAX) {
			w->paragraph(out, more);
		}
	}
	report_table_clear(&t);
}
