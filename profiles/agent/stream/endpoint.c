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
};

static int flow_add(struct endpoint *ep, int fd, struct err *e)
{
	int r = tcp_prepare(fd, &ep->o, e);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = flow_create(fd, &ep->o, &ep->flows[ep->n_flows], e);
	if (r < 0) {
		return r;
	}
	struct flow *f = ep->flows[ep->n_flows++];
	return ep->o.sends ? 0 : flow_start(f, e);
}

static int connect_all(struct endpoint *ep, struct err *e)
{
	double deadline = stream_now() + STREAM_CONNECT_S;
	for (int i = 0; i < ep->o.streams; i++) {
		int fd, r = tcp_connect(&ep->o, deadline, &fd, e);
		if (r == 0) {
			r = flow_add(ep, fd, e);
		}
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

int endpoint_create(const struct stream_options *o, struct endpoint **out, int *port, struct err *e)
{
	int fd = -1, r;
	struct endpoint *ep = calloc(1, sizeof(*ep));
	if (ep) {
		ep->o = *o;
		ep->flows = calloc((size_t)o->streams, sizeof(struct flow *));
		acceptor_init(&ep->acceptor, -1, o->token);
	}
	if (!ep || !ep->flows) {
		endpoint_destroy(ep);
		return err_set(e, -ENOMEM, "%s: no memory", stream_role(o));
	}
	if (o->connects) {
		*port = o->port;
		r = connect_all(ep, e);
	} else {
		r = tcp_listen(o, &fd, port, e);
		acceptor_init(&ep->acceptor, fd, o->token);
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
	return acceptor_poll(&ep->acceptor, p);
}

void endpoint_accept(struct endpoint *ep)
{
	struct err e = {0};
	int fd;
	while ((fd = acceptor_next(&ep->acceptor)) >= 0) {
		if (flow_add(ep, fd, &e) < 0) {
			snprintf(ep->trouble, sizeof(ep->trouble), "%.255s", e.text);
			acceptor_close(&ep->acceptor);
		} else if (ep->n_flows == ep->o.streams) {
			acceptor_close(&ep->acceptor);
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
		r = flow_start(ep->flows[i], e);
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
			 stream_role(&ep->o), c->t - ep->moved_at, ep->o.sends ? "to" : "from",
			 tcp_name(flow_fd(ep->flows[0]), true, peer, sizeof(peer)));
	}
}

void endpoint_read(struct endpoint *ep, struct endpoint_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->t = stream_now();
	for (int i = 0; i < ep->n_flows; i++) {
		out->bytes += flow_bytes(ep->flows[i]);
	}
	for (int i = 0; i < ep->n_flows; i++) {
		tcp_counts_add(&out->tcp, flow_fd(ep->flows[i]));
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

void endpoint_stop(struct endpoint *ep)
{
	acceptor_close(&ep->acceptor);
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
