/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report says, in which order: the verdict, the numbers, the values, what failed, the
 * hosts, each sample. How it looks is the writer's. Reads store_get_run's object leniently: what
 * is missing there is left out here.
 */
#include "json_util.h"
#include "report.h"
#include "report_private.h"
#include "sample.h"
#include <math.h>
#include <string.h>

static const json_t *result_of(const json_t *run)
{
	return json_object_get(run, "result");
}

static const json_t *values_of(const json_t *run, const char *which)
{
	return json_object_get(json_object_get(result_of(run), which), "values");
}

static double bound(const json_t *gain, size_t i)
{
	const json_t *b = json_array_get(json_object_get(gain, "interval"), i);
	return json_is_number(b) ? json_number_value(b) : NAN;
}

/* "+12.3 % (95 % interval +11.2 to +13.4 %, 24 pairs)"; scores that are not positive have a
 * difference instead of percent. */
static void gain_text(const json_t *gain, char *buf, size_t size)
{
	double lo = bound(gain, 0), hi = bound(gain, 1), change = json_get_number(gain, "percent");
	const char *unit = " %";
	char interval[96] = "no interval yet";
	if (isnan(change)) {
		change = json_get_number(gain, "difference");
		unit = "";
	}
	if (isfinite(lo) && isfinite(hi)) {
		snprintf(interval, sizeof(interval), "%.4g %% interval %+.4g to %+.4g%s",
			 100 * json_get_number(gain, "level"), lo, hi, unit);
	}
	snprintf(buf, size, "%+.4g%s (%s, %.0f pairs)", change, unit, interval,
		 json_get_number(gain, "pairs"));
}

static const char *metric_text(const json_t *point, const char *metric, char *buf, size_t size)
{
	double x = json_get_number(point, metric);
	int m = metric_find(metric);
	if (!isfinite(x)) {
		snprintf(buf, size, "-");
	} else if (m >= 0 && !strcmp(metric_unit(m), "bit/s")) {
		report_rate(x, buf, size);
	} else if (m >= 0 && !strcmp(metric_unit(m), "fraction")) {
		snprintf(buf, size, "%.3g %%", 100 * x);
	} else {
		char number[32];
		report_number(x, number, sizeof(number));
		snprintf(buf, size, "%s%s%s", number, m >= 0 && metric_unit(m)[0] ? " " : "",
			 m >= 0 ? metric_unit(m) : "");
	}
	return buf;
}

/* What is to be told of the baseline or the best: what the proof saw where it knows the metric,
 * since it measured both side by side, else what the search saw. */
static const json_t *told_of(const json_t *run, const char *which, const char *metric)
{
	const json_t *gain = json_object_get(result_of(run), "gain"),
		     *proved = json_object_get(json_object_get(gain, "medians"), which);
	return isnan(json_get_number(proved, metric)) ? json_object_get(result_of(run), which)
						      : proved;
}

/* Throughput and CPU per KB, always both (a gain of one at the other's cost is no secret). */
static void say_headline(const json_t *run, const struct report_writer *w, FILE *out)
{
	char text[320], b[4][48];
	const json_t *best = told_of(run, "best", "throughput"),
		     *baseline = told_of(run, "baseline", "throughput");
	if (isnan(json_get_number(best, "throughput"))) {
		return;
	}
	snprintf(text, sizeof(text), "Best found: %s at %s; baseline: %s at %s.",
		 metric_text(best, "throughput", b[0], sizeof(b[0])),
		 metric_text(best, "service_demand", b[1], sizeof(b[1])),
		 metric_text(baseline, "throughput", b[2], sizeof(b[2])),
		 metric_text(baseline, "service_demand", b[3], sizeof(b[3])));
	w->headline(out, text, !strcmp(json_get_text(result_of(run), "recommended", ""), "best"));
}

static void say_verdict(const json_t *run, const struct report_writer *w, FILE *out)
{
	char text[320], how_much[200];
	const json_t *result = result_of(run), *gain = json_object_get(result, "gain");
	bool best = !strcmp(json_get_text(result, "recommended", ""), "best");
	if (!json_is_object(result) && !strcmp(json_get_text(run, "status", ""), "imported")) {
		w->headline(out,
			    "These results were imported: tunesweep timeline and compare tell what "
			    "they show.",
			    false);
		return;
	}
	if (!json_is_object(result)) {
		w->headline(out, "This run has no result: it did not come to its end.", false);
		return;
	}
	if (json_is_object(gain)) {
		gain_text(gain, how_much, sizeof(how_much));
		snprintf(text, sizeof(text), "%s: %s",
			 best ? "Proved gain of the score" : "No proved gain: keep the defaults",
			 how_much);
	} else if (best) {
		snprintf(text, sizeof(text),
			 "The baseline failed, so there is no gain to tell; "
			 "the best values work.");
	} else {
		snprintf(text, sizeof(text),
			 "No proved gain: keep the defaults. No comparison with "
			 "the baseline was made.");
	}
	w->headline(out, text, best);
	if (json_is_false(json_object_get(result, "restored"))) {
		w->headline(out, "Not every value could be put back: see tunesweep status.", false);
	}
}

static void say_numbers(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"metric", "#baseline", "#best", "#proved change", NULL};
	static const struct {
		const char *metric, *change;
	} rows[] = {
		{"throughput", "throughput_percent"},
		{"service_demand", "service_demand_percent"},
		{"score", "percent"},
		{"service_demand_sender", NULL},
		{"service_demand_receiver", NULL},
		{"cpu_sender", NULL},
		{"cpu_receiver", NULL},
		{"retransmits_per_GB", NULL},
		{"rtt", NULL},
		{"lost", NULL},
		{"latency_p50", NULL},
		{"latency_p99", NULL},
	};
	const json_t *gain = json_object_get(result_of(run), "gain");
	struct report_table t;
	report_table_init(&t, heads);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[64];
		const char *m = rows[i].metric;
		const json_t *baseline = told_of(run, "baseline", m),
			     *best = told_of(run, "best", m);
		if (isnan(json_get_number(baseline, m)) && isnan(json_get_number(best, m))) {
			continue;
		}
		report_table_add(&t, m);
		report_table_add(&t, metric_text(baseline, m, buf, sizeof(buf)));
		report_table_add(&t, metric_text(best, m, buf, sizeof(buf)));
		double change = rows[i].change ? json_get_number(gain, rows[i].change) : NAN;
		snprintf(buf, sizeof(buf), isnan(change) ? "-" : "%+.4g %%", change);
		report_table_add(&t, buf);
	}
	if (t.n_cells) {
		w->section(out, "Numbers");
		w->paragraph(out,
			     json_object_get(gain, "medians")
				     ? "Throughput, service demand and score are the medians of "
				       "the proof, which measures baseline and best again, side "
				       "by side; the rest is what the search saw."
				     : "Baseline and best as the search saw them; the change is "
				       "that of the proof, which measures both again, side by "
				       "side.");
		w->table(out, &t);
	}
	report_table_clear(&t);
}

static void say_values(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"setting", "#baseline", "#best", "changed", NULL};
	const json_t *was = values_of(run, "baseline");
	json_t *best = (json_t *)values_of(run, "best"), *value;
	const char *key;
	struct report_table t;
	report_table_init(&t, heads);
	json_object_foreach(best, key, value)
	{
		char buf[256];
		const json_t *before = json_object_get(was, key);
		report_table_add(&t, key);
		report_table_add(&t, before ? report_value(before, buf, sizeof(buf)) : "-");
		report_table_add(&t, report_value(value, buf, sizeof(buf)));
		report_table_add(&t, before && json_equal(before, value) ? "" : "yes");
	}
	report_section(w, out, "Values", NULL, &t);
}

/* "key=value, ..." of what differs from the baseline; "baseline" if nothing does. */
static void differences(const json_t *baseline, json_t *values, char *buf, size_t size)
{
	const char *key;
	json_t *value;
	size_t at = 0;
	snprintf(buf, size, "baseline");
	json_object_foreach(values, key, value)
	{
		char text[256];
		const json_t *before = json_object_get(baseline, key);
		if ((before && json_equal(before, value)) || at >= size) {
			continue;
		}
		at += (size_t)snprintf(buf + at, size - at, "%s%s=%s", at ? ", " : "", key,
				       report_value(value, text, sizeof(text)));
	}
}

static void add_sample_row(struct report_table *t, const json_t *trial, const json_t *sample,
			   const char *changed)
{
	static const char *const numbers[] = {"score", "throughput", "service_demand"};
	char buf[64];
	report_table_add(t, report_value(json_object_get(sample, "sample"), buf, sizeof(buf)));
	report_table_add(t, report_value(json_object_get(trial, "trial"), buf, sizeof(buf)));
	report_table_add(t, json_get_text(trial, "phase", ""));
	for (size_t i = 0; i < 3; i++) {
		report_table_add(t, metric_text(sample, numbers[i], buf, sizeof(buf)));
	}
	report_table_add(t, json_is_true(json_object_get(sample, "ok"))
				    ? json_get_text(sample, "limited_by", "")
				    : "failed");
	report_table_add(t, changed);
}

static void say_samples(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {
		"#sample",     "#trial",	  "phase",	"#score",
		"#throughput", "#service demand", "limited by", "differs from the baseline in",
		NULL};
	json_t *trials = json_object_get(run, "trials"), *trial, *sample;
	size_t i, j;
	struct report_table t;
	report_table_init(&t, heads);
	json_array_foreach(trials, i, trial)
	{
		char changed[2048];
		differences(values_of(run, "baseline"), json_object_get(trial, "values"), changed,
			    sizeof(changed));
		json_array_foreach(json_object_get(trial, "samples"), j, sample)
		{
			add_sample_row(&t, trial, sample, changed);
		}
	}
	w->section(out, "Samples");
	if (t.n_cells) {
		w->table(out, &t);
	} else {
		w->paragraph(out, "No sample was taken.");
	}
	report_table_clear(&t);
}

/* {reason: [times, first trial]} */
static void count_failure(json_t *counts, const json_t *trial, const json_t *sample)
{
	const char *reason = json_get_text(sample, "reason", "no reason given");
	json_t *count = json_object_get(counts, reason);
	if (!count) {
		json_object_set_new(counts, reason,
				    json_pack("[i, O]", 1, json_object_get(trial, "trial")));
		return;
	}
	json_integer_set(json_array_get(count, 0),
			 json_integer_value(json_array_get(count, 0)) + 1);
}

static void say_failures(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"#times", "#first in trial", "reason", NULL};
	json_t *trials = json_object_get(run, "trials"), *counts = json_object(), *trial, *sample;
	const char *reason;
	size_t i, j;
	json_array_foreach(trials, i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, sample)
		{
			if (!json_is_true(json_object_get(sample, "ok"))) {
				count_failure(counts, trial, sample);
			}
		}
	}
	struct report_table t;
	report_table_init(&t, heads);
	json_t *count;
	json_object_foreach(counts, reason, count)
	{
		char buf[32];
		report_table_add(&t, report_value(json_array_get(count, 0), buf, sizeof(buf)));
		report_table_add(&t, report_value(json_array_get(count, 1), buf, sizeof(buf)));
		report_table_add(&t, reason);
	}
	report_section(w, out, "What failed", NULL, &t);
	json_decref(counts);
}

static void say_hosts(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"host", "kernel", "CPU", "#CPUs", "#NUMA nodes", NULL};
	json_t *hosts = json_object_get(run, "hosts"), *host;
	const char *name;
	struct report_table t;
	report_table_init(&t, heads);
	json_object_foreach(hosts, name, host)
	{
		char buf[32];
		report_table_add(&t, name);
		report_table_add(&t, json_get_text(host, "kernel", "-"));
		report_table_add(&t, json_get_text(host, "cpu", "-"));
		report_table_add(&t, report_value(json_object_get(host, "cpus"), buf, sizeof(buf)));
		report_table_add(
			&t, report_value(json_object_get(host, "numa_nodes"), buf, sizeof(buf)));
	}
	report_section(w, out, "Hosts", NULL, &t);
}

void report_body(const json_t *run, const struct report_writer *w, FILE *out)
{
	char title[192], subtitle[256];
	snprintf(title, sizeof(title), "tunesweep: %s", json_get_text(run, "name", "(no name)"));
	snprintf(subtitle, sizeof(subtitle), "run %s, started %s, %s",
		 json_get_text(run, "run", "?"), json_get_text(run, "started", "?"),
		 json_get_text(run, "status", "?"));
	w->begin(out, title, subtitle);
	say_verdict(run, w, out);
	say_headline(run, w, out);
	say_numbers(run, w, out);
	report_say_parts(result_of(run), w, out);
	report_say_panel(result_of(run), w, out);
	report_say_model(result_of(run), w, out);
	say_values(run, w, out);
	say_failures(run, w, out);
	report_say_outliers(run, w, out);
	report_say_interrupts(run, w, out);
	say_hosts(run, w, out);
	if (w->pictures) {
		json_t *data = report_data(run);
		w->pictures(out, data);
		json_decref(data);
	}
	if (!w->pictures_hold_samples) {
		say_samples(run, w, out);
	}
	w->end(out);
}
