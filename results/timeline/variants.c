/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups with and without a variant (a patch, an option) side by side: what it changes, and how
 * much of a drop it regains. Called by timeline/json.c.
 */
#include "cleanup.h"
#include "json_util.h"
#include "stats.h"
#include "timeline_private.h"
#include <math.h>
#include <string.h>

static bool is_plain(const struct timeline *t, const struct timeline_group *g)
{
	char variant[256];
	return !*timeline_variant(g->labels, t->by, variant, sizeof(variant));
}

/* The level of a series before the first change that is a drop; NaN if it has none. */
static double before_drop(const struct timeline *t, size_t first, size_t *n)
{
	size_t i, series = t->group[first].series;
	auto_free double *x = malloc((t->n_groups + 1) * sizeof(*x));
	double level = NAN;
	for (i = first; i < t->n_groups && t->group[i].series == series; i++) {
		if (x && isnan(level) && t->group[i].changed && t->group[i].change < 0) {
			level = stats_median(x, i - first);
		}
		if (x) {
			x[i - first] = t->group[i].level;
		}
	}
	*n = i - first;
	return level;
}

/* Of the longest plain series of the table: shorter ones are the same machine's, with another
 * driver at some kernel, and have no history of their own. */
static double reference_of(const struct timeline *t, size_t table)
{
	size_t longest = 0, n;
	double level = NAN;
	for (size_t i = 0; i < t->n_groups; i += n) {
		double before = before_drop(t, i, &n);
		if (t->group[i].table == table && is_plain(t, &t->group[i]) && n > longest) {
			longest = n;
			level = before;
		}
	}
	return level;
}

static json_t *variant_json(const struct timeline *t, const struct timeline_group *g, double before)
{
	char variant[256], key[256];
	json_t *o = json_object();
	bool dropped = g->plain < before;
	json_object_set_new(o, "group",
			    json_text_or_null(timeline_key(g->labels, t->by, key, sizeof(key))));
	json_object_set(o, "labels", (json_t *)g->labels);
	json_object_set_new(
		o, "variant",
		json_text_or_null(timeline_variant(g->labels, t->by, variant, sizeof(variant))));
	json_object_set_new(o, "plain", json_number_or_null(g->plain));
	json_object_set_new(o, "with", json_number_or_null(g->level));
	json_object_set_new(o, "difference_percent",
			    json_number_or_null(100 * (g->level / g->plain - 1)));
	json_object_set_new(o, "before", json_number_or_null(before));
	json_object_set_new(
		o, "regained_percent",
		json_number_or_null(dropped ? 100 * (g->level - g->plain) / (before - g->plain)
					    : NAN));
	json_object_set_new(o, "left_percent", json_number_or_null(100 * (g->level / before - 1)));
	return o;
}

static int by_key(const void *a, const void *b)
{
	const struct timeline_group *x = *(const struct timeline_group *const *)a,
				    *y = *(const struct timeline_group *const *)b;
	return x->key != y->key		? (x->key < y->key ? -1 : 1)
	       : x->series != y->series ? (x->series < y->series ? -1 : 1)
					: 0;
}

json_t *timeline_variants_json(const struct timeline *t, size_t table)
{
	double before = reference_of(t, table);
	json_t *rows = json_array();
	size_t n = 0;
	auto_free const struct timeline_group **g = malloc((t->n_groups + 1) * sizeof(*g));
	for (size_t i = 0; g && i < t->n_groups; i++) {
		if (t->group[i].table == table && isfinite(t->group[i].plain)) {
			g[n++] = &t->group[i];
		}
	}
	if (g) {
		qsort(g, n, sizeof(*g), by_key);
	}
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(rows, variant_json(t, g[i], before));
	}
	return rows;
}
