/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An endpoint's answer to "read" (stream.h), understood: the numbers that the engine computes with,
 * and what two of them say of a window. Pure.
 */
#include "builtin_private.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <string.h>

double builtin_delta(const struct builtin_host *h, const char *object, const char *key)
{
	const json_t *a = h->first.json, *b = h->last.json;
	if (*object) {
		a = json_object_get(a, object);
		b = json_object_get(b, object);
	}
	return json_get_number(b, key) - json_get_number(a, key);
}

double builtin_seconds(const struct builtin_host *h)
{
	return h->last.t - h->first.t;
}

bool builtin_is_both_ways(const struct builtin_window *w)
{
	return w->type == BUILTIN_BIDIR || w->type == BUILTIN_RR;
}

/* What a send call has taken lies in the socket's buffer, and comes in steps of whole calls: where
 * the sender's TCP knows what has arrived, that counts. Older kernels do not (0). */
static double sent_of(const struct builtin_host *h, double by_calls)
{
	double acked = h->last.acked - h->first.acked;
	return acked > 0 ? acked : by_calls;
}

double builtin_moved(const struct builtin_window *w, const struct builtin_host *h)
{
	if (builtin_is_both_ways(w)) {
		return h->last.received - h->first.received +
		       sent_of(h, h->last.sent - h->first.sent);
	}
	return h == w->sender ? sent_of(h, (h->last.bytes - h->first.bytes))
			      : (h->last.bytes - h->first.bytes);
}

void builtin_read_clear(struct builtin_read *r)
{
	json_decref(r->json);
	memset(r, 0, sizeof(*r));
}

/* Takes answer. An error that the endpoint has met is this read's error. */
int builtin_read_parse(json_t *answer, struct builtin_read *out, struct err *e)
{
	json_t *tcp = json_object_get(answer, "tcp"), *cpu = json_object_get(answer, "cpu");
	const char *error = json_get_text(answer, "error", NULL);
	builtin_read_clear(out);
	*out = (struct builtin_read){
		.json = answer,
		.t = json_get_number(answer, "t"),
		.bytes = json_get_number(answer, "bytes"),
		.self = json_get_number(answer, "self"),
		.sent = json_get_number(answer, "sent"),
		.received = json_get_number(answer, "received"),
		.acked = json_get_number(tcp, "acked"),
		.rtt = json_get_number(tcp, "rtt"),
		.min_rtt = json_get_number(tcp, "min_rtt"),
		.unsent = json_get_number(tcp, "unsent"),
		.unread = json_get_number(tcp, "unread"),
		.cwnd = json_get_number(tcp, "cwnd"),
		.retransmits = json_get_number(tcp, "retransmits"),
		.tcp_busy = json_get_number(tcp, "busy"),
		.rwnd_limited = json_get_number(tcp, "rwnd_limited"),
		.sndbuf_limited = json_get_number(tcp, "sndbuf_limited"),
		.cpu_t = json_get_number(cpu, "t"),
		.busy = json_get_number(cpu, "busy"),
		.resolution = json_get_number(cpu, "resolution"),
		.energy = json_get_number(answer, "energy"),
		.cpus = (int)json_integer_value(json_object_get(cpu, "cpus")),
	};
	if (error) {
		return err_set(e, -EIO, "%s", error);
	}
	if (!isfinite(out->t) || !isfinite(out->bytes) || out->cpus < 0) {
		return err_set(e, -EPROTO, "an endpoint's answer lacks its time or bytes");
	}
	return 0;
}
