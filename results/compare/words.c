/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a comparison says, in words and as a table, through the report's writers. Computes nothing.
 * Called by compare.c and the compare command.
 */
#include "cleanup.h"
#include "compare.h"
#include "compare_words.h"
#include "json_util.h"
#include "report.h"
#include "report_private.h"
#include <math.h>
#include <string.h>

static double bound(const json_t *metric, size_t i)
{
	const json_t *x = json_array_get(json_object_get(metric, "interval"), i);
	return json_is_number(x) ? json_number_value(x) : NAN;
}

/* Of positive numbers, as people write intervals of gains and of losses. */
static json_t *difference(const json_t *metric, const char *more, const char *less)
{
	double percent = json_get_number(metric, "percent"), lo = bound(metric, 0),
	       hi = bound(metric, 1), level = 100 * json_get_number(metric, "level");
	if (percent < 0) {
		double swap = lo;
		lo = -hi;
		hi = -swap;
	}
	return json_sprintf("B %s, %.3g %% interval %.1f to %.1f %%.", percent < 0 ? less : more,
			    level, lo, hi);
}

static json_t *metric_words(const json_t *metric, const char *what, const char *more,
			    const char *less)
{
	double lo = bound(metric, 0), hi = bound(metric, 1),
	       percent = json_get_number(metric, "percent");
	char a[96], b[96];
	if (isnan(lo)) {
		return json_sprintf("%s: %+.1f %%, but too few samples for an interval.", what,
				    percent);
	}
	if (!json_is_true(json_object_get(metric, "significant"))) {
		return json_sprintf("%s: no difference larger than %.1f %% can be seen.", what,
				    fmax(fabs(lo), fabs(hi)));
	}
	snprintf(a, sizeof(a), more, fabs(percent));
	snprintf(b, sizeof(b), less, fabs(percent));
	return difference(metric, a, b);
}

static void how_words(json_t *words, const json_t *c)
{
	const char *how = json_get_text(c, "how", "");
	json_t *n = json_object_get(c, "samples"), *boots = json_object_get(c, "boots");
	long long a = json_integer_value(json_array_get(n, 0)),
		  b = json_integer_value(json_array_get(n, 1)),
		  ba = json_integer_value(json_array_get(boots, 0)),
		  bb = json_integer_value(json_array_get(boots, 1));
	if (!strcmp(how, "paired")) {
		json_array_append_new(
			words,
			json_sprintf("Compared in pairs: %lld configurations that "
				     "both have measured.",
				     (long long)json_integer_value(json_object_get(c, "pairs"))));
	} else if (!strcmp(how, "boots")) {
		json_array_append_new(
			words,
			json_sprintf("Compared boot by boot: %lld against %lld boots.", ba, bb));
	} else {
		json_array_append_new(
			words, json_sprintf("Compared unpaired: %lld against %lld samples of one "
					    "configuration.",
					    a, b));
	}
	if (json_is_true(json_object_get(c, "same_boot"))) {
		return;
	}
	if (json_is_null(json_object_get(c, "same_boot"))) {
		json_array_append_new(words, json_string("The boots are not known: a reboot "
							 "between the two may be part of the "
							 "difference."));
	} else if (!json_is_true(json_object_get(c, "enough"))) {
		json_array_insert_new(
			words, 0,
			json_sprintf("Too little to tell: %lld against %lld boot%s. A reboot alone "
				     "may move the level (by more than 10 %% on some machines); "
				     "the interval holds only what changes within a boot. Measure "
				     "both again after reboots.",
				     ba, bb, ba == 1 && bb == 1 ? " (one boot each)" : "s"));
	}
}

json_t *compare_words(const json_t *c)
{
	json_t *words = json_array(), *difference_text;
	const json_t *metrics = json_object_get(c, "metrics"),
		     *rate = json_object_get(metrics, "throughput"),
		     *demand = json_object_get(metrics, "service_demand"),
		     *score = json_object_get(metrics, "score");
	size_t i;
	if (json_is_object(rate)) {
		json_array_append_new(words, metric_words(rate, "Throughput",
							  "is %.1f %% better in throughput",
							  "is %.1f %% worse in throughput"));
	}
	if (json_is_object(demand)) {
		json_array_append_new(words, metric_words(demand, "CPU per KB",
							  "takes %.1f %% more CPU per KB",
							  "takes %.1f %% less CPU per KB"));
	}
	if (json_is_object(score)) {
		json_array_append_new(words, metric_words(score, "Score", "scores %.1f %% better",
							  "scores %.1f %% worse"));
	}
	how_words(words, c);
	json_array_foreach(json_object_get(c, "differences"), i, difference_text)
	{
		json_array_append_new(words, json_sprintf("They differ in %s.",
							  json_string_value(difference_text)));
	}
	return words;
}

struct view {
	const json_t *c;
	const struct report_writer *w; /* NULL: JSON */
};

static void say_table(const struct view *v, FILE *out)
{
	static const char *const heads[] = {"metric", "#A", "#B", "#change", "95 % interval", NULL};
	json_t *metrics = json_object_get(v->c, "metrics"), *m;
	const char *name;
	struct report_table t;
	report_table_init(&t, heads);
	json_object_foreach(metrics, name, m)
	{
		char buf[64];
		bool rate = !strcmp(name, "throughput");
		if (!json_is_object(m)) {
			continue;
		}
		report_table_add(&t, name);
		for (int s = 0; s < 2; s++) {
			double x = json_get_number(m, s ? "b" : "a");
			report_table_add(&t, rate ? report_rate(x, buf, sizeof(buf))
						  : report_number(x, buf, sizeof(buf)));
		}
		snprintf(buf, sizeof(buf), "%+.2f %%", json_get_number(m, "percent"));
		report_table_add(&t, buf);
		if (isnan(bound(m, 0))) {
			snprintf(buf, sizeof(buf), "-");
		} else {
			snprintf(buf, sizeof(buf), "%+.2f to %+.2f %%", bound(m, 0), bound(m, 1));
		}
		report_table_add(&t, buf);
	}
	v->w->table(out, &t);
	report_table_clear(&t);
}

static void write_view(const void *what, FILE *out)
{
	const struct view *v = what;
	char subtitle[512];
	json_t *words, *word;
	size_t i;
	if (!v->w) {
		json_dumpf(v->c, out, JSON_INDENT(2));
		fputc('\n', out);
		return;
	}
	snprintf(subtitle, sizeof(subtitle), "A: %s, B: %s", json_get_text(v->c, "a", "?"),
		 json_get_text(v->c, "b", "?"));
	v->w->begin(out, "tunesweep: comparison", subtitle);
	words = json_object_get(v->c, "words");
	json_array_foreach(words, i, word)
	{
		if (i == 0) {
			v->w->headline(out, json_string_value(word),
				       json_is_true(json_object_get(v->c, "enough")));
		} else {
			v->w->paragraph(out, json_string_value(word));
		}
	}
	v->w->section(out, "Numbers");
	say_table(v, out);
	v->w->end(out);
}

int compare_write(const json_t *comparison, const char *format, FILE *out, struct err *e)
{
	struct view v = {comparison, report_writer_find(format)};
	if (!v.w && strcmp(format, "json")) {
		return err_usage(e,
				 "there is no format \"%.40s\" of a comparison: text, html, md or "
				 "json",
				 format);
	}
	return report_framed(write_view, &v, out, e);
}
