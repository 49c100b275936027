/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline as an object: rows in order, what they have in common, remarks. Computes no level.
 * Called by timeline.c.
 */
#include "cleanup.h"
#include "json_util.h"
#include "timeline_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *pair_or_null(double lo, double hi)
{
	return isfinite(lo) && isfinite(hi) ? json_pack("[f, f]", lo, hi) : json_null();
}

static json_t *row_json(const struct timeline *t, const struct timeline_group *g)
{
	char key[256], variant[256];
	json_t *row = json_object();
	bool plain = !*timeline_variant(g->labels, t->by, variant, sizeof(variant));
	json_object_set_new(row, "group",
			    json_text_or_null(timeline_key(g->labels, t->by, key, sizeof(key))));
	json_object_set(row, "labels", (json_t *)g->labels);
	json_object_set_new(row, "samples", json_integer((json_int_t)g->samples));
	json_object_set_new(row, "boots", json_integer((json_int_t)g->units));
	json_object_set_new(row, "throughput", json_number_or_null(g->level));
	json_object_set_new(row, "interval", pair_or_null(g->lo, g->hi));
	json_object_set_new(row, "service_demand", json_number_or_null(g->service_demand));
	json_object_set_new(row, "change_percent", json_number_or_null(g->change));
	json_object_set_new(row, "against_plain_percent",
			    json_number_or_null(plain ? NAN : 100 * (g->level / g->plain - 1)));
	json_object_set_new(row, "changed", json_boolean(g->changed));
	json_object_set_new(row, "p", json_number_or_null(g->p));
	return row;
}

static int by_group(const void *a, const void *b)
{
	const struct timeline_group *x = *(const struct timeline_group *const *)a,
				    *y = *(const struct timeline_group *const *)b;
	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	bool vx = json_object_get(x->labels, "variant") || json_object_get(x->labels, "label"),
	     vy = json_object_get(y->labels, "variant") || json_object_get(y->labels, "label");
	/* By driver first where there are several, then plain before variants. */
	auto_free char *sx = timeline_identity(x->labels, "", false, false);
	auto_free char *sy = timeline_identity(y->labels, "", false, false);
	int differ = sx && sy ? strcmp(sx, sy) : 0;
	return differ ? differ : vx != vy ? vx - vy : x->series < y->series ? -1 : 1;
}

static json_t *rows_json(const struct timeline *t, size_t table)
{
	auto_free const struct timeline_group **g = malloc((t->n_groups + 1) * sizeof(*g));
	json_t *rows = json_array();
	size_t n = 0;
	for (size_t i = 0; g && i < t->n_groups; i++) {
		if (t->group[i].table == table) {
			g[n++] = &t->group[i];
		}
	}
	if (g) {
		qsort(g, n, sizeof(*g), by_group);
	}
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(rows, row_json(t, g[i]));
	}
	return rows;
}

/* Labels that are the same in all rows, and the names of those that are not. */
static void split_labels(json_t *rows, const char *by, json_t *common, json_t *columns)
{
	json_t *row, *value;
	const char *name;
	size_t i;
	auto_json json_t *all = json_object();
	json_array_foreach(rows, i, row)
	{
		json_object_update(all, json_object_get(row, "labels"));
	}
	json_object_foreach(all, name, value)
	{
		bool same = true;
		if (timeline_label_is_aside(name, by)) {
			continue;
		}
		json_array_foreach(rows, i, row)
		{
			json_t *here = json_object_get(json_object_get(row, "labels"), name);
			same = same && here && json_equal(here, value);
		}
		if (same) {
			json_object_set(common, name, value);
		} else {
			json_array_append_new(columns, json_string(name));
		}
	}
}

static json_t *notes_json(const struct timeline *t, size_t table, const json_t *spread)
{
	json_t *notes = json_array();
	size_t groups = 0, single = 0;
	for (size_t i = 0; i < t->n_groups; i++) {
		groups += t->group[i].table == table;
		single += t->group[i].table == table && t->group[i].units == 1;
	}
	if (json_is_object(spread)) {
		json_array_append_new(
			notes, json_sprintf("Boots of the same group differ by up to %.1f %% "
					    "(standard deviation %.1f %%).",
					    json_get_number(spread, "largest_percent"),
					    json_get_number(spread, "percent")));
	}
	if (t->unnamed) {
		json_array_append_new(notes,
				      json_sprintf("Left out: %d samples whose %s is not known.",
						   (int)t->unnamed, t->by));
	}
	if (groups > 1 && single == groups && strcmp(t->by, "boot")) {
		json_array_append_new(
			notes,
			json_string("Each group was measured in one boot (or nobody wrote down in "
				    "how many): a single step between two of them may be a "
				    "reboot's; what is marked stands out from the differences of "
				    "its whole series."));
	}
	return notes;
}

json_t *timeline_table_json(const struct timeline *t, size_t table)
{
	json_t *o = json_object(), *common = json_object(), *columns = json_array();
	json_t *rows = rows_json(t, table);
	json_t *spread = timeline_boot_spread_json(t, table);
	split_labels(rows, t->by, common, columns);
	json_object_set_new(o, "labels", common);
	json_object_set_new(o, "columns", columns);
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "boot_spread", spread);
	json_object_set_new(o, "variants", timeline_variants_json(t, table));
	json_object_set_new(o, "notes", notes_json(t, table, spread));
	return o;
}
