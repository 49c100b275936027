/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the JSON of iperf3 (-J) and of flent as results. iperf3's CPU figures are those of its own
 * processes, not of the host, so they are no service demand. Called by import.c.
 */
#include "cleanup.h"
#include "import_private.h"
#include "json_util.h"
#include <math.h>
#include <string.h>
#include <time.h>

static int not_a_number(const struct import_text *t, const char *what, struct err *e)
{
	return err_usage(e, "%s:1:1: %s is missing, or not a number that a rate can be", t->file,
			 what);
}

static void label_date(json_t *row, double seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm;
	char date[16];
	if (seconds > 0 && gmtime_r(&at, &tm)) {
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		import_label(row, "date", date);
	}
}

/* "Linux name 6.1.0-18-amd64 #1 SMP ...": uname's words. */
static void label_kernel(json_t *row, const char *uname)
{
	char system[32], host[128], kernel[128];
	if (sscanf(uname, "%31s %127s %127s", system, host, kernel) == 3) {
		import_label(row, "kernel", kernel);
	}
}

static int read_iperf3(const struct import_text *t, const json_t *root, json_t *rows, struct err *e)
{
	const json_t *start = json_object_get(root, "start"), *end = json_object_get(root, "end"),
		     *test = json_object_get(start, "test_start"),
		     *got = json_object_get(end, "sum_received"),
		     *sent = json_object_get(end, "sum_sent"), *sum = json_object_get(end, "sum");
	const char *error = json_get_text(root, "error", "");
	if (*error) {
		return err_usage(e, "%s:1:1: iperf3 failed: %s", t->file, error);
	}
	bool udp = !strcmp(json_get_text(test, "protocol", ""), "UDP");
	double rate = json_get_number(got, "bits_per_second");
	if (udp && !(rate > 0)) { /* old ones have the sender's rate and the loss alone */
		rate = json_get_number(sum, "bits_per_second") *
		       (1 - json_get_number(sum, "lost_percent") / 100);
	}
	if (!isfinite(rate) || rate < 0) {
		return not_a_number(t, "end.sum_received.bits_per_second", e);
	}
	json_t *row = import_add_row(rows);
	import_metric(row, METRIC_THROUGHPUT, rate);
	import_metric(row, METRIC_RETRANSMITS, json_get_number(sent, "retransmits"));
	import_metric(row, METRIC_SECONDS, json_get_number(got ? got : sum, "seconds"));
	import_metric(row, METRIC_SENT, json_get_number(sum, "packets"));
	import_metric(row, METRIC_LOST, json_get_number(sum, "lost_packets"));
	label_kernel(row, json_get_text(start, "system_info", ""));
	label_date(row, json_get_number(json_object_get(start, "timestamp"), "timesecs"));
	import_label(row, "tool", json_get_text(start, "version", "iperf3"));
	json_t *size = json_object_get(test, "blksize");
	if (json_is_integer(size)) {
		json_object_set(json_object_get(row, "values"), "socket.message_size", size);
	}
	return 0;
}

static double mean_of(json_t *series)
{
	double sum = 0;
	size_t i, n = 0;
	json_t *x;
	json_array_foreach(series, i, x)
	{
		if (json_is_number(x)) {
			sum += json_number_value(x);
			n++;
		}
	}
	return n ? sum / (double)n : NAN;
}

/* "TCP upload sum", else the only series whose name says TCP or UDP and no latency: in Mbit/s. */
static json_t *flent_series(json_t *results, const char **name)
{
	static const char *const sums[] = {"TCP upload sum", "TCP download sum", "TCP totals",
					   "TCP upload", "TCP download"};
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		json_t *series = json_object_get(results, sums[i]);
		if (series) {
			*name = sums[i];
			return series;
		}
	}
	return NULL;
}

static int read_flent(const struct import_text *t, const json_t *root, json_t *rows, struct err *e)
{
	const json_t *meta = json_object_get(root, "metadata");
	const char *name = "";
	json_t *series = flent_series(json_object_get(root, "results"), &name);
	double rate = mean_of(series) * 1e6;
	if (!series) {
		return err_usage(e,
				 "%s:1:1: none of its series is TCP throughput (TCP upload, TCP "
				 "download, or their sums)",
				 t->file);
	}
	if (!(rate >= 0)) {
		return not_a_number(t, name, e);
	}
	json_t *row = import_add_row(rows);
	import_metric(row, METRIC_THROUGHPUT, rate);
	import_metric(row, METRIC_SECONDS, json_get_number(meta, "LENGTH"));
	import_label(row, "kernel", json_get_text(meta, "KERNEL_RELEASE", ""));
	import_label(row, "variant", json_get_text(meta, "TITLE", ""));
	import_label(row, "test", json_get_text(meta, "NAME", ""));
	char date[16] = "";
	snprintf(date, sizeof(date), "%.10s", json_get_text(meta, "TIME", ""));
	import_label(row, "date", date);
	import_label(row, "tool", "flent");
	return 0;
}

int import_json(const struct import_text *t, const char *format, json_t *rows, struct err *e)
{
	json_error_t error;
	auto_json json_t *root = json_loads(t->text, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		return err_usage(e, "%s:%d:%d: not whole JSON: %s", t->file, error.line,
				 error.column, error.text);
	}
	bool flent = json_object_get(root, "metadata") && json_object_get(root, "results");
	bool iperf3 = json_object_get(root, "start") || json_object_get(root, "end") ||
		      json_object_get(root, "error");
	if (!strcmp(format, "flent") || (!strcmp(format, "json") && flent)) {
		return read_flent(t, root, rows, e);
	}
	if (!strcmp(format, "iperf3") || iperf3) {
		return read_iperf3(t, root, rows, e);
	}
	return err_usage(e, "%s:1:1: this JSON is neither iperf3's nor flent's", t->file);
}
