/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a test found, as a table or as JSON. Called by cmd_test.c.
 */
#include "cleanup.h"
#include "cli_test.h"
#include "json_util.h"
#include "outliers.h"
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* netperf's letters: bytes with powers of 1024, bits with powers of 1000. */
static const char *rate_text(double bits, char unit, char *out, size_t size)
{
	static const struct {
		char letter;
		double divisor;
		const char *name;
	} units[] = {{'G', 8.0 * (1 << 30), "GiB/s"},
		     {'M', 8.0 * (1 << 20), "MiB/s"},
		     {'K', 8.0 * (1 << 10), "KiB/s"},
		     {'g', 1e9, "Gbit/s"},
		     {'m', 1e6, "Mbit/s"},
		     {'k', 1e3, "kbit/s"}};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (units[i].letter == unit) {
			snprintf(out, size, "%.2f %s", bits / units[i].divisor, units[i].name);
			return out;
		}
	}
	return report_rate(bits, out, size);
}

static const char *metric_text(const struct test_options *o, enum metric m, double v, char *out,
			       size_t size)
{
	char number[32];
	if (m == METRIC_THROUGHPUT || m == METRIC_OFFERED) {
		return rate_text(v, o->unit, out, size);
	}
	if (m == METRIC_CPU_SENDER || m == METRIC_CPU_RECEIVER) {
		snprintf(out, size, "%.1f %%", 100 * v);
		return out;
	}
	report_number(v, number, sizeof(number));
	snprintf(out, size, "%s %s", number, metric_unit(m));
	return out;
}

static void print_row(const struct test_options *o, enum metric m, const struct test_result *r)
{
	const struct test_figure *f = &r->figure[m];
	/* The interval is symmetric; what is counted has an end at 0. */
	double least = m == METRIC_SCORE ? f->interval.lo : fmax(f->interval.lo, 0);
	char value[64], lo[64], hi[64];
	if (!isfinite(f->median)) {
		return;
	}
	printf("%-26s %16s", metric_name(m), metric_text(o, m, f->median, value, sizeof(value)));
	if (isfinite(f->width)) {
		printf("   %s to %s", metric_text(o, m, least, lo, sizeof(lo)),
		       metric_text(o, m, f->interval.hi, hi, sizeof(hi)));
	}
	putchar('\n');
}

static void print_confidence(const struct test_options *o, const struct test_result *r)
{
	static const enum metric all[] = {METRIC_THROUGHPUT, METRIC_SERVICE_DEMAND};
	if (o->repeats_max == 1) {
		return;
	}
	printf("confidence %s after %d of at most %d samples (%d failed): wanted %.3g %% within "
	       "%.3g %%",
	       r->reached ? "reached" : "NOT reached", r->n, o->repeats_max, r->failed,
	       100 * o->level, 100 * o->width);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (isfinite(r->figure[all[i]].median)) {
			double width = r->figure[all[i]].width;
			printf(isfinite(width) ? "; %s: %.3g %%" : "; %s: not bounded yet",
			       metric_name(all[i]), 100 * width);
		}
	}
	putchar('\n');
}

/* The sample that has the most to say: the last that is well. */
static const struct sample *last_good(const struct test_result *r)
{
	for (int i = r->n - 1; i > 0; i--) {
		if (r->samples[i].ok) {
			return &r->samples[i];
		}
	}
	return &r->samples[0];
}

static void print_notes(const struct sample *s)
{
	const json_t *sender = json_object_get(s->detail, "sender");
	const char *note = json_get_text(sender, "note", NULL);
	double background = json_get_number(sender, "cpu_background");
	double port = json_get_number(s->detail, "port");
	printf("%-26s %16s\n", "limited_by", *s->limited_by ? s->limited_by : "unknown");
	if (*s->cpu_source) {
		printf("%-26s %16s", "cpu_source", s->cpu_source);
		if (isfinite(s->cpu_error)) {
			printf("   error bar %.2g %%", 100 * s->cpu_error);
		}
		putchar('\n');
	}
	if (isfinite(port)) {
		printf("%-26s %16.0f   at %s\n", "data port", port,
		       json_get_text(s->detail, "address", "?"));
	}
	if (isfinite(background)) {
		printf("%-26s %14.1f %%\n", "background CPU before", 100 * background);
	}
	if (isfinite(s->warmup) && s->warmup > 0.02) {
		printf("%-26s %14.2f s   %s\n", "warm-up left out", s->warmup,
		       s->steady ? "steady then" : "NEVER STEADY");
	}
	if (note) {
		printf("note: %s\n", note);
	}
}

/* They are counted in; the median and the interval bear them. */
static void print_outliers(const struct test_result *r)
{
	size_t i, k;
	json_t *one, *reason;
	auto_json json_t *all = outliers_find(r->samples, (size_t)r->n);
	json_array_foreach(all, i, one)
	{
		printf("outlier, kept: sample %.0f, %s %+.0f %%", json_get_number(one, "sample"),
		       json_get_text(one, "metric", ""), json_get_number(one, "percent"));
		json_array_foreach(json_object_get(one, "why"), k, reason)
		{
			printf("; %s", json_string_value(reason));
		}
		putchar('\n');
	}
}

static void print_table(const struct test_options *o, const struct test_result *r)
{
	const struct sample *s = last_good(r);
	for (int m = 0; m < METRIC_COUNT; m++) {
		print_row(o, (enum metric)m, r);
	}
	for (size_t i = 0; i < s->n_extra; i++) {
		char number[32];
		printf("%-26s %16s\n", s->extra[i].name,
		       report_number(s->extra[i].value, number, sizeof(number)));
	}
	print_notes(s);
	if (r->modes.n == 2) {
		char lo[64], hi[64];
		printf("TWO MODES: %s in %zu samples, %s in %zu: a median says little\n",
		       rate_text(r->modes.center[0], o->unit, lo, sizeof(lo)), r->modes.count[0],
		       rate_text(r->modes.center[1], o->unit, hi, sizeof(hi)), r->modes.count[1]);
	}
	print_outliers(r);
	print_confidence(o, r);
}

static json_t *sample_json(const struct sample *s)
{
	json_t *j = sample_to_json(s);
	json_object_set_new(j, "ok", json_boolean(s->ok));
	json_object_set_new(j, "error", s->ok ? json_null() : json_string(s->reason));
	json_object_set_new(j, "steady", json_boolean(s->steady));
	json_object_set_new(j, "warmup", json_number_or_null(s->warmup));
	json_object_set_new(j, "detail", s->detail ? json_incref(s->detail) : json_null());
	return j;
}

static json_t *result_json(const struct test_options *o, const struct test_result *r)
{
	json_t *j = sample_to_json(last_good(r)), *all = json_array();
	for (int m = 0; m < METRIC_COUNT; m++) {
		const struct test_figure *f = &r->figure[m];
		json_object_set_new(j, metric_name((enum metric)m), json_number_or_null(f->median));
	}
	for (int i = 0; i < r->n; i++) {
		json_array_append_new(all, sample_json(&r->samples[i]));
	}
	json_object_set_new(j, "type", json_string(o->spec.test.type));
	json_object_set_new(j, "engine", json_string(o->spec.test.engine));
	json_object_set_new(j, "samples", all);
	json_object_set_new(j, "modes",
			    r->modes.n == 2
				    ? json_pack("[f, f]", r->modes.center[0], r->modes.center[1])
				    : json_array());
	json_object_set_new(j, "outliers", outliers_find(r->samples, (size_t)r->n));
	json_object_set_new(j, "failed", json_integer(r->failed));
	if (o->repeats_max > 1) {
		const struct test_figure *t = &r->figure[METRIC_THROUGHPUT];
		const struct test_figure *d = &r->figure[METRIC_SERVICE_DEMAND];
		json_object_set_new(j, "confidence",
				    json_pack("{s:b, s:f, s:f, s:o, s:o}", "reached", r->reached,
					      "level", o->level, "width", o->width,
					      "throughput_width", json_number_or_null(t->width),
					      "service_demand_width",
					      json_number_or_null(d->width)));
	}
	return j;
}

void test_print(const struct cli *c, const struct test_options *o, const struct test_result *r)
{
	if (c->json) {
		auto_json json_t *j = result_json(o, r);
		cli_print_json(j);
	} else {
		print_table(o, r);
	}
}
