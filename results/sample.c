/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measurement as a struct and as JSON, and the table of the metrics' names and units. Engines
 * fill samples; nothing here computes a metric.
 */
#include "sample.h"
#include "cleanup.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *unit;
} metrics[METRIC_COUNT] = {
	[METRIC_THROUGHPUT] = {"throughput", "bit/s"},
	[METRIC_SERVICE_DEMAND] = {"service_demand", "us/KB"},
	[METRIC_SERVICE_DEMAND_SENDER] = {"service_demand_sender", "us/KB"},
	[METRIC_SERVICE_DEMAND_RECEIVER] = {"service_demand_receiver", "us/KB"},
	[METRIC_CPU_SENDER] = {"cpu_sender", "fraction"},
	[METRIC_CPU_RECEIVER] = {"cpu_receiver", "fraction"},
	[METRIC_SCORE] = {"score", ""},
	[METRIC_RETRANSMITS] = {"retransmits", "segments"},
	[METRIC_RETRANSMITS_PER_GB] = {"retransmits_per_GB", "segments/GB"},
	[METRIC_JOULES_PER_GB] = {"joules_per_GB", "J/GB"},
	[METRIC_RTT] = {"rtt", "us"},
	[METRIC_CWND] = {"cwnd", "bytes"},
	[METRIC_SENT] = {"sent", "packets"},
	[METRIC_LOST] = {"lost", "packets"},
	[METRIC_OFFERED] = {"offered", "bit/s"},
	[METRIC_SECONDS] = {"seconds", "s"},
	[METRIC_LATENCY_P50] = {"latency_p50", "us"},
	[METRIC_LATENCY_P99] = {"latency_p99", "us"},
};

void sample_init(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	for (int m = 0; m < METRIC_COUNT; m++) {
		s->m[m] = NAN;
	}
	s->cpu_error = s->link_cpu = s->warmup = NAN;
}

void sample_clear(struct sample *s)
{
	json_decref(s->detail);
	sample_init(s);
}

void sample_copy(struct sample *to, const struct sample *from)
{
	*to = *from;
	json_incref(to->detail);
}

int sample_fail(struct sample *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(s->reason, sizeof(s->reason), fmt, ap);
	va_end(ap);
	s->ok = false;
	return -EIO;
}

const char *metric_name(enum metric m)
{
	return metrics[m].name;
}

const char *metric_unit(enum metric m)
{
	return metrics[m].unit;
}

int metric_find(const char *name)
{
	for (int m = 0; m < METRIC_COUNT; m++) {
		if (!strcmp(metrics[m].name, name)) {
			return m;
		}
	}
	return -1;
}

double sample_metric(const struct sample *s, const char *name)
{
	int m = metric_find(name);
	if (m >= 0) {
		return s->m[m];
	}
	for (size_t i = 0; i < s->n_extra; i++) {
		if (!strcmp(s->extra[i].name, name)) {
			return s->extra[i].value;
		}
	}
	return NAN;
}

static json_t *extra_to_json(const struct sample *s)
{
	json_t *o = json_object();
	for (size_t i = 0; i < s->n_extra; i++) {
		auto_json json_t *key = json_text_or_null(s->extra[i].name);
		if (json_is_string(key)) {
			json_object_set_new(o, json_string_value(key),
					    json_number_or_null(s->extra[i].value));
		}
	}
	return o;
}

json_t *sample_to_json(const struct sample *s)
{
	json_t *o = json_object();
	json_object_set_new(o, "ok", json_boolean(s->ok));
	json_object_set_new(o, "reason", s->ok ? json_null() : json_text_or_null(s->reason));
	if (s->cut_link) {
		json_object_set_new(o, "cut_link", json_true());
	}
	for (int m = 0; m < METRIC_COUNT; m++) {
		json_object_set_new(o, metrics[m].name, json_number_or_null(s->m[m]));
	}
	if (s->n_extra) {
		json_object_set_new(o, "extra", extra_to_json(s));
	}
	json_object_set_new(o, "limited_by", json_text_or_null(s->limited_by));
	json_object_set_new(o, "cpu_source", json_text_or_null(s->cpu_source));
	json_object_set_new(o, "cpu_error", json_number_or_null(s->cpu_error));
	json_object_set_new(o, "link_cpu", json_number_or_null(s->link_cpu));
	json_object_set_new(o, "warmup", json_number_or_null(s->warmup));
	json_object_set_new(o, "steady", json_boolean(s->steady));
	json_object_set_new(o, "detail", s->detail ? json_incref(s->detail) : json_null());
	return o;
}
