/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what netperf prints: its classic tables of stream tests, with and without CPU figures, and
 * omni's key=value lines. Several results in one file are several rows. Called by import.c.
 */
#include "cleanup.h"
#include "import_private.h"
#include "json_util.h"
#include <math.h>
#include <string.h>

enum { FIELDS_MAX = 12 };

struct fields {
	const char *at[FIELDS_MAX]; /* in the text */
	size_t length[FIELDS_MAX], n;
};

struct reader {
	const struct import_text *t;
	const char *line; /* of the text */
	double unit;	  /* of the classic table at hand, bit/s; 0 outside one */
	bool udp;
	double sent_rate; /* UDP: the sender's line was read; NaN if not */
	double sent, message, seconds;
	json_t *row; /* of the key=value lines at hand */
};

static struct fields split(const char *line)
{
	struct fields f = {.n = 0};
	while (f.n < FIELDS_MAX) {
		line += strspn(line, " \t\r");
		if (!*line || *line == '\n') {
			break;
		}
		f.at[f.n] = line;
		f.length[f.n] = strcspn(line, " \t\r\n");
		line += f.length[f.n++];
	}
	return f;
}

static bool is(const struct fields *f, size_t i, const char *word)
{
	return i < f->n && f->length[i] == strlen(word) && !memcmp(f->at[i], word, f->length[i]);
}

/* -f of netperf; its K, M and G are 1024. */
static double unit_of(const char *word, size_t n)
{
	static const struct {
		const char *word;
		double factor;
	} units[] = {
		{"10^3bits", 1e3},	{"10^6bits", 1e6},	   {"10^9bits", 1e9},
		{"KBytes", 8 * 1024.0}, {"MBytes", 8 * 1048576.0}, {"GBytes", 8 * 1073741824.0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t length = strlen(units[i].word);
		if (n >= length && !memcmp(word, units[i].word, length) &&
		    (n == length || word[length] == '/')) {
			return units[i].factor;
		}
	}
	return 0;
}

static int number(const struct reader *r, const struct fields *f, size_t i, double *out,
		  struct err *e)
{
	return import_number(r->t, f->at[i], f->length[i], out, e);
}

/* The line of units ends the head of a table: "bytes bytes bytes secs. 10^6bits/s ...". */
static bool take_units(struct reader *r, const struct fields *f)
{
	if (!is(f, 0, "bytes")) {
		return false;
	}
	for (size_t i = 1; i < f->n; i++) {
		double unit = unit_of(f->at[i], f->length[i]);
		if (unit > 0) {
			r->unit = unit;
			r->udp = is(f, 3, "#");
			r->sent_rate = NAN;
		}
	}
	return true;
}

static double known(double x)
{
	return x < 0 ? NAN : x; /* -1: not measured */
}

static int take_tcp(struct reader *r, const struct fields *f, json_t *rows, struct err *e)
{
	double x[9];
	if (f->n != 5 && f->n != 9) {
		return import_error(r->t, f->at[f->n - 1], e,
				    "a result of netperf has 5 numbers, or 9 with CPU; here are "
				    "%zu",
				    f->n);
	}
	for (size_t i = 0; i < f->n; i++) {
		int rc = number(r, f, i, &x[i], e);
		if (rc) {
			return rc;
		}
	}
	json_t *row = import_add_row(rows);
	import_metric(row, METRIC_THROUGHPUT, x[4] * r->unit);
	import_metric(row, METRIC_SECONDS, x[3]);
	json_object_set_new(json_object_get(row, "values"), "socket.message_size",
			    json_integer((json_int_t)x[2]));
	if (f->n == 9) {
		import_metric(row, METRIC_CPU_SENDER, known(x[5]) / 100);
		import_metric(row, METRIC_CPU_RECEIVER, known(x[6]) / 100);
		import_metric(row, METRIC_SERVICE_DEMAND_SENDER, known(x[7]));
		import_metric(row, METRIC_SERVICE_DEMAND_RECEIVER, known(x[8]));
		import_sum(row);
	}
	import_label(row, "tool", "netperf");
	r->unit = 0;
	return 0;
}

/* Two lines: what was sent (socket, message, time, messages, errors, rate), and what arrived
 * (socket, time, messages, rate). The second is the result. */
static int take_udp(struct reader *r, const struct fields *f, json_t *rows, struct err *e)
{
	double x[FIELDS_MAX];
	bool first = isnan(r->sent_rate);
	size_t wanted = first ? 6 : 4;
	if (f->n < wanted) {
		return import_error(r->t, f->at[f->n - 1], e,
				    "this line of a UDP test has %zu numbers, not %zu", f->n,
				    wanted);
	}
	for (size_t i = 0; i < f->n; i++) {
		int rc = number(r, f, i, &x[i], e);
		if (rc) {
			return rc;
		}
	}
	if (first) {
		r->message = x[1];
		r->seconds = x[2];
		r->sent = x[3];
		r->sent_rate = x[5] * r->unit;
		return 0;
	}
	json_t *row = import_add_row(rows);
	import_metric(row, METRIC_THROUGHPUT, x[3] * r->unit);
	import_metric(row, METRIC_OFFERED, r->sent_rate);
	import_metric(row, METRIC_SENT, r->sent);
	import_metric(row, METRIC_LOST, r->sent - x[2]);
	import_metric(row, METRIC_SECONDS, r->seconds);
	json_object_set_new(json_object_get(row, "values"), "socket.message_size",
			    json_integer((json_int_t)r->message));
	import_label(row, "tool", "netperf");
	r->unit = 0;
	return 0;
}

static const struct {
	const char *key;
	int metric; /* -1: a label */
	const char *label;
	double factor;
} omni[] = {
	{"ELAPSED_TIME", METRIC_SECONDS, NULL, 1},
	{"LOCAL_CPU_UTIL", METRIC_CPU_SENDER, NULL, 0.01},
	{"REMOTE_CPU_UTIL", METRIC_CPU_RECEIVER, NULL, 0.01},
	{"LOCAL_SD", METRIC_SERVICE_DEMAND_SENDER, NULL, 1},
	{"REMOTE_SD", METRIC_SERVICE_DEMAND_RECEIVER, NULL, 1},
	{"LOCAL_TRANSPORT_RETRANS", METRIC_RETRANSMITS, NULL, 1},
	{"P50_LATENCY", METRIC_LATENCY_P50, NULL, 1},
	{"P99_LATENCY", METRIC_LATENCY_P99, NULL, 1},
	{"LOCAL_RELEASE", -1, "kernel", 0},
	{"LOCAL_DRIVER_NAME", -1, "driver", 0},
	{"LOCAL_DRIVER_FIRMWARE", -1, "firmware", 0},
};

static json_t *row_at_hand(struct reader *r, json_t *rows, const char *key)
{
	json_t *done = json_object_get(r->row, "seen");
	if (!r->row || json_object_get(done, key)) { /* the next result's lines begin */
		r->row = import_add_row(rows);
		json_object_set_new(r->row, "seen", json_object());
		import_label(r->row, "tool", "netperf");
	}
	json_object_set_new(json_object_get(r->row, "seen"), key, json_true());
	return r->row;
}

/* KEY=VALUE of omni's -k. */
static int take_key(struct reader *r, const char *equals, json_t *rows, struct err *e)
{
	char key[64], value[256];
	const char *at = equals + 1;
	size_t n = strcspn(at, "\r\n");
	double x;
	snprintf(key, sizeof(key), "%.*s", (int)(equals - r->line), r->line);
	snprintf(value, sizeof(value), "%.*s", (int)n, at);
	json_t *row = row_at_hand(r, rows, key);
	if (!strcmp(key, "THROUGHPUT")) {
		int rc = import_number(r->t, at, n, &x, e);
		if (!rc) { /* netperf's default unit; THROUGHPUT_UNITS follows */
			import_metric(row, METRIC_THROUGHPUT, x * 1e6);
		}
		return rc;
	}
	if (!strcmp(key, "THROUGHPUT_UNITS")) {
		json_t *metrics = json_object_get(row, "metrics");
		double unit = unit_of(value, strlen(value));
		if (unit == 0) {
			return import_error(r->t, at, e, "%s is no unit of a rate", value);
		}
		import_metric(row, METRIC_THROUGHPUT,
			      json_get_number(metrics, metric_name(METRIC_THROUGHPUT)) / 1e6 *
				      unit);
	}
	for (size_t i = 0; i < ARRAY_SIZE(omni); i++) {
		if (strcmp(key, omni[i].key) || !*value) {
			continue;
		}
		if (omni[i].metric < 0) {
			import_label(row, omni[i].label, value);
			continue;
		}
		int rc = import_number(r->t, at, n, &x, e);
		if (rc) {
			return rc;
		}
		import_metric(row, (enum metric)omni[i].metric, known(x) * omni[i].factor);
	}
	return 0;
}

static int take_line(struct reader *r, json_t *rows, struct err *e)
{
	struct fields f = split(r->line);
	size_t key = strspn(r->line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (key > 2 && r->line[key] == '=') {
		return take_key(r, r->line + key, rows, e);
	}
	if (!f.n || take_units(r, &f) || r->unit == 0) {
		return 0;
	}
	return r->udp ? take_udp(r, &f, rows, e) : take_tcp(r, &f, rows, e);
}

int import_netperf(const struct import_text *t, json_t *rows, struct err *e)
{
	struct reader r = {.t = t, .line = t->text, .sent_rate = NAN};
	json_t *row;
	size_t i;
	while (*r.line) {
		int rc = take_line(&r, rows, e);
		if (rc) {
			return rc;
		}
		r.line += strcspn(r.line, "\n");
		r.line += *r.line == '\n';
	}
	if (r.unit > 0) {
		return import_error(t, r.line, e, "the text ends within a result");
	}
	json_array_foreach(rows, i, row)
	{
		json_t *metrics = json_object_get(row, "metrics");
		json_object_del(row, "seen");
		import_sum(row);
		if (!json_object_get(metrics, metric_name(METRIC_THROUGHPUT))) {
			return import_error(t, t->text, e, "THROUGHPUT is missing");
		}
	}
	return 0;
}
