/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From two reads of each host to a sample: throughput, CPU and service demand over one window of
 * each host's own clock. Numbers that cannot be are an error here, not a result. Pure.
 */
#include "builtin_private.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GB	    1e9
#define SUSPENDED_S 0.02 /* the two clocks are not read at the same instant */

static double bytes_of(const struct builtin_host *h)
{
	return h->last.bytes - h->first.bytes;
}

/* Bit/s received, of a test in both directions at both ends, each by its own clock. */
static double throughput_of(const struct builtin_window *w)
{
	const struct builtin_host *r = w->receiver, *s = w->sender;
	if (!builtin_is_both_ways(w)) {
		return 8 * bytes_of(r) / builtin_seconds(r);
	}
	return 8 * ((r->last.received - r->first.received) / builtin_seconds(r) +
		    (s->last.received - s->first.received) / builtin_seconds(s));
}

static const char *source_of(const struct builtin_host *h)
{
	return json_get_text(json_object_get(h->last.json, "cpu"), "source", "");
}

static void extra_add(struct sample *out, const char *name, double value)
{
	if (out->n_extra < SAMPLE_EXTRA_MAX) {
		snprintf(out->extra[out->n_extra].name, sizeof(out->extra[0].name), "%s", name);
		out->extra[out->n_extra++].value = value;
	}
}

/* Without the copy that real receivers make, the numbers are others, and are called otherwise: no
 * objective takes them for the usual ones. */
static void rename_discarding(struct sample *out)
{
	extra_add(out, "throughput_discarding", out->m[METRIC_THROUGHPUT]);
	extra_add(out, "service_demand_discarding", out->m[METRIC_SERVICE_DEMAND]);
	out->m[METRIC_THROUGHPUT] = out->m[METRIC_SERVICE_DEMAND] = NAN;
	out->m[METRIC_SERVICE_DEMAND_SENDER] = out->m[METRIC_SERVICE_DEMAND_RECEIVER] = NAN;
	out->m[METRIC_JOULES_PER_GB] = NAN;
}

static void tcp_fill(const struct builtin_window *w, struct sample *out)
{
	double gb = out->m[METRIC_THROUGHPUT] * out->m[METRIC_SECONDS] / 8 / GB;
	out->m[METRIC_RETRANSMITS] = w->sender->last.retransmits - w->sender->first.retransmits;
	if (w->type == BUILTIN_BIDIR) {
		out->m[METRIC_RETRANSMITS] += w->receiver->last.retransmits -
					      w->receiver->first.retransmits;
	}
	if (out->m[METRIC_RETRANSMITS] < 0) { /* a counter of 32 bits that began again */
		out->m[METRIC_RETRANSMITS] = NAN;
	}
	out->m[METRIC_RETRANSMITS_PER_GB] = gb > 0 ? out->m[METRIC_RETRANSMITS] / gb : NAN;
	out->m[METRIC_RTT] = builtin_series_rtt(w->series, w->window_start);
	out->m[METRIC_CWND] = builtin_series_cwnd(w->series, w->window_start);
}

/* Of both hosts, never of one alone; of the one machine where they share it. */
static double joules_of(const struct builtin_window *w)
{
	double r = w->receiver->last.energy - w->receiver->first.energy;
	double s = w->sender->last.energy - w->sender->first.energy;
	return w->one_host ? r : r + s;
}

static void energy_fill(const struct builtin_window *w, struct sample *out)
{
	double gb = out->m[METRIC_THROUGHPUT] * out->m[METRIC_SECONDS] / 8 / GB;
	out->m[METRIC_JOULES_PER_GB] = gb > 0 ? joules_of(w) / gb : NAN;
}

/* CLOCK_MONOTONIC stands still meanwhile, so that the window looks like any other. */
static int suspension_check(const struct builtin_host *h, struct err *e)
{
	double slept = builtin_delta(h, "", "suspended");
	if (slept > SUSPENDED_S) {
		return err_set(e, -EIO,
			       "%s: its machine was suspended for %.1f s within the sample",
			       h->role, slept);
	}
	return 0;
}

static int window_check(const struct builtin_window *w, struct err *e)
{
	double seconds = builtin_seconds(w->receiver), bytes = bytes_of(w->receiver);
	if (!(seconds > 0) || !(builtin_seconds(w->sender) > 0) || bytes < 0 ||
	    bytes_of(w->sender) < 0) {
		return err_set(e, -EIO, "%.0f bytes in %.3f s cannot be", bytes, seconds);
	}
	int r = suspension_check(w->sender, e);
	return r < 0 ? r : suspension_check(w->receiver, e);
}

int builtin_result(const struct builtin_window *w, struct sample *out, struct err *e)
{
	json_t *evidence = NULL;
	sample_init(out);
	int r = window_check(w, e);
	r = r < 0 ? r : builtin_cpu_fill(w, out, e);
	if (r < 0) {
		sample_init(out);
		return r;
	}
	out->m[METRIC_THROUGHPUT] = throughput_of(w);
	out->m[METRIC_SECONDS] = builtin_seconds(w->receiver);
	energy_fill(w, out);
	if (w->type == BUILTIN_UDP) {
		builtin_udp_fill(w, out);
	} else {
		tcp_fill(w, out);
	}
	if (w->type == BUILTIN_RR) {
		builtin_rr_fill(w, out);
		extra_add(out, "transactions_per_second",
			  builtin_delta(w->sender, "", "transactions") /
				  builtin_seconds(w->sender));
	}
	if (w->test && w->test->discard) {
		rename_discarding(out);
	}
	snprintf(out->limited_by, sizeof(out->limited_by), "%s", builtin_limit(w, &evidence));
	snprintf(out->cpu_source, sizeof(out->cpu_source), "%.15s", source_of(w->receiver));
	out->warmup = w->warmup;
	out->steady = w->steady;
	out->detail = builtin_detail(w, evidence);
	out->ok = true;
	return 0;
}
