/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline as tables for people, through the report's writers, and as CSV. Computes nothing.
 * Called by the timeline command.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report.h"
#include "report_private.h"
#include "timeline.h"
#include <math.h>
#include <string.h>

struct view { /* what is written, and how */
	const json_t *timeline;
	const struct report_writer *w; /* NULL: CSV or JSON */
	bool csv, variants;
};

static void percent(char *buf, size_t size, double x)
{
	snprintf(buf, size, isfinite(x) ? "%+.1f %%" : "", x);
}

static double bound(const json_t *o, const char *key, size_t i)
{
	const json_t *x = json_array_get(json_object_get(o, key), i);
	return json_is_number(x) ? json_number_value(x) : NAN;
}

/* Does any row know this? Columns of nothing are left out. */
static bool any(json_t *rows, const char *key)
{
	json_t *row;
	size_t i;
	json_array_foreach(rows, i, row)
	{
		if (!isnan(json_get_number(row, key))) {
			return true;
		}
	}
	return false;
}

/* The labels' columns, which differ from store to store; heads point into them. */
static void begin_table(struct report_table *t, const char *by, json_t *columns,
			const char *const *rest)
{
	const char *heads[REPORT_COLUMNS_MAX + 1] = {by};
	size_t n = 1, i;
	json_t *column;
	json_array_foreach(columns, i, column)
	{
		if (n < REPORT_COLUMNS_MAX - 8) {
			heads[n++] = json_string_value(column);
		}
	}
	for (; *rest && n < REPORT_COLUMNS_MAX; rest++) {
		heads[n++] = *rest;
	}
	heads[n] = NULL;
	report_table_init(t, heads);
}

static void add_labels(struct report_table *t, const json_t *row, json_t *columns)
{
	char buf[256];
	size_t i;
	json_t *column;
	report_table_add(t, json_get_text(row, "group", ""));
	json_array_foreach(columns, i, column)
	{
		if (i < REPORT_COLUMNS_MAX - 9) {
			const json_t *value = json_object_get(json_object_get(row, "labels"),
							      json_string_value(column));
			report_table_add(t, report_value(value, buf, sizeof(buf)));
		}
	}
}

static void add_rate(struct report_table *t, double x)
{
	char buf[48];
	report_table_add(t, isfinite(x) ? report_rate(x, buf, sizeof(buf)) : "");
}

static void add_percent(struct report_table *t, double x)
{
	char buf[48];
	percent(buf, sizeof(buf), x);
	report_table_add(t, buf);
}

static void add_interval(struct report_table *t, const json_t *row)
{
	char lo[48], hi[48], both[112] = "";
	if (isfinite(bound(row, "interval", 0))) {
		snprintf(both, sizeof(both), "%s .. %s",
			 report_rate(bound(row, "interval", 0), lo, sizeof(lo)),
			 report_rate(bound(row, "interval", 1), hi, sizeof(hi)));
	}
	report_table_add(t, both);
}

static void add_row(struct report_table *t, const json_t *row, json_t *columns, bool demand)
{
	char buf[64];
	double plain = json_get_number(row, "against_plain_percent");
	add_labels(t, row, columns);
	report_table_add(t, report_value(json_object_get(row, "samples"), buf, sizeof(buf)));
	report_table_add(t, report_value(json_object_get(row, "boots"), buf, sizeof(buf)));
	add_rate(t, json_get_number(row, "throughput"));
	add_interval(t, row);
	if (demand) {
		double sd = json_get_number(row, "service_demand");
		report_table_add(t, isfinite(sd) ? report_number(sd, buf, sizeof(buf)) : "");
	}
	if (isfinite(plain)) {
		snprintf(buf, sizeof(buf), "%+.1f %% against plain", plain);
		report_table_add(t, buf);
	} else {
		add_percent(t, json_get_number(row, "change_percent"));
	}
	report_table_add(t, json_is_true(json_object_get(row, "changed")) ? "<<<" : "");
}

/* "name: nightly, machine: a" */
static void say_common(const struct view *v, json_t *labels, FILE *out)
{
	char text[512] = "", value[256];
	const char *name;
	json_t *j;
	json_object_foreach(labels, name, j)
	{
		size_t at = strlen(text);
		snprintf(text + at, sizeof(text) - at, "%s%s: %s", at ? ", " : "", name,
			 report_value(j, value, sizeof(value)));
	}
	v->w->section(out, *text ? text : "Results");
}

static void say_rows(const struct view *v, const json_t *table, FILE *out)
{
	json_t *rows = json_object_get(table, "rows"), *columns = json_object_get(table, "columns");
	bool demand = any(rows, "service_demand");
	const char *rest[] = {"#samples", "#boots", "#median", "95 % interval",
			      "#us/KB",	  "change", "",	       NULL};
	if (!demand) {
		memmove(&rest[4], &rest[5], 3 * sizeof(rest[0]));
	}
	struct report_table t;
	size_t i;
	json_t *row;
	begin_table(&t, json_get_text(v->timeline, "by", ""), columns, rest);
	json_array_foreach(rows, i, row)
	{
		add_row(&t, row, columns, demand);
	}
	v->w->table(out, &t);
	report_table_clear(&t);
}

static void say_variants(const struct view *v, const json_t *table, FILE *out)
{
	static const char *const rest[] = {
		"variant",	 "#without",	   "#with",	      "#difference",
		"#level before", "#drop regained", "#against before", NULL};
	json_t *rows = json_object_get(table, "variants"), *row;
	auto_json json_t *columns = json_array();
	struct report_table t;
	size_t i;
	json_array_foreach(json_object_get(table, "columns"), i, row)
	{
		const char *name = json_string_value(row);
		if (strcmp(name, "variant") && strcmp(name, "label")) {
			json_array_append(columns, row);
		}
	}
	if (!json_array_size(rows)) {
		v->w->paragraph(out, "No group was measured both with and without a variant.");
		return;
	}
	begin_table(&t, json_get_text(v->timeline, "by", ""), columns, rest);
	json_array_foreach(rows, i, row)
	{
		add_labels(&t, row, columns);
		report_table_add(&t, json_get_text(row, "variant", ""));
		add_rate(&t, json_get_number(row, "plain"));
		add_rate(&t, json_get_number(row, "with"));
		add_percent(&t, json_get_number(row, "difference_percent"));
		add_rate(&t, json_get_number(row, "before"));
		char buf[48] = "";
		double regained = json_get_number(row, "regained_percent");
		snprintf(buf, sizeof(buf), isfinite(regained) ? "%.0f %%" : "", regained);
		report_table_add(&t, buf);
		add_percent(&t, json_get_number(row, "left_percent"));
	}
	v->w->table(out, &t);
	report_table_clear(&t);
}

static void udp_row(struct report_table *t, const json_t *row)
{
	char sizes[512] = "", buf[64], good[256] = "";
	size_t i;
	json_t *size;
	report_table_add(t, json_get_text(json_object_get(row, "labels"), "kernel", "-"));
	report_table_add(t, report_value(json_object_get(row, "mtu"), buf, sizeof(buf)));
	json_array_foreach(json_object_get(row, "sizes"), i, size)
	{
		size_t at = strlen(sizes);
		snprintf(sizes + at, sizeof(sizes) - at, "%s%.0f: %s", at ? ", " : "",
			 json_get_number(size, "message_size"),
			 report_rate(json_get_number(size, "throughput"), buf, sizeof(buf)));
	}
	report_table_add(t, sizes);
	report_table_add(t, report_value(json_object_get(row, "best_size"), buf, sizeof(buf)));
	add_rate(t, json_get_number(row, "throughput"));
	json_array_foreach(json_object_get(row, "as_good"), i, size)
	{
		size_t at = strlen(good);
		snprintf(good + at, sizeof(good) - at, "%s%lld", at ? ", " : "",
			 (long long)json_integer_value(size));
	}
	bool fair = json_is_true(json_object_get(row, "fair"));
	report_table_add(t, !fair ? "one sample each: too little to choose by" : good);
}

static void say_udp(const struct view *v, FILE *out)
{
	static const char *const heads[] = {"kernel",	  "#MTU",	"received by message size",
					    "#best size", "#its level", "as good",
					    NULL};
	json_t *rows = json_object_get(v->timeline, "udp"), *row;
	struct report_table t;
	size_t i;
	if (!json_array_size(rows)) {
		return;
	}
	report_table_init(&t, heads);
	json_array_foreach(rows, i, row)
	{
		udp_row(&t, row);
	}
	v->w->section(out, "Message size and MTU");
	v->w->table(out, &t);
	report_table_clear(&t);
}

static void write_tables(const struct view *v, FILE *out)
{
	json_t *table, *note;
	size_t i, j;
	char subtitle[128];
	snprintf(subtitle, sizeof(subtitle), "by %s; <<< marks a change by more than chance",
		 json_get_text(v->timeline, "by", ""));
	v->w->begin(out, v->variants ? "tunesweep: with and without" : "tunesweep: timeline",
		    subtitle);
	json_array_foreach(json_object_get(v->timeline, "tables"), i, table)
	{
		say_common(v, json_object_get(table, "labels"), out);
		if (v->variants) {
			say_variants(v, table, out);
		} else {
			say_rows(v, table, out);
		}
		json_array_foreach(json_object_get(table, "notes"), j, note)
		{
			v->w->paragraph(out, json_string_value(note));
		}
	}
	say_udp(v, out);
	if (v->w->pictures) {
		auto_json json_t *data = json_copy((json_t *)v->timeline);
		json_object_set_new(data, "kind", json_string("timeline"));
		v->w->pictures(out, data);
	}
	v->w->end(out);
}

static void csv_row(const struct view *v, const json_t *row, json_t *labels, FILE *out)
{
	static const char *const keys[] = {"samples",
					   "boots",
					   "throughput",
					   "lo",
					   "hi",
					   "service_demand",
					   "change_percent",
					   "against_plain_percent",
					   "changed",
					   "p"};
	char buf[512];
	const char *name;
	json_t *unused;
	report_csv_field(out, json_get_text(row, "group", ""), true);
	json_object_foreach(labels, name, unused)
	{
		const json_t *value = json_object_get(json_object_get(row, "labels"), name);
		report_csv_field(out, report_value(value, buf, sizeof(buf)), false);
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		bool lo = !strcmp(keys[i], "lo"), hi = !strcmp(keys[i], "hi");
		const json_t *value = lo || hi
					      ? json_array_get(json_object_get(row, "interval"), hi)
					      : json_object_get(row, keys[i]);
		report_csv_field(out, report_value(value, buf, sizeof(buf)), false);
	}
	fputc('\n', out);
	(void)v;
}

static void write_csv(const struct view *v, FILE *out)
{
	json_t *table, *row, *unused;
	size_t i, j;
	const char *name, *by = json_get_text(v->timeline, "by", "");
	auto_json json_t *labels = json_object();
	json_array_foreach(json_object_get(v->timeline, "tables"), i, table)
	{
		json_array_foreach(json_object_get(table, "rows"), j, row)
		{
			json_object_update(labels, json_object_get(row, "labels"));
		}
	}
	json_object_del(labels, by);
	report_csv_field(out, by, true);
	json_object_foreach(labels, name, unused)
	{
		report_csv_field(out, name, false);
	}
	fputs(",samples,boots,throughput,lo,hi,service_demand,change_percent,"
	      "against_plain_percent,changed,p\n",
	      out);
	json_array_foreach(json_object_get(v->timeline, "tables"), i, table)
	{
		json_array_foreach(json_object_get(table, "rows"), j, row)
		{
			csv_row(v, row, labels, out);
		}
	}
}

static void write_view(const void *what, FILE *out)
{
	const struct view *v = what;
	if (v->w) {
		write_tables(v, out);
	} else if (v->csv) {
		write_csv(v, out);
	} else {
		json_dumpf(v->timeline, out, JSON_INDENT(2));
		fputc('\n', out);
	}
}

int timeline_write(const json_t *timeline, const char *format, bool variants, FILE *out,
		   struct err *e)
{
	struct view v = {timeline, report_writer_find(format), !strcmp(format, "csv"), variants};
	if (!v.w && !v.csv && strcmp(format, "json")) {
		return err_usage(e,
				 "there is no format \"%.40s\" of a timeline: text, html, md, csv "
				 "or json",
				 format);
	}
	return report_framed(write_view, &v, out, e);
}
