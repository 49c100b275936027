/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON lines of stream.h: one request after another to the endpoints and the CPU meter. One
 * thread serves; the streams' own threads only move bytes. Called by the agent in its unprivileged
 * child.
 */
#include "cleanup.h"
#include "cpu_meter.h"
#include "protocol.h"
#include "stream.h"
#include "stream_private.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* One process may hold both sides, for a test over loopback with one agent. */
enum side { SIDE_LISTEN, SIDE_CONNECT, SIDES };

struct server {
	struct channel channel;
	struct cpu_meter *meter; /* NULL: this host does not say */
	struct endpoint *side[SIDES];
	struct spin spin;
};

static double process_cpu(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static json_t *cpu_json(struct server *s)
{
	struct cpu_reading c;
	struct err e;
	if (!s->meter || cpu_meter_read(s->meter, &c, &e) < 0) {
		return json_null();
	}
	json_t *per_cpu = json_array();
	for (int i = 0; i < c.cpus; i++) {
		json_array_append_new(per_cpu, json_real(c.per_cpu[i]));
	}
	return json_pack("{s:f, s:f, s:s, s:f, s:i, s:o}", "t", c.t, "busy", c.busy, "source",
			 c.source, "resolution", c.resolution, "cpus", c.cpus, "per_cpu", per_cpu);
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
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "offered", (json_int_t)f->offered,
			 "sent", (json_int_t)f->packets_out, "received", (json_int_t)f->packets_in,
			 "expected", (json_int_t)f->expected, "drops", (json_int_t)c->udp_drops,
			 "bursts", (json_int_t)f->bursts);
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

/* What takes longer to read and is wanted at the ends of a window only. */
static void read_more(struct server *s, struct endpoint *ep, struct endpoint_counts *c,
		      json_t *answer)
{
	double stolen = spin_stolen(&s->spin);
	json_t *latency = endpoint_latency(ep);
	endpoint_read_threads(ep, c);
	json_object_set_new(answer, "threads", threads_json(&c->flow));
	json_object_set_new(answer, "stolen", isfinite(stolen) ? json_real(stolen) : json_null());
	json_object_set_new(answer, "host", host_counters(endpoint_local_fd(ep)));
	json_object_set_new(answer, "incoming_cpus", endpoint_incoming_cpus(ep));
	json_object_set_new(answer, "latency", latency ? latency : json_null());
	json_object_set_new(answer, "note", c->flow.note ? json_string(c->flow.note) : json_null());
	json_object_set_new(answer, "zerocopy",
			    json_pack("{s:I, s:I}", "sends", (json_int_t)c->flow.zerocopy, "copied",
				      (json_int_t)c->flow.zerocopy_copied));
}

static json_t *effective_json(const struct tcp_effective *v)
{
	if (!v->known) {
		return json_null();
	}
	return json_pack("{s:i, s:i, s:i, s:s}", "send_buffer", v->send_buffer, "receive_buffer",
			 v->receive_buffer, "receive_lowat", v->receive_lowat, "congestion_control",
			 v->congestion_control);
}

/* Which side a request means: its "side", else the only one that is there. */
static enum side side_of(const struct server *s, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "side"));
	if (name) {
		return strcmp(name, "connect") == 0 ? SIDE_CONNECT : SIDE_LISTEN;
	}
	return s->side[SIDE_LISTEN] ? SIDE_LISTEN : SIDE_CONNECT;
}

static int side_find(struct server *s, const json_t *request, enum side *out, struct err *e)
{
	*out = side_of(s, request);
	if (!s->side[*out]) {
		return err_set(e, -ENOTCONN, "stream: no listen or connect before this request");
	}
	return 0;
}

static int side_open(struct server *s, enum side side, const json_t *request, json_t *answer,
		     struct err *e)
{
	struct stream_options o;
	int port = 0;
	int r = stream_options_parse(request, side == SIDE_CONNECT, &o, e);
	if (r < 0) {
		return r;
	}
	/* A sample whose stop was lost must not live on in this one. */
	endpoint_destroy(s->side[side]);
	s->side[side] = NULL;
	r = endpoint_create(&o, side == SIDE_CONNECT ? s->side[SIDE_LISTEN] : NULL, &s->side[side],
			    &port, e);
	if (r == 0) {
		json_object_set_new(answer, "port", json_integer(port));
		json_object_set_new(answer, "local_ports", endpoint_local_ports(s->side[side]));
	}
	return r;
}

static int op_listen(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	return side_open(s, SIDE_LISTEN, request, answer, e);
}

static int op_connect(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	return side_open(s, SIDE_CONNECT, request, answer, e);
}

static int op_start(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	enum side side;
	(void)answer;
	int r = side_find(s, request, &side, e);
	return r < 0 ? r : endpoint_start(s->side[side], e);
}

static void read_into(struct server *s, enum side side, const json_t *request, json_t *answer)
{
	struct endpoint_counts c;
	struct endpoint *ep = s->side[side];
	bool more = !json_is_false(json_object_get(request, "cpu"));
	endpoint_read(ep, &c);
	/* Next to the byte count, before anything slower: one window for both. */
	json_t *cpu = more ? cpu_json(s) : json_null();
	json_object_set_new(answer, "t", json_real(c.t));
	json_object_set_new(answer, "bytes", json_integer((json_int_t)c.bytes));
	json_object_set_new(answer, "sent", json_integer((json_int_t)c.flow.sent));
	json_object_set_new(answer, "received", json_integer((json_int_t)c.flow.received));
	json_object_set_new(answer, "cpu", cpu);
	json_object_set_new(answer, "self", json_real(process_cpu()));
	json_object_set_new(answer, "tcp", tcp_json(&c.tcp));
	json_object_set_new(answer, "udp",
			    endpoint_options(ep)->type == STREAM_UDP ? udp_json(&c) : json_null());
	json_object_set_new(answer, "transactions",
			    endpoint_options(ep)->type == STREAM_RR
				    ? json_integer((json_int_t)c.flow.packets_in)
				    : json_null());
	json_object_set_new(answer, "error", c.error[0] ? json_string(c.error) : json_null());
	json_object_set_new(answer, "effective", effective_json(&c.effective));
	if (more) {
		read_more(s, ep, &c, answer);
	}
}

static int op_read(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	enum side side;
	int r = side_find(s, request, &side, e);
	if (r == 0) {
		read_into(s, side, request, answer);
	}
	return r;
}

static int op_stop(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	enum side side;
	int r = side_find(s, request, &side, e);
	if (r < 0) {
		return r;
	}
	read_into(s, side, request, answer);
	endpoint_destroy(s->side[side]);
	s->side[side] = NULL;
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct server *s, const json_t *request, json_t *answer, struct err *e);
} ops[] = {
	{"listen", op_listen}, {"connect", op_connect}, {"start", op_start},
	{"read", op_read},     {"stop", op_stop},
};

static int request_run(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	for (size_t i = 0; op && i < ARRAY_SIZE(ops); i++) {
		if (strcmp(op, ops[i].name) == 0) {
			return ops[i].run(s, request, answer, e);
		}
	}
	return err_usage(e, "stream: there is no operation \"%s\"", op ? op : "");
}

/* These codes tell the controller that a host is gone; a stream that could not be made is only a
 * failed sample. */
static void code_keep_local(struct err *e)
{
	if (e->code == -EPIPE || e->code == -ETIMEDOUT || e->code == -EHOSTDOWN ||
	    e->code == -EINTR) {
		e->code = -EIO;
	}
}

static int request_serve(struct server *s, struct err *e)
{
	auto_json json_t *request = NULL;
	int r = channel_recv(&s->channel, PROTOCOL_SILENCE_MS, &request, e);
	if (r < 0) {
		return r;
	}
	auto_json json_t *answer = protocol_ok(request);
	r = request_run(s, request, answer, e);
	if (r < 0) {
		code_keep_local(e);
		json_decref(answer);
		answer = protocol_error(request, e);
	}
	return channel_send(&s->channel, answer, e);
}

/* Waits for a request or a newcomer. 1: a request. */
static int server_wait(struct server *s)
{
	struct pollfd p[1 + SIDES * (ACCEPTOR_PENDING_MAX + 1)];
	size_t n = 1;
	if (channel_pending(&s->channel)) {
		return 1;
	}
	p[0] = (struct pollfd){.fd = s->channel.in, .events = POLLIN};
	for (int i = 0; i < SIDES; i++) {
		n += s->side[i] ? endpoint_poll(s->side[i], p + n) : 0;
	}
	int r = poll(p, n, n > 1 ? 1000 : -1);
	if (r < 0) {
		return errno == EINTR ? 0 : -errno;
	}
	for (int i = 0; i < SIDES; i++) {
		if (s->side[i]) {
			endpoint_accept(s->side[i]);
		}
	}
	return p[0].revents != 0;
}

int stream_serve(int fd, int timer_list_fd)
{
	struct server s = {0};
	struct err e = {0};
	int r = channel_init(&s.channel, fd, fd);
	if (r < 0) {
		return 1;
	}
	if (cpu_meter_create(timer_list_fd, &s.meter, &e) < 0) {
		s.meter = NULL;
	}
	while (r >= 0) {
		r = server_wait(&s);
		if (r > 0) {
			r = request_serve(&s, &e);
		}
	}
	endpoint_destroy(s.side[SIDE_LISTEN]);
	endpoint_destroy(s.side[SIDE_CONNECT]);
	cpu_meter_destroy(s.meter);
	channel_clear(&s.channel);
	return r == -EPIPE ? 0 : 1;
}
