/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names the samples that lie far from the others, and what was different about them, by the detail
 * that the built-in engine leaves. It drops and changes none. Called by the test command and by
 * reports.
 */
#include "outliers.h"
#include "cleanup.h"
#include "json_util.h"
#include "stats.h"
#include <math.h>
#include <stdlib.h>

#define MADS  (4 * 1.4826)
#define LEAST 0.05 /* of the median */

static double host_number(const struct sample *s, const char *host, const char *key)
{
	return json_get_number(json_object_get(s->detail, host), key);
}

static double larger(const struct sample *s, double (*of)(const struct sample *, const char *host))
{
	return fmax(of(s, "sender"), of(s, "receiver")); /* NaN loses */
}

/* Share of the host that is not the stream's processes: other programs, and the kernel's own. */
static double others_of(const struct sample *s, const char *host)
{
	double busy = host_number(s, host, "cpu_busy") - host_number(s, host, "cpu_self");
	return busy / host_number(s, host, "seconds") / host_number(s, host, "cpus");
}

static double before_of(const struct sample *s, const char *host)
{
	return host_number(s, host, "cpu_background");
}

static double stolen_of(const struct sample *s, const char *host)
{
	return host_number(s, host, "stolen_by_spin");
}

static double drops_of(const struct sample *s, const char *host)
{
	const json_t *c = json_object_get(json_object_get(s->detail, host), "counters");
	double device = json_get_number(c, "rx_drops"), queue = json_get_number(c, "softnet_drops");
	if (!c) {
		return NAN;
	}
	/* What did not grow is left out there. */
	return (isfinite(device) ? device : 0) + (isfinite(queue) ? queue : 0);
}

static double pauses_of(const struct sample *s, const char *host)
{
	const json_t *c = json_object_get(json_object_get(s->detail, host), "counters");
	return json_get_number(c, "rx_pause");
}

static double others(const struct sample *s)
{
	return 100 * larger(s, others_of);
}

static double before(const struct sample *s)
{
	return 100 * larger(s, before_of);
}

static double stolen(const struct sample *s)
{
	return 100 * larger(s, stolen_of);
}

static double drops(const struct sample *s)
{
	return larger(s, drops_of);
}

static double pauses(const struct sample *s)
{
	return larger(s, pauses_of);
}

static double retransmits(const struct sample *s)
{
	return s->m[METRIC_RETRANSMITS];
}

static double seconds(const struct sample *s)
{
	return s->m[METRIC_SECONDS];
}

static const struct {
	double (*of)(const struct sample *s);
	double more, times; /* than the median, at least */
	const char *format; /* of the value and the median */
} facts[] = {
	{others, 10, 1.3, "%.0f %% of the CPUs were others' (%.0f %% in the median sample)"},
	{before, 10, 2, "%.0f %% of the CPUs were busy before it (%.0f %%)"},
	{stolen, 20, 2, "a hypervisor took up to %.0f %% of a CPU away (%.0f %%)"},
	{retransmits, 10, 3, "%.0f retransmits (%.0f)"},
	{drops, 10, 3, "%.0f packets dropped on arrival (%.0f)"},
	{pauses, 10, 3, "%.0f pause frames received (%.0f)"},
	{seconds, 0.01, 1.1, "its window was %.3f s long (%.3f s)"},
};

/* Median and MAD of what a function says of the good samples. */
struct spread {
	size_t n;
	double median, mad;
};

static struct spread spread_of(const struct sample *s, size_t n, double *x)
{
	struct spread r = {0};
	for (size_t i = 0; i < n; i++) {
		if (isfinite(x[i]) && s[i].ok) {
			x[r.n++] = x[i];
		}
	}
	r.median = stats_median(x, r.n);
	r.mad = stats_mad(x, r.n);
	return r;
}

static json_t *reasons(const struct sample *s, size_t n, size_t which, double *x)
{
	json_t *list = json_array();
	for (size_t f = 0; f < sizeof(facts) / sizeof(facts[0]); f++) {
		double v = facts[f].of(&s[which]);
		for (size_t i = 0; i < n; i++) {
			x[i] = facts[f].of(&s[i]);
		}
		double m = spread_of(s, n, x).median;
		if (v > m + facts[f].more && v > facts[f].times * m) {
			json_array_append_new(list, json_sprintf(facts[f].format, v, m));
		}
	}
	return list;
}

static void find_by(const struct sample *s, size_t n, enum metric m, double *x, json_t *out)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = s[i].m[m];
	}
	struct spread r = spread_of(s, n, x);
	for (size_t i = 0; r.n >= OUTLIERS_FROM && i < n; i++) {
		double off = fabs(s[i].m[m] - r.median);
		if (s[i].ok && off > MADS * r.mad && off > LEAST * fabs(r.median)) {
			json_array_append_new(
				out,
				json_pack("{s:I, s:s, s:o, s:o}", "sample", (json_int_t)i + 1,
					  "metric", metric_name(m), "percent",
					  json_number_or_null(100 * (s[i].m[m] / r.median - 1)),
					  "why", reasons(s, n, i, x)));
		}
	}
}

json_t *outliers_find(const struct sample *s, size_t n)
{
	json_t *out = json_array();
	auto_free double *x = calloc(n + 1, sizeof(*x));
	if (x) {
		find_by(s, n, METRIC_THROUGHPUT, x, out);
		find_by(s, n, METRIC_SERVICE_DEMAND, x, out);
	}
	return out;
}
