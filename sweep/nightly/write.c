/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A night's or a fleet's summary for people, programs and Prometheus (text format 0.0.4, for the
 * node exporter's textfile collector). It decides nothing. Called by the nightly command.
 */
#include "cleanup.h"
#include "files.h"
#include "json_util.h"
#include "nightly.h"
#include "replace.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static void print_sweep(const json_t *s, FILE *out)
{
	const json_t *gain = json_object_get(s, "gain");
	const json_t *interval = json_object_get(gain, "interval");
	const char *reason = json_get_text(s, "reason", "");
	fprintf(out, "  sweep %s%s%s: %s", json_get_text(s, "spec", "?"),
		json_object_get(s, "kind") ? " on " : "", json_get_text(s, "kind", ""),
		json_get_text(s, "status", "?"));
	if (json_is_true(json_object_get(s, "resumed"))) {
		fputs(", resumed", out);
	}
	if (json_is_true(json_object_get(gain, "significant"))) {
		fprintf(out, ", %+.1f %% (%+.1f to %+.1f)", json_get_number(gain, "percent"),
			json_number_value(json_array_get(interval, 0)),
			json_number_value(json_array_get(interval, 1)));
	}
	if (json_is_true(json_object_get(s, "new_best"))) {
		fputs(", the best so far", out);
	}
	if (json_is_true(json_object_get(s, "applied"))) {
		fputs(", applied", out);
	}
	fprintf(out, "%s%s\n", *reason ? ": " : "", reason);
}

static void print_change(const json_t *c, FILE *out)
{
	const char *before = json_get_text(c, "kernel_before", ""),
		   *kernel = json_get_text(c, "kernel", "");
	double percent = json_get_number(c, "percent");
	fprintf(out, "  %s%s: %s of %s, %s",
		json_is_true(json_object_get(c, "alarm")) ? "ALARM " : "",
		json_get_text(c, "change", "unknown"), json_get_text(c, "metric", "?"),
		json_get_text(c, "spec", "?"), json_get_text(c, "configuration", "?"));
	if (isfinite(percent)) {
		fprintf(out, ": %+.1f %% against %lld night%s", percent,
			(long long)json_integer_value(json_object_get(c, "nights")),
			json_integer_value(json_object_get(c, "nights")) == 1 ? "" : "s");
	} else {
		fprintf(out, ": %s", json_get_text(c, "verdict", "?"));
	}
	if (*before && *kernel && strcmp(before, kernel) != 0) {
		fprintf(out, " (kernel %s, before %s)", kernel, before);
	}
	fprintf(out, " on %s\n", json_get_text(c, "host", "?"));
}

static void print_text(const json_t *s, FILE *out)
{
	json_t *one;
	size_t i;
	long long alarms = json_integer_value(json_object_get(s, "alarms"));
	if (json_object_get(s, "tunesweep_nightly_fleet")) {
		fprintf(out, "%lld hosts: %lld alarm%s\n",
			(long long)json_integer_value(json_object_get(s, "hosts")), alarms,
			alarms == 1 ? "" : "s");
	} else {
		const char *reason = json_get_text(s, "reason", "");
		fprintf(out, "night of %s on %s: %s%s%s; %lld alarm%s\n",
			json_get_text(s, "night", "?"), json_get_text(s, "host", "?"),
			json_get_text(s, "status", "?"), *reason ? ": " : "", reason, alarms,
			alarms == 1 ? "" : "s");
	}
	json_array_foreach(json_object_get(s, "sweeps"), i, one)
	{
		print_sweep(one, out);
	}
	json_array_foreach(json_object_get(s, "comparisons"), i, one)
	{
		print_change(one, out);
	}
}

static void put_label(FILE *out, char before, const char *name, const json_t *o, const char *key)
{
	const char *text = json_get_text(o, key, "");
	fprintf(out, "%c%s=\"", before, name);
	for (; *text; text++) {
		if (*text == '\\' || *text == '"') {
			fputc('\\', out);
		}
		fputs(*text == '\n' ? "\\n" : (char[]){*text, 0}, out);
	}
	fputc('"', out);
}

static void put_family(FILE *out, const char *metric, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metric, help, metric);
}

static void put_comparisons(const json_t *s, const char *metric, const char *key, double factor,
			    const char *help, FILE *out)
{
	json_t *one;
	size_t i;
	put_family(out, metric, help);
	json_array_foreach(json_object_get(s, "comparisons"), i, one)
	{
		const json_t *value = json_object_get(one, key);
		double x = json_is_boolean(value) ? json_is_true(value)
						  : json_get_number(one, key) * factor;
		if (isfinite(x)) {
			fputs(metric, out);
			put_label(out, '{', "host", one, "host");
			put_label(out, ',', "spec", one, "spec");
			put_label(out, ',', "configuration", one, "configuration");
			put_label(out, ',', "metric", one, "metric");
			fprintf(out, "} %.17g\n", x);
		}
	}
}

static void put_gains(const json_t *s, FILE *out)
{
	json_t *one;
	size_t i;
	put_family(out, "tunesweep_night_gain_ratio",
		   "Proved gain of this night's sweep over the baseline, 0.1 for 10 percent.");
	json_array_foreach(json_object_get(s, "sweeps"), i, one)
	{
		const json_t *gain = json_object_get(one, "gain");
		if (json_is_true(json_object_get(gain, "significant")) &&
		    isfinite(json_get_number(gain, "percent"))) {
			fputs("tunesweep_night_gain_ratio", out);
			put_label(out, '{', "spec", one, "spec");
			put_label(out, ',', "kind", one, "kind");
			fprintf(out, "} %.17g\n", json_get_number(gain, "percent") / 100);
		}
	}
}

static void print_prometheus(const json_t *s, FILE *out)
{
	put_comparisons(s, "tunesweep_night_alarm", "alarm", 1,
			"1: confirmed to be worse than on the nights before.", out);
	put_comparisons(s, "tunesweep_night_change_ratio", "percent", 0.01,
			"Change against the nights before, 0.1 for 10 percent more.", out);
	put_gains(s, out);
	put_family(out, "tunesweep_night_alarms", "How many alarms there are.");
	fprintf(out, "tunesweep_night_alarms %lld\n",
		(long long)json_integer_value(json_object_get(s, "alarms")));
	if (json_object_get(s, "ended")) {
		put_family(out, "tunesweep_night_status",
			   "1 for the way in which the night ended.");
		fputs("tunesweep_night_status", out);
		put_label(out, '{', "status", s, "status");
		fputs("} 1\n", out);
		put_family(out, "tunesweep_night_ended_timestamp_seconds", "When it ended.");
		fprintf(out, "tunesweep_night_ended_timestamp_seconds %lld\n",
			(long long)json_integer_value(json_object_get(s, "ended")));
	}
}

void nightly_print(const json_t *summary, enum nightly_format format, FILE *out)
{
	switch (format) {
	case NIGHTLY_JSON:
		json_dumpf(summary, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
		fputc('\n', out);
		break;
	case NIGHTLY_PROMETHEUS:
		print_prometheus(summary, out);
		break;
	default:
		print_text(summary, out);
	}
}

int nightly_save(const json_t *summary, enum nightly_format format, const char *path, struct err *e)
{
	char part[PATH_MAX], place[PATH_MAX];
	int refused = replace_place(path, place, e);
	if (refused) {
		return refused;
	}
	if (snprintf(part, sizeof(part), "%s.part", place) >= (int)sizeof(part)) {
		return err_set(e, -ENAMETOOLONG, "%s: too long", path);
	}
	errno = 0;
	FILE *f = fopen(part, "we");
	if (f) {
		nightly_print(summary, format, f);
	}
	bool bad = !f || ferror(f);
	bad |= f && fclose(f) != 0;
	if (bad || rename(part, place) < 0) {
		int rc = err_set(e, errno ? -errno : -EIO, "%s: %s", path,
				 strerror(errno ? errno : EIO));
		unlink(part);
		return rc;
	}
	return 0;
}
