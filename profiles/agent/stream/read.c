/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one side of a test and its host have counted up to now, read close together and put into
 * JSON. It decides nothing; the engine computes with differences of two answers. Called by serve.c.
 */
#include "cleanup.h"
#include "stream_read.h"
#include <math.h>
#include <string.h>
#include <time.h>

static double clock_of(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* What CLOCK_MONOTONIC leaves out: it stands still while the machine is suspended. Of a few looks
 * that in which the clocks were read closest together. */
static double suspended(void)
{
	double best = 0, closest = INFINITY;
	for (int i = 0; i < 5 && closest > 1e-5; i++) {
		double before = clock_of(CLOCK_MONOTONIC), boot = clock_of(CLOCK_BOOTTIME);
		double after = clock_of(CLOCK_MONOTONIC);
		if (after - before < closest) {
			closest = after - before;
			best = boot - (before + after) / 2;
		}
	}
	return best;
}

static json_t *number_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *cpu_json(struct read_meters *m)
{
	struct cpu_reading c;
	struct err e;
	if (!m->cpu || cpu_meter_read(m->cpu, &c, &e) < 0) {
		return json_null();
	}
	json_t *per_cpu = json_array();
	for (int i = 0; i < c.cpus; i++) {
		json_array_append_new(per_cpu, json_integer(llround(c.per_cpu[i] * 1e6)));
	}
	return json_pack("{s:f, s:f, s:s, s:f, s:i, s:o}", "t", c.t, "busy", c.busy, "source",
			 c.source, "resolution", c.resolution, "cpus", c.cpus, "per_cpu_us",
			 per_cpu);
}

static json_t *tcp_json(const struct tcp_counts *c)
{
	if (c->n == 0) {
		return json_null();
	}
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I}", "rtt",
			 c->rtt, "min_rtt", c->min_rtt, "cwnd", c->cwnd, "retransmits",
			 c->retransmits, "rwnd_limited", c->rwnd_limited, "sndbuf_limited",
			 c->sndbuf_limited, "busy", c->busy, "delivery_rate", c->delivery_rate,
			 "acked", (json_int_t)c->acked, "lost", (json_int_t)c->lost, "unsent",
			 (json_int_t)c->unsent, "unread", (json_int_t)c->unread, "reordered",
			 (json_int_t)c->reordered);
}

static json_t *udp_json(const struct endpoint_counts *c)
{
	const struct flow_counts *f = &c->flow;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "offered",
			 (json_int_t)f->offered, "sent", (json_int_t)f->packets_out, "received",
			 (json_int_t)f->packets_in, "expected", (json_int_t)f->expected, "drops",
			 (json_int_t)c->udp_drops, "bursts", (json_int_t)f->bursts, "late",
			 (json_int_t)f->late, "told", (json_int_t)f->told);
}

static json_t *threads_json(const struct flow_counts *f)
{
	json_t *cpus = json_array();
	for (int i = 0; i < 128; i++) {
		if (f->cpus[i / 64] >> i % 64 & 1) {
			json_array_append_new(cpus, json_integer(i));
		}
	}
	return json_pack("{s:f, s:f, s:f, s:f, s:o}", "cpu", f->cpu, "waited", f->waited,
			 "busiest_cpu", f->busiest_cpu, "busiest_waited", f->busiest_waited, "cpus",
			 cpus);
}

/* What the interface that carries the test says of itself, and the rest of the host. */
static json_t *counters_read(struct read_meters *m, struct endpoint *ep, bool ends)
{
	const char *device = endpoint_device(ep);
	json_t *o = host_counters(&m->root, device, ends);
	struct pause_count pause = pause_read(&m->pause, device, ends);
	if (isfinite(pause.rx)) {
		json_object_set_new(o, "rx_pause", json_real(pause.rx));
	}
	if (isfinite(pause.tx)) {
		json_object_set_new(o, "tx_pause", json_real(pause.tx));
	}
	return o;
}

/* What the host says at an end of a window, the CPUs first. */
static json_t *host_read(struct read_meters *m, struct endpoint *ep)
{
	json_t *o = json_object(), *cpu = cpu_json(m);
	double stolen = spin_stolen(&m->spin);
	json_object_set_new(o, "cpu", cpu);
	json_object_set_new(o, "stolen", number_or_null(stolen));
	json_object_set_new(o, "no_energy", text_or_null(m->host ? m->host->no_energy : ""));
	json_object_set_new(o, "no_perf", text_or_null(m->host ? m->host->no_perf : ""));
	json_object_set_new(o, "host", counters_read(m, ep, true));
	return o;
}

static void host_add(struct read_meters *m, struct endpoint *ep, json_t *answer)
{
	auto_json json_t *own = m->shared ? json_incref(m->shared) : host_read(m, ep);
	if (m->sharing && !m->shared) {
		m->shared = json_incref(own);
	}
	json_object_update(answer, own);
}

void read_share(struct read_meters *m, bool on)
{
	m->sharing = on;
	json_decref(m->shared);
	m->shared = NULL;
}

/* What takes longer to read and is wanted at the ends of a window only. */
static void read_more(struct endpoint *ep, struct endpoint_counts *c, json_t *answer)
{
	json_t *latency = endpoint_latency(ep);
	endpoint_read_threads(ep, c);
	json_object_set_new(answer, "threads", threads_json(&c->flow));
	json_object_set_new(answer, "incoming_cpus", endpoint_incoming_cpus(ep));
	json_object_set_new(answer, "placement", endpoint_placement(ep, c->flow.cpus));
	json_object_set_new(answer, "latency", latency ? latency : json_null());
	json_object_set_new(answer, "note", text_or_null(c->flow.note));
	json_object_set_new(answer, "zerocopy",
			    json_pack("{s:I, s:I}", "sends", (json_int_t)c->flow.zerocopy, "copied",
				      (json_int_t)c->flow.zerocopy_copied));
}

static json_t *effective_json(const struct tcp_effective *v)
{
	if (!v->known) {
		return json_null();
	}
	return json_pack("{s:i, s:i, s:i, s:s, s:o}", "send_buffer", v->send_buffer,
			 "receive_buffer", v->receive_buffer, "receive_lowat", v->receive_lowat,
			 "congestion_control", v->congestion_control, "pacing_rate",
			 number_or_null(v->pacing_rate));
}

static void object_shorten(json_t *o)
{
	const char *key;
	json_t *v;
	void *next;
	json_object_foreach_safe(o, next, key, v)
	{
		if (json_is_array(v)) {
			json_object_del(o, key);
		}
	}
}

void read_shorten(json_t *answer)
{
	object_shorten(json_object_get(answer, "cpu"));
	object_shorten(json_object_get(answer, "host"));
}

void read_answer(struct read_meters *m, struct endpoint *ep, enum read_depth depth, json_t *answer)
{
	struct endpoint_counts c;
	enum stream_type type = endpoint_options(ep)->type;
	endpoint_read(ep, &c);
	double energy = m->host ? energy_read(&m->energy, m->host) : NAN;
	json_object_set_new(answer, "cpu", json_null());
	if (depth == READ_ENDS) {
		/* Next to the byte count, before anything slower: one window for both. */
		endpoint_mark(ep);
		host_add(m, ep, answer);
	}
	json_object_set_new(answer, "t", json_real(c.t));
	json_object_set_new(answer, "bytes", json_integer((json_int_t)c.bytes));
	json_object_set_new(answer, "sent", json_integer((json_int_t)c.flow.sent));
	json_object_set_new(answer, "received", json_integer((json_int_t)c.flow.received));
	json_object_set_new(answer, "self", json_real(clock_of(CLOCK_PROCESS_CPUTIME_ID)));
	json_object_set_new(answer, "suspended", json_real(suspended()));
	json_object_set_new(answer, "energy", number_or_null(energy));
	json_object_set_new(answer, "tcp", tcp_json(&c.tcp));
	json_object_set_new(answer, "udp", type == STREAM_UDP ? udp_json(&c) : json_null());
	json_object_set_new(answer, "transactions",
			    type == STREAM_RR ? json_integer((json_int_t)c.flow.packets_in)
					      : json_null());
	json_object_set_new(answer, "error", text_or_null(c.error));
	json_object_set_new(answer, "effective", effective_json(&c.effective));
	if (depth == READ_ENDS) {
		read_more(ep, &c, answer);
	} else if (depth == READ_COUNTERS) {
		spin_look(&m->spin);
		json_object_set_new(answer, "host", counters_read(m, ep, false));
	}
}
