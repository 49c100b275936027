/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One side of a test: its connections, from listen or connect to stop, and what they have moved so
 * far. Knows neither JSON nor the CPU meter; serve.c joins them.
 */
#include "cleanup.h"
#include "stream_private.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct endpoint {
	struct stream_options o;
	struct acceptor acceptor;
	struct flow **flows;
	int n_flows;
	bool started;
	char trouble[256]; /* an accepted connection could not be used */
	uint64_t moved;	   /* at the last read that saw a movement, and when that was */
	double moved_at;
	char device[IF_NAMESIZE]; /* "": not looked for, or not found */
	int udp_fd;		  /* where datagrams' newcomers come, or -1 */
};

static int connection_add(struct endpoint *ep, int fd, struct err *e)
{
	int r = ep->o.type == STREAM_UDP ? 0 : tcp_prepare(fd, &ep->o, e);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = flow_create(fd, &ep->o, ep->n_flows, &ep->flows[ep->n_flows], e);
	if (r < 0) {
		return r;
	}
	return flow_start(ep->flows[ep->n_flows++], false, e);
}

/* For udp_connect: the process's other side, if it listens, goes on serving. */
static void wait_serving(void *arg, int fd, int ms)
{
	struct endpoint *own = arg;
	struct pollfd p[1 + ACCEPTOR_PENDING_MAX + 1] = {{.fd = fd, .events = POLLIN}};
	poll(p, 1 + (own ? endpoint_poll(own, p + 1) : 0), ms);
	if (own) {
		endpoint_accept(own);
	}
}

static int connect_all(struct endpoint *ep, struct endpoint *own, struct err *e)
{
	double deadline = stream_now() + STREAM_CONNECT_S;
	struct udp_wait wait = {wait_serving, own};
	for (int i = 0; i < ep->o.streams; i++) {
		int fd, r = ep->o.type == STREAM_UDP
				    ? udp_connect(&ep->o, i, deadline, &wait, &fd, e)
				    : tcp_connect(&ep->o, i, deadline, &fd, e);
		if (r == 0) {
			r = connection_add(ep, fd, e);
		}
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static int listen_any(struct endpoint *ep, int *port, struct err *e)
{
	int fd = -1, r;
	if (ep->o.type == STREAM_UDP) {
		return udp_listen(&ep->o, &ep->udp_fd, port, e);
	}
	r = tcp_listen(&ep->o, &fd, port, e);
	acceptor_init(&ep->acceptor, fd, ep->o.token);
	return r;
}

int endpoint_create(const struct stream_options *o, struct endpoint *own, struct endpoint **out,
		    int *port, struct err *e)
{
	int r;
	struct endpoint *ep = calloc(1, sizeof(*ep));
	if (ep) {
		ep->o = *o;
		ep->udp_fd = -1;
		ep->flows = calloc((size_t)o->streams, sizeof(struct flow *));
		acceptor_init(&ep->acceptor, -1, o->token);
	}
	if (!ep || !ep->flows) {
		endpoint_destroy(ep);
		return err_set(e, -ENOMEM, "%s: no memory", stream_role(o));
	}
	if (o->connects) {
		*port = o->port;
		r = connect_all(ep, own, e);
	} else {
		r = listen_any(ep, port, e);
	}
	if (r < 0) {
		endpoint_destroy(ep);
		return r;
	}
	*out = ep;
	return 0;
}

size_t endpoint_poll(const struct endpoint *ep, struct pollfd *p)
{
	if (ep->udp_fd >= 0) {
		*p = (struct pollfd){.fd = ep->udp_fd, .events = POLLIN};
		return 1;
	}
	return acceptor_poll(&ep->acceptor, p);
}

static void listening_close(struct endpoint *ep)
{
	acceptor_close(&ep->acceptor);
	if (ep->udp_fd >= 0) {
		close(ep->udp_fd);
		ep->udp_fd = -1;
	}
}

/* A newcomer that has sent its token twice, before it had a socket of its own. */
static bool is_known(const struct endpoint *ep, int fd)
{
	char name[STREAM_NAME_MAX], other[STREAM_NAME_MAX];
	tcp_name(fd, true, name, sizeof(name));
	for (int i = 0; i < ep->n_flows; i++) {
		tcp_name(flow_fd(ep->flows[i]), true, other, sizeof(other));
		if (strcmp(name, other) == 0) {
			return true;
		}
	}
	return false;
}

static int newcomer_next(struct endpoint *ep)
{
	struct pollfd p = {.fd = ep->udp_fd, .events = POLLIN};
	if (ep->udp_fd < 0) {
		return acceptor_next(&ep->acceptor);
	}
	while (poll(&p, 1, 0) > 0) {
		int fd = udp_accept(ep->udp_fd, &ep->o);
		if (fd >= 0 && !is_known(ep, fd)) {
			return fd;
		}
		if (fd >= 0) {
			close(fd);
		}
	}
	return -1;
}

void endpoint_accept(struct endpoint *ep)
{
	struct err e = {0};
	int fd;
	while ((fd = newcomer_next(ep)) >= 0) {
		if (connection_add(ep, fd, &e) < 0) {
			snprintf(ep->trouble, sizeof(ep->trouble), "%.255s", e.text);
			listening_close(ep);
		} else if (ep->n_flows == ep->o.streams) {
			listening_close(ep);
		}
	}
}

static int accept_all(struct endpoint *ep, struct err *e)
{
	double deadline = stream_now() + STREAM_CONNECT_S;
	struct pollfd p[ACCEPTOR_PENDING_MAX + 1];
	endpoint_accept(ep);
	while (ep->n_flows < ep->o.streams && !ep->trouble[0]) {
		double left = deadline - stream_now();
		if (left <= 0) {
			return err_set(e, -ETIMEDOUT,
				       "%s: %d of %d connections have come to %s in %.0f s",
				       stream_role(&ep->o), ep->n_flows, ep->o.streams,
				       ep->o.address, STREAM_CONNECT_S);
		}
		poll(p, endpoint_poll(ep, p), (int)ceil(left * 1000));
		endpoint_accept(ep);
	}
	return ep->trouble[0] ? err_set(e, -EIO, "%s", ep->trouble) : 0;
}

int endpoint_start(struct endpoint *ep, struct err *e)
{
	if (ep->started) {
		return err_set(e, -EALREADY, "%s: started already", stream_role(&ep->o));
	}
	int r = accept_all(ep, e);
	for (int i = 0; r == 0 && i < ep->n_flows; i++) {
		r = flow_start(ep->flows[i], true, e);
	}
	ep->started = r == 0;
	ep->moved_at = stream_now();
	return r;
}

/* Nothing moved for a second, in none of the streams. A path with a longer round trip is given
 * four of them. */
static void stall_check(struct endpoint *ep, struct endpoint_counts *c)
{
	char peer[STREAM_NAME_MAX];
	uint64_t moved = c->bytes + c->tcp.moved;
	double limit = fmax(STREAM_STALL_S, 4e-6 * c->tcp.rtt);
	if (!ep->started || moved != ep->moved) {
		ep->moved = moved;
		ep->moved_at = c->t;
	} else if (c->t - ep->moved_at >= limit && !c->error[0]) {
		snprintf(c->error, sizeof(c->error),
			 "%s: nothing moved for %.1f s on the connection %s %s",
			 stream_role(&ep->o), c->t - ep->moved_at, ep->o.leads ? "to" : "from",
			 tcp_name(flow_fd(ep->flows[0]), true, peer, sizeof(peer)));
	}
}

void endpoint_read(struct endpoint *ep, struct endpoint_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->t = stream_now();
	for (int i = 0; i < ep->n_flows; i++) {
		flow_count(ep->flows[i], &out->flow);
	}
	out->bytes = ep->o.receives && ep->o.type != STREAM_RR ? out->flow.received
							       : out->flow.sent;
	for (int i = 0; i < ep->n_flows; i++) {
		int fd = flow_fd(ep->flows[i]);
		if (ep->o.type == STREAM_UDP) {
			out->udp_drops += udp_drops(fd);
		} else {
			tcp_counts_add(&out->tcp, fd);
		}
		if (!out->error[0]) {
			flow_failed(ep->flows[i], out->error, sizeof(out->error));
		}
	}
	if (ep->n_flows > 0) {
		tcp_effective_read(flow_fd(ep->flows[0]), &out->effective);
		stall_check(ep, out);
	}
	if (ep->trouble[0]) {
		memcpy(out->error, ep->trouble, sizeof(out->error));
	}
}

void endpoint_read_threads(struct endpoint *ep, struct endpoint_counts *out)
{
	for (int i = 0; i < ep->n_flows; i++) {
		flow_count_threads(ep->flows[i], &out->flow);
	}
}

const struct stream_options *endpoint_options(const struct endpoint *ep)
{
	return &ep->o;
}

json_t *endpoint_latency(struct endpoint *ep)
{
	if (ep->n_flows == 0 || !flow_latency(ep->flows[0])) {
		return NULL;
	}
	auto_free uint64_t *sums = calloc(LATENCY_BUCKETS, sizeof(*sums));
	json_t *list = json_array();
	for (int i = 0; sums && i < ep->n_flows; i++) {
		latency_sum(flow_latency(ep->flows[i]), sums);
	}
	for (int i = 0; sums && i < LATENCY_BUCKETS; i++) {
		if (sums[i] > 0) {
			json_array_append_new(list, json_pack("[i, I]", i, (json_int_t)sums[i]));
		}
	}
	return list;
}

json_t *endpoint_local_ports(struct endpoint *ep)
{
	json_t *list = json_array();
	for (int i = 0; i < ep->n_flows; i++) {
		json_array_append_new(list, json_integer(socket_port(flow_fd(ep->flows[i]))));
	}
	return list;
}

json_t *endpoint_incoming_cpus(struct endpoint *ep)
{
	json_t *list = json_array();
	for (int i = 0; i < ep->n_flows; i++) {
		int cpu = -1;
		socklen_t len = sizeof(cpu);
		getsockopt(flow_fd(ep->flows[i]), SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len);
		json_array_append_new(list, json_integer(cpu));
	}
	return list;
}

json_t *endpoint_placement(struct endpoint *ep, const uint64_t cpus[2])
{
	static const struct sysroot real = {""};
	const void *memory[2 * STREAM_STREAMS_MAX];
	size_t n = 0;
	for (int i = 0; i < ep->n_flows; i++) {
		n += flow_memory(ep->flows[i], memory + n, 2 * STREAM_STREAMS_MAX - n);
	}
	return placement_json(&real, &ep->o.placement, memory, n, cpus);
}

const char *endpoint_device(struct endpoint *ep)
{
	if (!ep->device[0] && ep->n_flows > 0) {
		host_device(flow_fd(ep->flows[0]), ep->device);
	}
	return ep->device;
}

void endpoint_mark(struct endpoint *ep)
{
	for (int i = 0; i < ep->n_flows; i++) {
		flow_mark(ep->flows[i]);
	}
}

void endpoint_finish(struct endpoint *ep)
{
	for (int i = 0; ep->started && ep->o.type != STREAM_RR && i < ep->n_flows; i++) {
		flow_finish(ep->flows[i]);
	}
}

bool endpoint_drain(struct endpoint *ep, double limit)
{
	double deadline = stream_now() + limit;
	bool all = ep->started && ep->o.type != STREAM_RR && ep->n_flows > 0;
	endpoint_finish(ep);
	for (int i = 0; all && i < ep->n_flows; i++) {
		all = flow_drain(ep->flows[i], deadline);
	}
	return all;
}

void endpoint_stop(struct endpoint *ep)
{
	listening_close(ep);
	for (int i = 0; i < ep->n_flows; i++) {
		flow_wake(ep->flows[i]);
	}
	for (int i = 0; i < ep->n_flows; i++) {
		flow_stop(ep->flows[i]);
	}
}

void endpoint_destroy(struct endpoint *ep)
{
	if (!ep) {
		return;
	}
	endpoint_stop(ep);
	for (int i = 0; i < ep->n_flows; i++) {
		flow_destroy(ep->flows[i]);
	}
	free(ep->flows);
	free(ep);
}
