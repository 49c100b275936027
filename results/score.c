/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From metrics to the one number that is maximised, and whether a sample is admissible at all.
 * Reading objectives and requirements from text is objective.c's. Called by trials, the proof and
 * whoever judges samples.
 */
#include "score.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GUARD_THROUGHPUT 0.98 /* of the baseline's, and strictly of the best seen */

double score_service_demand(double busy_fraction, int cpus, double bytes_per_s)
{
	if (!isfinite(busy_fraction) || !isfinite(bytes_per_s) || busy_fraction < 0 || cpus <= 0 ||
	    bytes_per_s <= 0) {
		return NAN;
	}
	return busy_fraction * cpus * 1e6 / (bytes_per_s / 1024);
}

/* Counts are the only metrics of the table that may well be 0. */
static bool is_count(int m)
{
	return m == METRIC_RETRANSMITS || m == METRIC_RETRANSMITS_PER_GB || m == METRIC_LOST;
}

static double divisor(const struct sample *s, const char *name)
{
	int m = metric_find(name);
	double x = sample_metric(s, name);
	if (m >= 0 && is_count(m)) {
		x += 1;
	}
	return m >= 0 && !(x > 0) ? NAN : x;
}

static double finite_or_nan(double x)
{
	return isfinite(x) ? x : NAN;
}

double score_of(const struct objective *o, const struct sample *s)
{
	if (o->is_default && isfinite(s->m[METRIC_SCORE])) {
		return s->m[METRIC_SCORE];
	}
	if (o->minimize) {
		/* A score that a command brings may have any sign, as its own metrics may. */
		int m = metric_find(o->numerator);
		return finite_or_nan(m >= 0 && m != METRIC_SCORE ? 1 / divisor(s, o->numerator)
								 : -sample_metric(s, o->numerator));
	}
	double top = strcmp(o->numerator, "1") ? sample_metric(s, o->numerator) : 1;
	return finite_or_nan(o->denominator[0] ? top / divisor(s, o->denominator) : top);
}

double score_log_ratio(double a, double b)
{
	if (!isfinite(a) || !isfinite(b)) {
		return NAN;
	}
	return a > 0 && b > 0 ? log(a) - log(b) : a < 0 && b < 0 ? log(-b) - log(-a) : NAN;
}

__attribute__((format(printf, 3, 4))) static bool refuse(char *why, size_t size, const char *fmt,
							 ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (why && size) {
		vsnprintf(why, size, fmt, ap);
	}
	va_end(ap);
	return false;
}

static bool keeps_requirements(const struct objective *o, const struct sample *s, char *why,
			       size_t size)
{
	for (size_t i = 0; i < o->n_require; i++) {
		const struct requirement *r = &o->require[i];
		double x = sample_metric(s, r->metric);
		if (isnan(x)) {
			return refuse(why, size, "%s is required, and not known", r->metric);
		}
		if (r->at_least ? x < r->limit : x > r->limit) {
			return refuse(why, size, "%s is %.4g, required is %s %.4g", r->metric, x,
				      r->at_least ? "at least" : "at most", r->limit);
		}
	}
	return true;
}

/* One guard: metric m of the sample against factor x reference, a floor for factors below 1, else a
 * ceiling. Where the reference is unknown there is nothing to keep; where only the sample's is, it
 * cannot be shown to keep it. */
static bool keeps(const struct sample *s, enum metric m, double reference, double factor,
		  const char *whose, char *why, size_t size)
{
	double x = s->m[m];
	if (isnan(reference)) {
		return true;
	}
	if (isnan(x)) {
		return refuse(why, size, "%s is not known, and the %s's is", metric_name(m), whose);
	}
	if (factor < 1 ? x < factor * reference : x > factor * reference) {
		return refuse(why, size, "%s is %.4g, %s %.0f %% of the %s's %.4g", metric_name(m),
			      x, factor < 1 ? "under" : "over", 100 * factor, whose, reference);
	}
	return true;
}

static bool keeps_strict(const struct sample *s, const struct sample *baseline,
			 double best_throughput, char *why, size_t size)
{
	static const struct {
		enum metric metric;
		double factor;
	} ceilings[] = {
		{METRIC_RTT, 1.25},
		{METRIC_RETRANSMITS_PER_GB, 1.25},
		{METRIC_SERVICE_DEMAND_SENDER, 1.05},
		{METRIC_SERVICE_DEMAND_RECEIVER, 1.05},
	};
	if (!keeps(s, METRIC_THROUGHPUT, best_throughput, GUARD_THROUGHPUT, "best seen", why,
		   size)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(ceilings) / sizeof(ceilings[0]); i++) {
		enum metric m = ceilings[i].metric;
		if (!keeps(s, m, baseline->m[m], ceilings[i].factor, "baseline", why, size)) {
			return false;
		}
	}
	/* Both ends on one host: its service demand is the whole. */
	bool one_host = isnan(baseline->m[METRIC_SERVICE_DEMAND_SENDER]) &&
			isnan(baseline->m[METRIC_SERVICE_DEMAND_RECEIVER]);
	return !one_host || keeps(s, METRIC_SERVICE_DEMAND, baseline->m[METRIC_SERVICE_DEMAND],
				  1.05, "baseline", why, size);
}

bool score_admissible(const struct objective *o, const struct sample *s,
		      const struct sample *baseline, double best_throughput, char *why, size_t size)
{
	if (why && size) {
		why[0] = 0;
	}
	if (!s->ok) {
		return refuse(why, size, "%s", s->reason[0] ? s->reason : "the sample failed");
	}
	if (!keeps_requirements(o, s, why, size)) {
		return false;
	}
	if (!baseline || !baseline->ok || o->guards == GUARDS_NONE) {
		return true;
	}
	if (!keeps(s, METRIC_THROUGHPUT, baseline->m[METRIC_THROUGHPUT], GUARD_THROUGHPUT,
		   "baseline", why, size)) {
		return false;
	}
	return o->guards != GUARDS_STRICT || keeps_strict(s, baseline, best_throughput, why, size);
}

static double margin_of(double x, double limit, bool at_least)
{
	double above = x > 0 && limit > 0 ? log(x / limit) : x - limit;
	return at_least ? above : -above;
}

size_t score_margins(const struct objective *o, const struct sample *s,
		     const struct sample *baseline, double *margin)
{
	size_t n = 0;
	for (; n < o->n_require && s; n++) {
		const struct requirement *r = &o->require[n];
		margin[n] = margin_of(sample_metric(s, r->metric), r->limit, r->at_least);
	}
	if (s && o->guards != GUARDS_NONE) {
		double base = baseline && baseline->ok ? baseline->m[METRIC_THROUGHPUT] : NAN;
		margin[n] = margin_of(s->m[METRIC_THROUGHPUT], GUARD_THROUGHPUT * base, true);
	}
	return o->n_require + (o->guards != GUARDS_NONE);
}
