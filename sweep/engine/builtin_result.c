/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From two reads of each host to a sample: throughput, CPU and service demand over one window of
 * each host's own clock. Numbers that cannot be are an error here, not a result. Pure.
 */
#include "builtin_private.h"
#include "json_util.h"
#include "score.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The share of one CPU's time from which on it is called full. */
#define CPU_FULL 0.95
#define CPU_OWN	 0.3
#define GB	 1e9
/* Reads of the CPU and of the process are not at quite the same instant. */
#define SKEW_S 0.002

struct host_cpu { /* over the window */
	bool known;
	int cpus;
	double seconds, busy, error, fraction; /* error: of busy, s */
	double self;
};

static double bytes_of(const struct builtin_host *h)
{
	return h->last.bytes - h->first.bytes;
}

/* What a send call has taken lies in the socket's buffer, and comes in steps of whole calls: where
 * the sender's TCP knows what has arrived, that counts. Older kernels do not (0). */
static double sent_of(const struct builtin_host *h)
{
	double acked = h->last.acked - h->first.acked;
	return acked > 0 ? acked : bytes_of(h);
}

static double seconds_of(const struct builtin_host *h)
{
	return h->last.t - h->first.t;
}

static struct host_cpu cpu_of(const struct builtin_host *h)
{
	struct host_cpu c = {
		.cpus = h->last.cpus,
		.seconds = h->last.cpu_t - h->first.cpu_t,
		.busy = h->last.busy - h->first.busy,
		.error = h->last.resolution + h->first.resolution,
		.self = h->last.self - h->first.self,
	};
	c.known = c.cpus > 0 && h->first.cpus > 0 && isfinite(c.busy) && c.seconds > 0;
	/* A small negative is rounding; the check has seen to the others. */
	c.fraction = c.known ? fmax(c.busy, 0) / (c.cpus * c.seconds) : NAN;
	return c;
}

static int cpu_check(const char *role, const struct host_cpu *c, double self, struct err *e)
{
	double slack = c->error + SKEW_S * c->cpus + 0.01 * self;
	if (!c->known) {
		return 0;
	}
	if (c->busy > c->cpus * c->seconds + slack || c->busy < -slack) {
		return err_set(e, -EIO, "%s: %.3f s of CPU on %d CPUs in %.3f s cannot be", role,
			       c->busy, c->cpus, c->seconds);
	}
	if (isfinite(self) && c->busy < self - slack) {
		return err_set(e, -EIO,
			       "%s: the host's CPU time of %.3f s is less than the %.3f s of the "
			       "stream's own process",
			       role, c->busy, self);
	}
	return 0;
}

static double demand_of(const struct builtin_host *h, double bytes, const struct host_cpu *c)
{
	return c->known ? score_service_demand(c->fraction, c->cpus, bytes / seconds_of(h)) : NAN;
}

/* Hosts that share their CPUs: counted once, by whichever of the two meters is finer. */
static int cpu_fill(const struct builtin_window *w, struct sample *out, struct err *e)
{
	struct host_cpu s = cpu_of(w->sender), r = cpu_of(w->receiver);
	if (w->one_host) {
		struct host_cpu *finer = s.known && (!r.known || s.error < r.error) ? &s : &r;
		double self = w->one_process ? r.self : s.self + r.self;
		int rc = cpu_check("both ends on one host", finer, self, e);
		out->m[METRIC_SERVICE_DEMAND] = demand_of(w->receiver, bytes_of(w->receiver),
							  finer);
		out->m[METRIC_CPU_SENDER] = out->m[METRIC_CPU_RECEIVER] = finer->fraction;
		out->cpu_error = finer->known ? finer->error / finer->busy : NAN;
		return rc;
	}
	int rc = cpu_check("sender", &s, s.self, e);
	if (rc == 0) {
		rc = cpu_check("receiver", &r, r.self, e);
	}
	out->m[METRIC_CPU_SENDER] = s.fraction;
	out->m[METRIC_CPU_RECEIVER] = r.fraction;
	out->m[METRIC_SERVICE_DEMAND_SENDER] = demand_of(w->sender, sent_of(w->sender), &s);
	out->m[METRIC_SERVICE_DEMAND_RECEIVER] = demand_of(w->receiver, bytes_of(w->receiver), &r);
	/* NaN if one of the two is not known: never half a sum */
	out->m[METRIC_SERVICE_DEMAND] = out->m[METRIC_SERVICE_DEMAND_SENDER] +
					out->m[METRIC_SERVICE_DEMAND_RECEIVER];
	out->cpu_error = s.known && r.known ? (s.error + r.error) / (s.busy + r.busy) : NAN;
	return rc;
}

static const char *source_of(const struct builtin_host *h)
{
	return json_get_text(json_object_get(h->last.json, "cpu"), "source", "");
}

/* The busiest CPU's share of the window. A CPU that came or went shifts the list: not compared. */
static double busiest_cpu(const struct builtin_host *h)
{
	json_t *a = json_object_get(json_object_get(h->first.json, "cpu"), "per_cpu");
	json_t *b = json_object_get(json_object_get(h->last.json, "cpu"), "per_cpu");
	double most = 0;
	if (json_array_size(a) != json_array_size(b)) {
		return 0;
	}
	for (size_t i = 0; i < json_array_size(b); i++) {
		most = fmax(most, json_number_value(json_array_get(b, i)) -
					  json_number_value(json_array_get(a, i)));
	}
	return most / (h->last.cpu_t - h->first.cpu_t);
}

/* A CPU may be full of other people's work: the stream's own process must have a good part in it.
 */
static bool is_cpu_full(const struct builtin_host *h)
{
	struct host_cpu c = cpu_of(h);
	return c.known && busiest_cpu(h) > CPU_FULL && c.self > CPU_OWN * c.seconds;
}

/* The sender's TCP knows what it waited for (tcp_chrono in the kernel); shares of the time in
 * which it had something to send. */
static const char *limit_of(const struct builtin_window *w)
{
	const struct builtin_read *a = &w->sender->first, *b = &w->sender->last;
	double busy = b->tcp_busy - a->tcp_busy;
	if (busy > 0 && b->rwnd_limited - a->rwnd_limited > 0.5 * busy) {
		return "receive window";
	}
	if (busy > 0 && b->sndbuf_limited - a->sndbuf_limited > 0.5 * busy) {
		return "send buffer";
	}
	if (is_cpu_full(w->sender) || is_cpu_full(w->receiver)) {
		return "cpu";
	}
	return "";
}

static json_t *host_json(const struct builtin_host *h)
{
	struct host_cpu c = cpu_of(h);
	json_t *o = json_object();
	json_object_set_new(o, "bytes", json_integer((json_int_t)bytes_of(h)));
	json_object_set_new(o, "seconds", json_number_or_null(seconds_of(h)));
	json_object_set_new(o, "cpu_busy", json_number_or_null(c.known ? c.busy : NAN));
	json_object_set_new(o, "cpu_self", json_number_or_null(c.self));
	json_object_set_new(o, "cpus", json_integer(c.cpus));
	json_object_set(o, "effective", json_object_get(h->last.json, "effective"));
	json_object_set(o, "tcp", json_object_get(h->last.json, "tcp"));
	return o;
}

static json_t *detail_json(const struct builtin_window *w)
{
	json_t *o = json_object();
	json_object_set_new(o, "sender", host_json(w->sender));
	json_object_set_new(o, "receiver", host_json(w->receiver));
	json_object_set_new(o, "one_host", json_boolean(w->one_host));
	json_object_set_new(o, "window_start", json_integer((json_int_t)w->window_start));
	json_object_set_new(o, "intervals", builtin_series_json(w->series));
	return o;
}

int builtin_result(const struct builtin_window *w, struct sample *out, struct err *e)
{
	double seconds = seconds_of(w->receiver), bytes = bytes_of(w->receiver);
	sample_init(out);
	if (!(seconds > 0) || !(seconds_of(w->sender) > 0) || bytes < 0 ||
	    bytes_of(w->sender) < 0) {
		return err_set(e, -EIO, "%.0f bytes in %.3f s cannot be", bytes, seconds);
	}
	int r = cpu_fill(w, out, e);
	if (r < 0) {
		sample_init(out);
		return r;
	}
	out->m[METRIC_THROUGHPUT] = 8 * bytes / seconds;
	out->m[METRIC_SECONDS] = seconds;
	out->m[METRIC_RETRANSMITS] = w->sender->last.retransmits - w->sender->first.retransmits;
	out->m[METRIC_RETRANSMITS_PER_GB] = bytes > 0 ? out->m[METRIC_RETRANSMITS] / (bytes / GB)
						      : NAN;
	out->m[METRIC_RTT] = builtin_series_rtt(w->series, w->window_start);
	out->m[METRIC_CWND] = builtin_series_cwnd(w->series, w->window_start);
	snprintf(out->limited_by, sizeof(out->limited_by), "%s", limit_of(w));
	snprintf(out->cpu_source, sizeof(out->cpu_source), "%.15s", source_of(w->receiver));
	out->warmup = w->warmup;
	out->steady = w->steady;
	out->detail = detail_json(w);
	out->ok = true;
	return 0;
}
