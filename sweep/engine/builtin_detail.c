/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of a sample besides its metrics: both hosts' counters over the window, what the
 * sockets were really given, the CPUs and queues that served it, and the intervals. Pure.
 */
#include "builtin_private.h"
#include "json_util.h"
#include <math.h>
#include <string.h>

/* Of what few drivers count, none is another thing than not known. */
static bool is_told_at_zero(const char *key)
{
	return !strcmp(key, "rx_pause") || !strcmp(key, "tx_pause");
}

/* last - first of each number of an object, of lists element by element; other things as they are.
 */
static json_t *difference(const json_t *a, const json_t *b)
{
	const char *key;
	const json_t *v;
	json_t *out = json_object();
	json_object_foreach((json_t *)b, key, v)
	{
		const json_t *old = json_object_get(a, key);
		if (json_is_array(v)) {
			json_t *list = json_array();
			for (size_t i = 0; i < json_array_size(v); i++) {
				double d = json_number_value(json_array_get(v, i)) -
					   json_number_value(json_array_get(old, i));
				/* The kernel counts a CPU's packets in 32 bits. */
				d += d < 0 && strcmp(key, "softnet_packets") == 0 ? 4294967296.0
										  : 0;
				json_array_append_new(list, json_number_or_null(d));
			}
			json_object_set_new(out, key, list);
		} else if (json_is_number(v)) {
			bool told = is_told_at_zero(key);
			double d = json_number_value(v) -
				   (told ? json_get_number(a, key) : json_number_value(old));
			/* Most count nothing in a sample: left out, which reads as 0. */
			if (told ? isfinite(d) : d != 0) {
				json_object_set_new(out, key, json_number_or_null(d));
			}
		} else {
			json_object_set(out, key, (json_t *)v);
		}
	}
	return out;
}

static json_t *per_cpu(const struct builtin_host *h)
{
	const json_t *a = json_object_get(json_object_get(h->first.json, "cpu"), "per_cpu_us");
	const json_t *b = json_object_get(json_object_get(h->last.json, "cpu"), "per_cpu_us");
	double seconds = h->last.cpu_t - h->first.cpu_t;
	json_t *list = json_array();
	for (size_t i = 0; seconds > 0 && i < json_array_size(b); i++) {
		double d = json_number_value(json_array_get(b, i)) -
			   json_number_value(json_array_get(a, i));
		json_array_append_new(list, json_number_or_null(1e-6 * d / seconds));
	}
	return list;
}

json_t *builtin_placement(const struct builtin_host *h)
{
	json_t *last = json_object_get(h->last.json, "placement");
	bool told = json_object_size(json_object_get(last, "pages")) > 0;
	return told ? last : json_object_get(h->first.json, "placement");
}

/* start: of the series of intervals, by the host's own clock. */
static json_t *host_json(const struct builtin_host *h, double start)
{
	struct builtin_cpu c = builtin_cpu_of(h);
	const json_t *threads = json_object_get(h->last.json, "threads");
	json_t *o = json_object();
	json_object_set_new(o, "bytes", json_integer((json_int_t)(h->last.bytes - h->first.bytes)));
	json_object_set_new(o, "seconds", json_number_or_null(builtin_seconds(h)));
	json_object_set_new(o, "cpu_busy", json_number_or_null(c.known ? c.busy : NAN));
	json_object_set_new(o, "cpu_self", json_number_or_null(c.self));
	json_object_set_new(o, "cpus", json_integer(c.cpus));
	json_object_set_new(o, "cpu_background", json_number_or_null(h->background));
	json_object_set(o, "stolen_by_spin", json_object_get(h->last.json, "stolen"));
	json_object_set_new(o, "per_cpu", per_cpu(h));
	json_object_set(o, "thread_cpus", json_object_get(threads, "cpus"));
	json_object_set(o, "incoming_cpus", json_object_get(h->last.json, "incoming_cpus"));
	json_object_set(o, "placement", builtin_placement(h));
	json_object_set(o, "effective", json_object_get(h->last.json, "effective"));
	json_object_set(o, "tcp", json_object_get(h->last.json, "tcp"));
	json_object_set(o, "note", json_object_get(h->last.json, "note"));
	json_object_set_new(o, "joules", json_number_or_null(h->last.energy - h->first.energy));
	json_object_set(o, "no_energy", json_object_get(h->last.json, "no_energy"));
	json_object_set(o, "no_perf", json_object_get(h->last.json, "no_perf"));
	json_object_set(o, "drained", json_object_get(h->final, "drained"));
	json_object_set(o, "sent_in_all", json_object_get(h->final, "sent"));
	json_object_set(o, "received_in_all", json_object_get(h->final, "received"));
	json_object_set_new(o, "counters",
			    difference(json_object_get(h->first.json, "host"),
				       json_object_get(h->last.json, "host")));
	json_object_set_new(o, "counter_series", builtin_counters_json(&h->counters, start));
	return o;
}

json_t *builtin_detail(const struct builtin_window *w, json_t *evidence)
{
	json_t *o = json_object();
	json_object_set_new(o, "sender", host_json(w->sender, w->series->sender_start));
	json_object_set_new(o, "receiver", host_json(w->receiver, w->series->point[0].t));
	json_object_set_new(o, "one_host", json_boolean(w->one_host));
	if (w->at) {
		json_object_set_new(o, "address", json_text_or_null(w->at->address));
		json_object_set_new(o, "port", json_integer(w->at->port));
	}
	json_object_set_new(o, "window_start", json_integer((json_int_t)w->window_start));
	json_object_set_new(o, "intervals", builtin_series_json(w->series));
	json_object_set_new(o, "limits", evidence);
	if (w->type == BUILTIN_UDP) {
		json_object_set_new(o, "udp", builtin_udp_json(w));
	}
	if (w->test && strcmp(w->test->send, "zerocopy") == 0) {
		json_object_set(o, "zerocopy", json_object_get(w->sender->last.json, "zerocopy"));
	}
	return o;
}
