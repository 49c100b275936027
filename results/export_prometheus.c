/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The newest run of each name in Prometheus' text format (version 0.0.4), for the node exporter's
 * textfile collector. Called by export_runs.c.
 */
#include "cleanup.h"
#include "export_private.h"
#include "json_util.h"
#include <math.h>
#include <string.h>
#include <time.h>

/* Base units, as Prometheus' conventions want them. */
static const struct {
	const char *metric, *key, *in, *help;
	double factor;
} figures[] = {
	{"tunesweep_throughput_bits_per_second", "throughput", NULL,
	 "Throughput of the best configuration found.", 1},
	{"tunesweep_service_demand_seconds_per_byte", "service_demand", NULL,
	 "CPU time per byte of the best configuration found.", 1e-6 / 1024},
	{"tunesweep_gain_ratio", "percent", "gain",
	 "Proved gain of the score over the baseline, 0.1 for 10 percent.", 0.01},
	{"tunesweep_samples", "samples", NULL, "Samples of the run.", 1},
	{"tunesweep_failed_samples", "failed", NULL, "Samples of the run that failed.", 1},
	{"tunesweep_duration_seconds", "seconds", NULL, "How long the run took.", 1},
};

static void put_label(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"') {
			fputc('\\', out);
		}
		if (*text == '\n') {
			fputs("\\n", out);
		} else {
			fputc(*text, out);
		}
	}
}

static void put_labels(FILE *out, const json_t *run)
{
	fputs("{name=\"", out);
	put_label(out, json_get_text(run, "name", ""));
	fputs("\",run=\"", out);
	put_label(out, json_get_text(run, "run", ""));
	fputs("\",status=\"", out);
	put_label(out, json_get_text(run, "status", ""));
	fputs("\"}", out);
}

/* Newest of each name. */
static json_t *newest(const json_t *list, const char *name)
{
	auto_json json_t *seen = json_object();
	json_t *out = json_array(), *run;
	size_t i;
	json_array_foreach((json_t *)list, i, run)
	{
		const char *its = json_get_text(run, "name", "");
		if (!json_object_get(seen, its) && (!name || !strcmp(name, its))) {
			json_object_set_new(seen, its, json_null());
			json_array_append(out, run);
		}
	}
	return out;
}

static double started(const json_t *run)
{
	struct tm tm = {0};
	return strptime(json_get_text(run, "started", ""), "%Y-%m-%dT%H:%M:%SZ", &tm)
		       ? (double)timegm(&tm)
		       : NAN;
}

static void put_family(FILE *out, const char *metric, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metric, help, metric);
}

void export_prometheus(const json_t *list, const char *name, FILE *out)
{
	auto_json json_t *runs = newest(list, name);
	json_t *run;
	size_t i;
	for (size_t f = 0; f < ARRAY_SIZE(figures); f++) {
		put_family(out, figures[f].metric, figures[f].help);
		json_array_foreach(runs, i, run)
		{
			const json_t *o = figures[f].in ? json_object_get(run, figures[f].in) : run;
			double x = json_get_number(o, figures[f].key) * figures[f].factor;
			if (isfinite(x)) {
				fputs(figures[f].metric, out);
				put_labels(out, run);
				fprintf(out, " %.17g\n", x);
			}
		}
	}
	put_family(out, "tunesweep_started_timestamp_seconds", "When the run began.");
	json_array_foreach(runs, i, run)
	{
		if (isfinite(started(run))) {
			fputs("tunesweep_started_timestamp_seconds", out);
			put_labels(out, run);
			fprintf(out, " %.0f\n", started(run));
		}
	}
}
