/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine netperf: its omni test with named keys (never its tables), and what they mean. A value
 * that netperf does not know (negative, nan, over 100 % of CPU) is unknown here. Run by peer.c.
 */
#include "json_util.h"
#include "peer_private.h"
#include "score.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char keys[] =
	"THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,LOCAL_CPU_UTIL,REMOTE_CPU_UTIL,LOCAL_SD,REMOTE_"
	"SD,"
	"LOCAL_SEND_THROUGHPUT,REMOTE_RECV_THROUGHPUT,LOCAL_SEND_CALLS,REMOTE_RECV_CALLS,"
	"LOCAL_TRANSPORT_RETRANS,REMOTE_TRANSPORT_RETRANS,P50_LATENCY,P99_LATENCY,LSS_SIZE_END,"
	"RSR_SIZE_END,LOCAL_SEND_SIZE,REMOTE_RECV_SIZE";

static bool is_type(const struct spec_test *t, const char *type)
{
	return strcmp(t->type, type) == 0;
}

static int check(const struct spec_test *t, struct err *e)
{
	if (is_type(t, "tcp_bidir")) {
		return err_usage(e, "the engine netperf has no tcp_bidir: builtin and iperf3 have");
	}
	if (t->streams > 1) {
		return err_usage(e, "the engine netperf has one stream, not %d", t->streams);
	}
	return 0;
}

static void option(struct peer_words *w, const char *name, double value)
{
	peer_word(w, "%s", name);
	peer_word(w, "%.0f", value);
}

static void server(const struct peer_sample *s, struct peer_words *w)
{
	peer_word(w, "netserver");
	peer_word(w, "-D");
	option(w, "-p", s->port);
}

/* -s is of the near end, -S of the far one, which sends in a reversed test. */
static const char *option_of(const struct peer_sample *s, const char *name)
{
	bool reverse = is_type(s->test, "tcp_maerts");
	const struct {
		const char *name, *option;
	} known[] = {{"message_size", "-m"},
		     {"receive_size", "-M"},
		     {"send_buffer", reverse ? "-S" : "-s"},
		     {"receive_buffer", reverse ? "-s" : "-S"},
		     {"nodelay", "-D"},
		     {"ring", ""}}; /* global: client() has it */
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) == 0) {
			return known[i].option;
		}
	}
	return NULL;
}

static int socket_options(const struct peer_sample *s, struct peer_words *w, struct err *e)
{
	const char *name;
	json_t *v;
	json_object_foreach(s->socket, name, v)
	{
		const char *letter = option_of(s, name);
		double x = json_is_true(v) ? 1 : json_number_value(v);
		if (!letter) {
			return err_usage(e, "netperf cannot set socket.%s; the engine builtin can",
					 name);
		}
		if (strcmp(name, "nodelay") == 0 && x > 0) {
			peer_word(w, "%s", letter);
		} else if (*letter && x > 0) {
			option(w, letter, x);
		}
	}
	return 0;
}

/* "N,M", "N,": the near end alone, ",M": the far one. */
static void cpu_options(const struct spec_test *t, struct peer_words *w)
{
	char near[16] = "", far[16] = "";
	if (t->n_cpus[0] == 0 && t->n_cpus[1] == 0) {
		return;
	}
	if (t->n_cpus[0] > 0) {
		snprintf(near, sizeof(near), "%d", t->cpus[0][0]);
	}
	if (t->n_cpus[1] > 0) {
		snprintf(far, sizeof(far), "%d", t->cpus[1][0]);
	}
	peer_word(w, "-T");
	peer_word(w, "%s,%s", near, far);
}

static int client(const struct peer_sample *s, struct peer_words *w, struct err *e)
{
	const struct spec_test *t = s->test;
	peer_word(w, "netperf");
	peer_word(w, "-H");
	peer_word(w, "%s", s->address);
	option(w, "-p", s->port);
	option(w, "-l", s->duration);
	peer_word(w, "-t");
	peer_word(w, "omni");
	peer_word(w, "-c");
	peer_word(w, "-C");
	option(w, "-P", 0);
	if (!is_type(t, "tcp_rr")) { /* transactions stay such */
		peer_word(w, "-f");
		peer_word(w, "m");
	}
	cpu_options(t, w);
	double ring = json_get_number(s->socket, "ring");
	if (ring > 0) {
		option(w, "-W", ring);
	}
	peer_word(w, "--");
	peer_word(w, "-T");
	peer_word(w, is_type(t, "udp_stream") ? "udp" : "tcp");
	peer_word(w, "-d");
	peer_word(w, is_type(t, "tcp_rr") ? "rr" : is_type(t, "tcp_maerts") ? "recv" : "send");
	peer_word(w, "-k");
	peer_word(w, "%s", keys);
	return socket_options(s, w, e);
}

/* The value of a key; NULL if it is absent. Ends at the line's end. */
static const char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			return p + n + 1;
		}
	}
	return NULL;
}

static double number_of(const char *text, const char *key)
{
	const char *value = value_of(text, key);
	char *end;
	double x = value ? strtod(value, &end) : NAN;
	return value && end != value && isfinite(x) ? x : NAN;
}

/* Nothing that it measures is below zero: -1 is its word for unknown. */
static double positive(const char *text, const char *key)
{
	double x = number_of(text, key);
	return x >= 0 ? x : NAN;
}

/* One window for both hosts is not netperf's way; what it cannot have measured is unknown. */
static double cpu_of(const char *text, const char *key)
{
	double percent = number_of(text, key);
	return percent >= 0 && percent <= 100.5 ? fmin(percent, 100) / 100 : NAN;
}

static void cpu_fill(const struct peer_sample *s, const char *text, struct sample *out)
{
	bool reverse = is_type(s->test, "tcp_maerts");
	double local = cpu_of(text, "LOCAL_CPU_UTIL"), remote = cpu_of(text, "REMOTE_CPU_UTIL");
	double sd_local = isfinite(local) ? positive(text, "LOCAL_SD") : NAN;
	double sd_remote = isfinite(remote) ? positive(text, "REMOTE_SD") : NAN;
	out->m[METRIC_CPU_SENDER] = reverse ? remote : local;
	out->m[METRIC_CPU_RECEIVER] = reverse ? local : remote;
	if (is_type(s->test, "tcp_rr")) {
		return; /* its service demand is by transactions */
	}
	if (s->one_host) { /* both have measured the same CPUs */
		out->m[METRIC_SERVICE_DEMAND] = sd_local;
		return;
	}
	out->m[METRIC_SERVICE_DEMAND_SENDER] = reverse ? sd_remote : sd_local;
	out->m[METRIC_SERVICE_DEMAND_RECEIVER] = reverse ? sd_local : sd_remote;
	out->m[METRIC_SERVICE_DEMAND] = sd_local + sd_remote;
}

static void udp_fill(const char *text, struct sample *out)
{
	double sent = positive(text, "LOCAL_SEND_CALLS");
	double received = positive(text, "REMOTE_RECV_CALLS");
	out->m[METRIC_THROUGHPUT] = 1e6 * positive(text, "REMOTE_RECV_THROUGHPUT");
	out->m[METRIC_OFFERED] = 1e6 * positive(text, "LOCAL_SEND_THROUGHPUT");
	out->m[METRIC_SENT] = sent;
	out->m[METRIC_LOST] = sent >= received ? sent - received : NAN;
}

static int units_check(const struct peer_sample *s, const char *text, struct err *e)
{
	const char *units = value_of(text, "THROUGHPUT_UNITS");
	const char *want = is_type(s->test, "tcp_rr") ? "Trans/s" : "10^6bits/s";
	if (!units) {
		return err_set(
			e, -EPROTO,
			"netperf to %s port %d: no THROUGHPUT_UNITS in what it wrote (2.5 and "
			"newer with the omni tests are understood)",
			s->address, s->port);
	}
	return strncmp(units, want, strlen(want)) == 0
		       ? 0
		       : err_set(e, -EPROTO, "netperf counts in %.20s, not in %s", units, want);
}

static int parse(const struct peer_sample *s, const char *text, struct sample *out, struct err *e)
{
	sample_init(out);
	int rc = units_check(s, text, e);
	if (rc < 0) {
		return rc;
	}
	out->m[METRIC_THROUGHPUT] = 1e6 * positive(text, "THROUGHPUT");
	out->m[METRIC_SECONDS] = positive(text, "ELAPSED_TIME");
	out->m[METRIC_RETRANSMITS] = positive(text, is_type(s->test, "tcp_maerts")
							    ? "REMOTE_TRANSPORT_RETRANS"
							    : "LOCAL_TRANSPORT_RETRANS");
	if (is_type(s->test, "udp_stream")) {
		udp_fill(text, out);
		out->m[METRIC_RETRANSMITS] = NAN;
	} else if (is_type(s->test, "tcp_rr")) {
		out->n_extra = 1;
		snprintf(out->extra[0].name, sizeof(out->extra[0].name), "transactions_per_second");
		out->extra[0].value = positive(text, "THROUGHPUT");
		out->m[METRIC_THROUGHPUT] = NAN;
		out->m[METRIC_LATENCY_P50] = positive(text, "P50_LATENCY");
		out->m[METRIC_LATENCY_P99] = positive(text, "P99_LATENCY");
	} else if (!isfinite(out->m[METRIC_THROUGHPUT])) {
		return err_set(e, -EPROTO, "netperf to %s port %d: its THROUGHPUT is no number",
			       s->address, s->port);
	}
	double gb = out->m[METRIC_THROUGHPUT] * out->m[METRIC_SECONDS] / 8e9;
	out->m[METRIC_RETRANSMITS_PER_GB] = gb > 0 ? out->m[METRIC_RETRANSMITS] / gb : NAN;
	cpu_fill(s, text, out);
	snprintf(out->cpu_source, sizeof(out->cpu_source), "netperf");
	out->ok = true;
	return 0;
}

const struct peer_tool peer_netperf = {
	.name = "netperf",
	.server_name = "netserver",
	.check = check,
	.server = server,
	.client = client,
	.parse = parse,
	.extra = 2,
};

static int create(const struct engine_env *env, void **state, struct err *e)
{
	return peer_create(&peer_netperf, env, state, e);
}

const struct engine_ops engine_netperf = {
	.name = "netperf",
	.help = "netperf on both hosts, its omni test",
	.create = create,
	.start = peer_start,
	.poll = peer_poll,
	.stop = peer_stop,
	.destroy = peer_destroy,
};
