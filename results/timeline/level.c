/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The numbers of the timeline: each group's level with its interval, where a series changes, and
 * how boots differ. Knows no label. Called by timeline.c.
 */
#include "change.h"
#include "cleanup.h"
#include "json_util.h"
#include "stats.h"
#include "timeline_private.h"
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

/* For all series of a table together. */
#define ALPHA 0.05

/* Of the median: distribution-free from six values on, else Student's t on logarithms; none for
 * under three. */
static void interval_of(const double *x, size_t n, double *lo, double *hi)
{
	*lo = *hi = NAN;
	auto_free double *log_x = malloc((n + 1) * sizeof(*log_x));
	if (n < 3 || !log_x) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		log_x[i] = log(x[i]);
	}
	if (n >= 6 && n <= 1000) {
		struct interval h = stats_hodges_lehmann(log_x, n, 0.95);
		*lo = exp(h.lo);
		*hi = exp(h.hi);
	} else {
		double half = gsl_cdf_tdist_Pinv(0.975, (double)n - 1) * stats_sd(log_x, n) /
			      sqrt((double)n);
		*lo = exp(stats_mean(log_x, n) - half);
		*hi = exp(stats_mean(log_x, n) + half);
	}
}

void timeline_group_level(struct timeline_group *g, const struct timeline_unit *units,
			  const double *x, const double *sd)
{
	auto_free double *boots = malloc((g->units + 1) * sizeof(*boots));
	g->level = g->lo = g->hi = NAN;
	for (size_t i = 0; boots && i < g->units; i++) {
		boots[i] = units[i].level;
	}
	if (boots && g->units > 1) { /* what varies most is the boot: repeat there */
		g->level = stats_median(boots, g->units);
		interval_of(boots, g->units, &g->lo, &g->hi);
	} else {
		g->level = stats_median(x, g->samples);
		interval_of(x, g->samples, &g->lo, &g->hi);
	}
	g->service_demand = stats_median(sd, g->samples); /* NaN if one of them is not known */
}

struct series { /* a run of groups of one series */
	size_t first, n;
};

static struct series series_at(const struct timeline *t, size_t first)
{
	struct series s = {first, 0};
	while (first + s.n < t->n_groups &&
	       t->group[first + s.n].series == t->group[first].series) {
		s.n++;
	}
	return s;
}

static int changes_of(struct timeline *t, struct series s, double alpha)
{
	const struct timeline_group *first = &t->group[s.first], *last = first + s.n - 1;
	size_t n = last->first_unit + last->units - first->first_unit;
	auto_free double *level = malloc((n + 1) * sizeof(*level));
	auto_free size_t *group = malloc((n + 1) * sizeof(*group));
	auto_free struct change *change = calloc(s.n + 1, sizeof(*change));
	if (!level || !group || !change) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct timeline_unit *u = &t->unit[first->first_unit + i];
		level[i] = log(u->level);
		group[i] = u->group - s.first;
	}
	int rc = change_find(level, group, n, alpha, change);
	for (size_t i = 0; i < s.n; i++) {
		struct timeline_group *g = &t->group[s.first + i];
		g->changed = change[i].marked;
		g->p = change[i].p;
		g->change = i ? 100 * (g->level / g[-1].level - 1) : NAN;
	}
	return rc;
}

/* Series that are long enough to have a change: the others cost no alpha. */
static size_t testable(const struct timeline *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n_groups;) {
		struct series s = series_at(t, i);
		n += s.n > 1;
		i += s.n;
	}
	return n ? n : 1;
}

int timeline_find_changes(struct timeline *t, struct err *e)
{
	double alpha = ALPHA / (double)testable(t);
	for (size_t i = 0; i < t->n_groups;) {
		struct series s = series_at(t, i);
		int rc = changes_of(t, s, alpha);
		if (rc) {
			return err_set(e, rc, "out of memory for %zu groups", s.n);
		}
		i += s.n;
	}
	return 0;
}

/* Pooled over the groups of the table that have several boots, each around its own mean: nothing
 * is borrowed from elsewhere. */
json_t *timeline_boot_spread_json(const struct timeline *t, size_t table)
{
	double squares = 0, freedom = 0, largest = 0;
	size_t groups = 0;
	for (size_t i = 0; i < t->n_groups; i++) {
		const struct timeline_group *g = &t->group[i];
		auto_free double *x = malloc((g->units + 1) * sizeof(*x));
		if (g->table != table || g->units < 2 || !x) {
			continue;
		}
		double low = INFINITY, high = -INFINITY;
		for (size_t j = 0; j < g->units; j++) {
			x[j] = log(t->unit[g->first_unit + j].level);
			low = fmin(low, x[j]);
			high = fmax(high, x[j]);
		}
		double sd = stats_sd(x, g->units);
		squares += sd * sd * (double)(g->units - 1);
		freedom += (double)(g->units - 1);
		largest = fmax(largest, high - low);
		groups++;
	}
	if (!groups) {
		return json_null();
	}
	return json_pack("{s:f, s:f, s:I}", "percent", 100 * (exp(sqrt(squares / freedom)) - 1),
			 "largest_percent", 100 * (exp(largest) - 1), "groups", (json_int_t)groups);
}
