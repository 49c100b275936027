/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON lines of stream.h: one request after another to the endpoints; read.c answers
 * with what they and the meters have counted. One
 * thread serves; the streams' own threads only move bytes. Called by the agent in its unprivileged
 * child.
 */
#include "cleanup.h"
#include "cpu_meter.h"
#include "protocol.h"
#include "short_slice.h"
#include "stream.h"
#include "stream_private.h"
#include "stream_read.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define DRAIN_MAX_S 10.0
#define AT_MAX_S    2.0 /* that the answer to a read is put off */
#define LINE_SPARE  256 /* what the agent wraps around an answer */
#define MANY_CPUS   256

/* One process may hold both sides, for a test over loopback with one agent. */
enum side { SIDE_LISTEN, SIDE_CONNECT, SIDES };

struct server {
	struct channel channel;
	struct read_meters meters;
	struct endpoint *side[SIDES];
	bool many_cpus; /* answers may be too long for a line */
};

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

static enum read_depth depth_of(const json_t *request)
{
	if (!json_is_false(json_object_get(request, "cpu"))) {
		return READ_ENDS;
	}
	return json_is_true(json_object_get(request, "counters")) ? READ_COUNTERS : READ_COUNTS;
}

/* Until this host's clock shows the "at" of a request: so an end of a window is where it was to be,
 * however long the request was under way. */
static void wait_for_instant(const json_t *request)
{
	double at = json_number_value(json_object_get(request, "at")), now = stream_now();
	at = fmin(at, now + AT_MAX_S);
	if (at > now) {
		struct timespec until = {(time_t)at, (long)((at - (double)(time_t)at) * 1e9)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
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

static int op_read(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	enum side side;
	int r = side_find(s, request, &side, e);
	if (r == 0) {
		wait_for_instant(request);
		read_answer(&s->meters, s->side[side], depth_of(request), answer);
	}
	return r;
}

/* Where both sides are here, each of them may have to end for the other to have it all. */
static bool drain(struct server *s, enum side side, double limit)
{
	for (int i = 0; i < SIDES; i++) {
		if (s->side[i]) {
			endpoint_finish(s->side[i]);
		}
	}
	return endpoint_drain(s->side[side], fmin(limit, DRAIN_MAX_S));
}

static int op_stop(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	enum side side;
	int r = side_find(s, request, &side, e);
	double limit = json_number_value(json_object_get(request, "drain"));
	if (r < 0) {
		return r;
	}
	bool drained = limit > 0 && drain(s, side, limit);
	read_answer(&s->meters, s->side[side], depth_of(request), answer);
	json_object_set_new(answer, "drained", json_boolean(drained));
	if (drained) { /* the far end has gone then, as it should */
		json_object_set_new(answer, "error", json_null());
	}
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

/* One after the other, until one fails: its error is the answer then. */
static int batch_run(struct server *s, const json_t *list, json_t *answer, struct err *e)
{
	size_t i;
	json_t *request, *replies = json_array();
	int r = 0;
	read_share(&s->meters, true);
	json_object_set_new(answer, "replies", replies);
	json_array_foreach(list, i, request)
	{
		json_t *reply = json_object();
		r = request_run(s, request, reply, e);
		json_array_append_new(replies, reply);
		if (r < 0) {
			break;
		}
	}
	read_share(&s->meters, false);
	return r < 0 ? r : i > 0 ? 0 : err_usage(e, "stream: a batch without requests");
}

static int line_run(struct server *s, const json_t *request, json_t *answer, struct err *e)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	return op && strcmp(op, "batch") == 0
		       ? batch_run(s, json_object_get(request, "requests"), answer, e)
		       : request_run(s, request, answer, e);
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

static void answer_fit(const struct server *s, json_t *answer)
{
	size_t i;
	json_t *reply;
	if (!s->many_cpus ||
	    json_dumpb(answer, NULL, 0, JSON_COMPACT) + LINE_SPARE <= PROTOCOL_LINE_MAX) {
		return;
	}
	read_shorten(answer);
	json_array_foreach(json_object_get(answer, "replies"), i, reply)
	{
		read_shorten(reply);
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
	r = line_run(s, request, answer, e);
	if (r < 0) {
		code_keep_local(e);
		json_decref(answer);
		answer = protocol_error(request, e);
	}
	answer_fit(s, answer);
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

int stream_serve(int fd, const struct host_meters *meters)
{
	struct server s = {.meters = {.root.prefix = "", .host = meters},
			   .many_cpus = sysconf(_SC_NPROCESSORS_CONF) > MANY_CPUS};
	struct err e = {0};
	short_slice();
	int r = channel_init(&s.channel, fd, fd);
	if (r < 0) {
		return 1;
	}
	if (cpu_meter_create(meters ? meters->timer_list : -1, meters ? &meters->perf : NULL,
			     &s.meters.cpu, &e) < 0) {
		s.meters.cpu = NULL;
	}
	while (r >= 0) {
		r = server_wait(&s);
		if (r > 0) {
			r = request_serve(&s, &e);
		}
	}
	endpoint_destroy(s.side[SIDE_LISTEN]);
	endpoint_destroy(s.side[SIDE_CONNECT]);
	cpu_meter_destroy(s.meters.cpu);
	pause_close(&s.meters.pause);
	channel_clear(&s.channel);
	return r == -EPIPE ? 0 : 1;
}
