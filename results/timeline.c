/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From observations to the timeline: which measurements belong together, in which order the groups
 * stand, and the object that says it all. The numbers are timeline/level.c's. Called by the
 * timeline command.
 */
#include "timeline.h"
#include "cleanup.h"
#include "intern.h"
#include "json_util.h"
#include "kernel_order.h"
#include "stats.h"
#include "timeline_private.h"
#include "udp_table.h"
#include <errno.h>
#include <math.h>
#include <string.h>

struct entry { /* one set of observations, by its places in the order */
	size_t table, series, key, boot;
	const struct observation_set *set;
};

struct making { /* one call */
	const struct observations *o;
	const char *by;
	struct intern tables, series, keys, boots;
	struct entry *entry;
	size_t n;
	struct timeline t;
};

static int by_places(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const size_t places[4][2] = {
		{x->table, y->table}, {x->series, y->series}, {x->key, y->key}, {x->boot, y->boot}};
	for (size_t i = 0; i < 4; i++) {
		if (places[i][0] != places[i][1]) {
			return places[i][0] < places[i][1] ? -1 : 1;
		}
	}
	return x->set < y->set ? -1 : x->set > y->set;
}

static int add_entry(struct making *m, const struct observation_set *set)
{
	char key[256], boot[512];
	auto_free char *table = timeline_identity(set->labels, m->by, true, true);
	auto_free char *series = timeline_identity(set->labels, m->by, false, true);
	auto_free char *whole = NULL;
	if (!table || !series || asprintf(&whole, "%s%s", table, series) < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	struct entry *x = &m->entry[m->n];
	timeline_key(set->labels, m->by, key, sizeof(key));
	observation_label(set->labels, "boot", boot, sizeof(boot));
	if (!*key || !set->n) {
		m->t.unnamed += set->n;
		return 0;
	}
	*x = (struct entry){intern_text(&m->tables, table), intern_text(&m->series, whole),
			    intern_text(&m->keys, key), intern_text(&m->boots, boot), set};
	m->n++;
	return 0;
}

static int (*order_of(const char *by))(const char *, const char *)
{
	return strcmp(by, "date") ? kernel_compare : strcmp;
}

static int put_in_order(struct making *m)
{
	auto_free size_t *rank = malloc((m->keys.n + 1) * sizeof(*rank));
	int rc = rank ? intern_ranks(&m->keys, order_of(m->by), rank) : -ENOMEM;
	for (size_t i = 0; !rc && i < m->n; i++) {
		m->entry[i].key = rank[m->entry[i].key];
	}
	qsort(m->entry, m->n, sizeof(*m->entry), by_places);
	return rc;
}

/* Nothing has the label: say which there are. */
static int no_such_label(const struct making *m, struct err *e)
{
	char list[400] = "";
	auto_json json_t *names = json_object();
	const char *name;
	json_t *unused;
	if (!m->o->n_sets) {
		return err_usage(e, "there is nothing to compare: the store has no sample of that "
				    "kind");
	}
	for (size_t i = 0; i < m->o->n_sets; i++) {
		json_object_update(names, m->o->set[i].labels);
	}
	json_object_foreach(names, name, unused)
	{
		size_t at = strlen(list);
		snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", name);
	}
	return err_usage(e, "nothing in the store has the label \"%.40s\"; there are: %s", m->by,
			 list);
}

/* The samples of entries that lie side by side. Returns their number. */
static size_t gather(const struct making *m, size_t from, size_t to, double *x, double *sd)
{
	size_t n = 0;
	for (size_t i = from; i < to; i++) {
		const struct observation_set *set = m->entry[i].set;
		for (size_t j = 0; j < set->n; j++) {
			const struct observation *item = &m->o->item[set->first + j];
			if (item->throughput > 0) {
				sd[n] = item->service_demand;
				x[n++] = item->throughput;
			}
		}
	}
	return n;
}

static bool same_group(const struct entry *a, const struct entry *b)
{
	return a->series == b->series && a->key == b->key;
}

/* One group: its units, then its level. Returns the index behind its last entry. */
static size_t make_group(struct making *m, size_t from, double *x, double *sd)
{
	struct timeline *t = &m->t;
	struct timeline_group *g = &t->group[t->n_groups];
	const struct entry *first = &m->entry[from];
	size_t to = from;
	*g = (struct timeline_group){.table = first->table,
				     .series = first->series,
				     .key = first->key,
				     .labels = first->set->labels,
				     .first_unit = t->n_units,
				     .plain = NAN};
	while (to < m->n && same_group(&m->entry[to], first)) {
		size_t end = to;
		while (end < m->n && same_group(&m->entry[end], first) &&
		       m->entry[end].boot == m->entry[to].boot) {
			end++;
		}
		size_t n = gather(m, to, end, x, sd);
		if (n) {
			t->unit[t->n_units++] = (struct timeline_unit){t->n_groups,
								       stats_median(x, n)};
		}
		to = end;
	}
	g->units = t->n_units - g->first_unit;
	g->samples = gather(m, from, to, x, sd);
	if (g->samples) {
		timeline_group_level(g, &t->unit[g->first_unit], x, sd);
		t->n_groups++;
	}
	return to;
}

static int make_groups(struct making *m)
{
	auto_free double *x = malloc((m->o->n_items + 1) * sizeof(*x));
	auto_free double *sd = malloc((m->o->n_items + 1) * sizeof(*sd));
	m->t.group = calloc(m->n + 1, sizeof(*m->t.group));
	m->t.unit = calloc(m->n + 1, sizeof(*m->t.unit));
	if (!x || !sd || !m->t.group || !m->t.unit) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->n;) {
		i = make_group(m, i, x, sd);
	}
	m->t.n_tables = m->tables.n;
	m->t.by = m->by;
	return 0;
}

/* Each group's level beside that of the same group without the variant. */
static int match_plain(struct making *m)
{
	auto_json json_t *plain = json_object();
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < m->t.n_groups; i++) {
			struct timeline_group *g = &m->t.group[i];
			char variant[256];
			auto_free char *series = timeline_identity(g->labels, m->by, false, false);
			auto_free char *at = NULL;
			if (asprintf(&at, "%zu %zu %s", g->table, g->key, series ? series : "") <
			    0) {
				at = NULL;
				return -ENOMEM;
			}
			bool is_plain = !*timeline_variant(g->labels, m->by, variant,
							   sizeof(variant));
			if (pass == 0 && is_plain) {
				json_object_set_new(plain, at, json_real(g->level));
			} else if (pass == 1 && !is_plain) {
				g->plain = json_get_number(plain, at);
			}
		}
	}
	return 0;
}

static int make(struct making *m, json_t **out, struct err *e)
{
	int rc = 0;
	m->entry = calloc(m->o->n_sets + 1, sizeof(*m->entry));
	for (size_t i = 0; m->entry && !rc && i < m->o->n_sets; i++) {
		rc = add_entry(m, &m->o->set[i]);
	}
	if (m->entry && !rc && !m->n) {
		return no_such_label(m, e);
	}
	rc = !m->entry ? -ENOMEM : rc ? rc : put_in_order(m);
	rc = rc ? rc : make_groups(m);
	rc = rc ? rc : match_plain(m);
	if (rc) {
		return err_set(e, rc, "out of memory for %zu measurements", m->o->n_items);
	}
	rc = timeline_find_changes(&m->t, e);
	if (rc) {
		return rc;
	}
	json_t *tables = json_array();
	for (size_t i = 0; i < m->tables.n; i++) {
		json_array_append_new(tables, timeline_table_json(&m->t, i));
	}
	*out = json_pack("{s:s, s:o, s:o}", "by", m->by, "tables", tables, "udp",
			 udp_table_json(m->o));
	return *out ? 0 : err_set(e, -ENOMEM, "out of memory");
}

int timeline_make(const struct observations *o, const char *by, json_t **out, struct err *e)
{
	struct making m = {.o = o, .by = by};
	int rc = make(&m, out, e);
	intern_clear(&m.tables);
	intern_clear(&m.series);
	intern_clear(&m.keys);
	intern_clear(&m.boots);
	free(m.entry);
	free(m.t.group);
	free(m.t.unit);
	return rc;
}
