/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine iperf3: its words, and its JSON. What it says of the CPU is of its own processes, not
 * of the host, so CPU and service demand stay unknown (the detail has its numbers). Run by peer.c.
 */
#include "json_util.h"
#include "peer_private.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OMIT_S 1 /* iperf3's own warm-up */

static bool is_type(const struct spec_test *t, const char *type)
{
	return strcmp(t->type, type) == 0;
}

static int check(const struct spec_test *t, struct err *e)
{
	if (is_type(t, "tcp_rr")) {
		return err_usage(e,
				 "the engine iperf3 has no test of requests (tcp_rr): builtin and "
				 "netperf have");
	}
	if (t->n_cpus[0] == 0 && t->n_cpus[1] > 0) {
		return err_usage(e, "iperf3 takes the far end's CPU along with the near one's (-A "
				    "n,m), not alone");
	}
	return 0;
}

static void server(const struct peer_sample *s, struct peer_words *w)
{
	peer_word(w, "iperf3");
	peer_word(w, "-s");
	peer_word(w, "-1");
	peer_word(w, "-p");
	peer_word(w, "%d", s->port);
}

static void option(struct peer_words *w, const char *name, double value)
{
	peer_word(w, "%s", name);
	peer_word(w, "%.0f", value);
}

/* Both buffers are one option of iperf3. */
static int socket_options(const struct peer_sample *s, struct peer_words *w, struct err *e)
{
	static const struct {
		const char *name, *option;
	} known[] = {{"message_size", "-l"},
		     {"send_buffer", "-w"},
		     {"receive_buffer", "-w"},
		     {"pacing_rate", "--fq-rate"},
		     {"nodelay", NULL}};
	const char *name;
	json_t *v;
	double send = json_get_number(s->socket, "send_buffer");
	double receive = json_get_number(s->socket, "receive_buffer");
	if (isfinite(send) && isfinite(receive) && send != receive) {
		return err_usage(e, "iperf3 sets one size for both socket buffers (-w), not two");
	}
	json_object_foreach(s->socket, name, v)
	{
		size_t i = 0;
		while (i < 5 && strcmp(name, known[i].name) != 0) {
			i++;
		}
		if (i == 5) {
			return err_usage(e, "iperf3 cannot set socket.%s; the engine builtin can",
					 name);
		}
		double x = json_is_true(v) ? 1 : json_number_value(v);
		if (!known[i].option && x > 0) {
			peer_word(w, "-N");
		} else if (known[i].option && x > 0 &&
			   !(strcmp(name, "receive_buffer") == 0 && isfinite(send))) {
			option(w, known[i].option, x);
		}
	}
	return 0;
}

static int client(const struct peer_sample *s, struct peer_words *w, struct err *e)
{
	const struct spec_test *t = s->test;
	peer_word(w, "iperf3");
	peer_word(w, "-J");
	peer_word(w, "-c");
	peer_word(w, "%s", s->address);
	option(w, "-p", s->port);
	option(w, "-t", s->duration);
	option(w, "-P", t->streams);
	if (!t->no_warmup) {
		option(w, "-O", OMIT_S);
	}
	if (is_type(t, "tcp_maerts")) {
		peer_word(w, "-R");
	} else if (is_type(t, "tcp_bidir")) {
		peer_word(w, "--bidir");
	} else if (is_type(t, "udp_stream")) {
		peer_word(w, "-u");
		option(w, "-b", t->rate / t->streams);
	}
	if (strcmp(t->send, "sendfile") == 0) {
		peer_word(w, "-Z");
	}
	if (t->n_cpus[0] > 0) {
		peer_word(w, "-A");
		peer_word(w, t->n_cpus[1] > 0 ? "%d,%d" : "%d", t->cpus[0][0], t->cpus[1][0]);
	}
	return socket_options(s, w, e);
}

static double above_0(double x)
{
	return x > 0 ? x : NAN;
}

/* Nothing that it measures is below zero. */
static double number_of(const json_t *from, const char *key)
{
	double x = json_get_number(from, key);
	return x >= 0 ? x : NAN;
}

static void udp_fill(const json_t *end, struct sample *out)
{
	const json_t *sum = json_object_get(end, "sum");
	double packets = number_of(sum, "packets"), lost = number_of(sum, "lost_packets");
	double sent_rate = number_of(sum, "bits_per_second");
	lost = lost <= packets ? lost : NAN;
	out->m[METRIC_SENT] = packets;
	out->m[METRIC_LOST] = lost;
	out->m[METRIC_OFFERED] = sent_rate;
	/* "sum" is the sender's: what was received is less by what was lost. */
	out->m[METRIC_THROUGHPUT] = packets > 0 ? sent_rate * (packets - lost) / packets : NAN;
	out->m[METRIC_SECONDS] = number_of(sum, "seconds");
}

static void tcp_fill(const struct peer_sample *s, const json_t *end, struct sample *out)
{
	const json_t *received = json_object_get(end, "sum_received");
	const json_t *sent = json_object_get(end, "sum_sent");
	const json_t *first = json_array_get(json_object_get(end, "streams"), 0);
	const json_t *sender = json_object_get(first, "sender");
	double bytes = number_of(received, "bytes");
	out->m[METRIC_THROUGHPUT] = number_of(received, "bits_per_second");
	out->m[METRIC_SECONDS] = number_of(received, "seconds");
	out->m[METRIC_RETRANSMITS] = number_of(sent, "retransmits");
	out->m[METRIC_RETRANSMITS_PER_GB] = bytes > 0 ? out->m[METRIC_RETRANSMITS] / (bytes / 1e9)
						      : NAN;
	/* 0 where the sender is the other side. */
	out->m[METRIC_RTT] = above_0(number_of(sender, "mean_rtt"));
	out->m[METRIC_CWND] = above_0(number_of(sender, "max_snd_cwnd"));
	if (is_type(s->test, "tcp_bidir")) {
		const json_t *back = json_object_get(end, "sum_received_bidir_reverse");
		const json_t *back_sent = json_object_get(end, "sum_sent_bidir_reverse");
		out->m[METRIC_THROUGHPUT] += number_of(back, "bits_per_second");
		out->m[METRIC_RETRANSMITS] += number_of(back_sent, "retransmits");
		out->m[METRIC_RETRANSMITS_PER_GB] = NAN;
	}
}

static int parse(const struct peer_sample *s, const char *text, struct sample *out, struct err *e)
{
	json_error_t why;
	const char *at = strchr(text, '{');
	json_t *all = at ? json_loads(at, JSON_DISABLE_EOF_CHECK, &why) : NULL;
	const char *error = json_get_text(all, "error", NULL);
	const json_t *end = json_object_get(all, "end");
	const char *version = json_get_text(json_object_get(all, "start"), "version", "?");
	sample_init(out);
	if (!all || error || !end) {
		int rc = err_set(e, -EIO, "iperf3 to %s port %d: %.200s", s->address, s->port,
				 error ? error
				 : all ? "no result"
				       : "what it wrote is no JSON");
		json_decref(all);
		return rc;
	}
	if (is_type(s->test, "udp_stream")) {
		udp_fill(end, out);
	} else {
		tcp_fill(s, end, out);
	}
	if (!(out->m[METRIC_THROUGHPUT] >= 0) || isinf(out->m[METRIC_THROUGHPUT])) {
		err_set(e, -EPROTO, "%.40s does not tell what was received: too old for this type",
			version);
		json_decref(all);
		return -EPROTO;
	}
	out->detail = json_pack("{s:s, s:O?}", "version", version, "own_cpu",
				json_object_get(end, "cpu_utilization_percent"));
	out->ok = true;
	json_decref(all);
	return 0;
}

const struct peer_tool peer_iperf3 = {
	.name = "iperf3",
	.server_name = "iperf3",
	.check = check,
	.server = server,
	.client = client,
	.parse = parse,
	.extra = OMIT_S,
};

static int create(const struct engine_env *env, void **state, struct err *e)
{
	return peer_create(&peer_iperf3, env, state, e);
}

const struct engine_ops engine_iperf3 = {
	.name = "iperf3",
	.help = "iperf3 on both hosts, its JSON",
	.create = create,
	.start = peer_start,
	.poll = peer_poll,
	.stop = peer_stop,
	.destroy = peer_destroy,
};
