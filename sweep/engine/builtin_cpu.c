/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU's part of a sample: busy time of each host over its window, divided by the bytes that
 * went through that host, and the checks on numbers that cannot be. Pure.
 */
#include "builtin_private.h"
#include "json_util.h"
#include "score.h"
#include <errno.h>
#include <math.h>

/* Reads of the CPU and of the process are not at quite the same instant. */
#define SKEW_S 0.002

struct builtin_cpu builtin_cpu_of(const struct builtin_host *h)
{
	struct builtin_cpu c = {
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

static int cpu_check(const char *role, const struct builtin_cpu *c, double self, struct err *e)
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

static double demand_of(const struct builtin_host *h, double bytes, const struct builtin_cpu *c)
{
	return c->known ? score_service_demand(c->fraction, c->cpus, bytes / builtin_seconds(h))
			: NAN;
}

/* Hosts that share their CPUs: counted once, by whichever of the two meters is finer. */
int builtin_cpu_fill(const struct builtin_window *w, struct sample *out, struct err *e)
{
	struct builtin_cpu s = builtin_cpu_of(w->sender), r = builtin_cpu_of(w->receiver);
	if (w->one_host) {
		struct builtin_cpu *finer = s.known && (!r.known || s.error < r.error) ? &s : &r;
		double self = w->one_process ? r.self : s.self + r.self;
		int rc = cpu_check("both ends on one host", finer, self, e);
		out->m[METRIC_SERVICE_DEMAND] = demand_of(w->receiver,
							  builtin_moved(w, w->receiver), finer);
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
	out->m[METRIC_SERVICE_DEMAND_SENDER] = demand_of(w->sender, builtin_moved(w, w->sender),
							 &s);
	out->m[METRIC_SERVICE_DEMAND_RECEIVER] = demand_of(w->receiver,
							   builtin_moved(w, w->receiver), &r);
	/* NaN if one of the two is not known: never half a sum */
	out->m[METRIC_SERVICE_DEMAND] = out->m[METRIC_SERVICE_DEMAND_SENDER] +
					out->m[METRIC_SERVICE_DEMAND_RECEIVER];
	out->cpu_error = s.known && r.known ? (s.error + r.error) / (s.busy + r.busy) : NAN;
	return rc;
}

/* The busiest CPU's share of the window. A CPU that came or went shifts the list: not compared. */
double builtin_cpu_busiest(const struct builtin_host *h)
{
	json_t *a = json_object_get(json_object_get(h->first.json, "cpu"), "per_cpu_us");
	json_t *b = json_object_get(json_object_get(h->last.json, "cpu"), "per_cpu_us");
	double most = 0;
	if (json_array_size(a) != json_array_size(b)) {
		return 0;
	}
	for (size_t i = 0; i < json_array_size(b); i++) {
		most = fmax(most, json_number_value(json_array_get(b, i)) -
					  json_number_value(json_array_get(a, i)));
	}
	return 1e-6 * most / (h->last.cpu_t - h->first.cpu_t);
}
