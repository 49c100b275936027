/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a test of datagrams and one of requests have besides bytes and CPU: who lost how many, and
 * how long a turn took. Pure.
 */
#include "builtin_private.h"
#include "json_util.h"
#include <math.h>

static double at_least_0(double x)
{
	return x < 0 ? 0 : x; /* NaN stays */
}

static double final_of(const struct builtin_host *h, const char *key)
{
	return json_get_number(json_object_get(h->final, "udp"), key);
}

/* After the window's end; 0 where nobody has looked. */
static double since_end(const struct builtin_host *h, const char *key)
{
	double n = final_of(h, key) - json_get_number(json_object_get(h->last.json, "udp"), key);
	return isfinite(n) ? n : 0;
}

/* By the numbers that the datagrams carry, over the receiver's own window: no comparing of two
 * hosts' instants. Those that came late were not lost: sent before the window's end and seen after
 * it, less those that were sent before its beginning and were counted in it. Where none came at
 * all, all that were sent are lost. */
static double lost_on_the_way(const struct builtin_window *w)
{
	double expected = builtin_delta(w->receiver, "udp", "expected");
	double received = builtin_delta(w->receiver, "udp", "received");
	double earlier = builtin_delta(w->receiver, "udp", "late");
	if (received == 0) {
		return at_least_0(builtin_delta(w->sender, "udp", "sent") -
				  since_end(w->receiver, "received"));
	}
	return at_least_0(expected - received + (isfinite(earlier) ? earlier : 0) -
			  since_end(w->receiver, "late"));
}

/* From the first datagram to the end marker; NaN if that has not come. */
static double lost_in_all(const struct builtin_window *w)
{
	double told = final_of(w->receiver, "told");
	return told > 0 ? at_least_0(told - final_of(w->receiver, "received")) : NAN;
}

void builtin_udp_fill(const struct builtin_window *w, struct sample *out)
{
	double sent = builtin_delta(w->sender, "udp", "sent");
	double bytes = builtin_delta(w->sender, "", "sent");
	double seconds = builtin_seconds(w->sender);
	out->m[METRIC_SENT] = sent;
	out->m[METRIC_LOST] = lost_on_the_way(w);
	out->m[METRIC_OFFERED] = sent > 0 ? 8 * builtin_delta(w->sender, "udp", "offered") *
						    (bytes / sent) / seconds
					  : 0;
}

json_t *builtin_udp_json(const struct builtin_window *w)
{
	double offered = builtin_delta(w->sender, "udp", "offered");
	double sent = builtin_delta(w->sender, "udp", "sent");
	double lost = lost_on_the_way(w);
	/* The socket's own count; the host's Udp RcvbufErrors are of all its sockets. */
	double socket = builtin_delta(w->receiver, "udp", "drops");
	json_t *o = json_object();
	json_object_set_new(o, "offered", json_number_or_null(offered));
	json_object_set_new(o, "sent", json_number_or_null(sent));
	json_object_set_new(o, "received",
			    json_number_or_null(builtin_delta(w->receiver, "udp", "received")));
	json_object_set_new(o, "lost", json_number_or_null(lost));
	json_object_set_new(o, "came_late", json_number_or_null(since_end(w->receiver, "late")));
	json_object_set_new(o, "lost_in_all", json_number_or_null(lost_in_all(w)));
	json_object_set_new(o, "refused_at_sender", json_number_or_null(offered - sent));
	json_object_set_new(o, "lost_at_receiver_socket", json_number_or_null(socket));
	json_object_set_new(
		o, "receive_buffer_errors_of_host",
		json_number_or_null(builtin_delta(w->receiver, "host", "UdpRcvbufErrors")));
	json_object_set_new(
		o, "reassembly_failures",
		json_number_or_null(builtin_delta(w->receiver, "host", "IpReasmFails")));
	json_object_set_new(
		o, "lost_in_input_queue",
		json_number_or_null(builtin_delta(w->receiver, "host", "softnet_drops")));
	json_object_set_new(o, "lost_elsewhere", json_number_or_null(at_least_0(lost - socket)));
	json_object_set_new(o, "bursts",
			    json_number_or_null(builtin_delta(w->sender, "udp", "bursts")));
	return o;
}

/* The buckets of profiles/agent/stream/latency.c: 0..63 ns one by one, then 64 to each doubling. */
static double bucket_from(double bucket)
{
	double octave = floor(bucket / 64);
	return octave < 1 ? bucket : ldexp(64 + fmod(bucket, 64), (int)octave - 1);
}

static double count_in(const json_t *list, size_t *at, double bucket)
{
	/* Both lists grow by bucket: one pass over each. */
	for (; *at < json_array_size(list); (*at)++) {
		const json_t *pair = json_array_get(list, *at);
		double b = json_number_value(json_array_get(pair, 0));
		if (b == bucket) {
			return json_number_value(json_array_get(pair, 1));
		}
		if (b > bucket) {
			break;
		}
	}
	return 0;
}

static double total_of(const json_t *list)
{
	double sum = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		sum += json_number_value(json_array_get(json_array_get(list, i), 1));
	}
	return sum;
}

double builtin_latency(const json_t *first, const json_t *last, double share)
{
	double want = share * (total_of(last) - total_of(first)), sum = 0;
	size_t at = 0;
	for (size_t i = 0; want > 0 && i < json_array_size(last); i++) {
		const json_t *pair = json_array_get(last, i);
		double bucket = json_number_value(json_array_get(pair, 0));
		double n = json_number_value(json_array_get(pair, 1)) -
			   count_in(first, &at, bucket);
		if (n > 0 && sum + n >= want) {
			double lo = bucket_from(bucket), hi = bucket_from(bucket + 1);
			return (lo + (hi - lo) * (want - sum) / n) / 1000;
		}
		sum += n;
	}
	return NAN;
}

void builtin_rr_fill(const struct builtin_window *w, struct sample *out)
{
	const json_t *a = json_object_get(w->sender->first.json, "latency");
	const json_t *b = json_object_get(w->sender->last.json, "latency");
	out->m[METRIC_LATENCY_P50] = builtin_latency(a, b, 0.5);
	out->m[METRIC_LATENCY_P99] = builtin_latency(a, b, 0.99);
}
