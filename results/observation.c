/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads observations from the store, only the columns that its index covers. Judges nothing.
 * Called by the commands that make tables over runs.
 */
#include "observation.h"
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include "report_private.h"
#include "store_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

struct reading { /* one call */
	struct store *s;
	const struct observe_options *o;
	struct observations *out;
	size_t room_sets, room_items;
	json_t *run_labels; /* of the run of the rows at hand */
	char run[64];
};

const char *observation_label(const json_t *labels, const char *name, char *buf, size_t size)
{
	return report_value(json_object_get(labels, name), buf, size);
}

void observations_clear(struct observations *o)
{
	for (size_t i = 0; i < o->n_sets; i++) {
		json_decref(o->set[i].labels);
		json_decref(o->set[i].values);
	}
	free(o->set);
	free(o->item);
	memset(o, 0, sizeof(*o));
}

int observations_append(struct observations *to, struct observations *from, struct err *e)
{
	void *set = reallocarray(to->set, to->n_sets + from->n_sets + 1, sizeof(*to->set));
	to->set = set ? set : to->set;
	void *item = reallocarray(to->item, to->n_items + from->n_items + 1, sizeof(*to->item));
	to->item = item ? item : to->item;
	if (!set || !item) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < from->n_sets; i++) {
		to->set[to->n_sets + i] = from->set[i];
		to->set[to->n_sets + i].first += to->n_items;
	}
	for (size_t i = 0; i < from->n_items; i++) {
		to->item[to->n_items + i] = from->item[i];
		to->item[to->n_items + i].set += to->n_sets;
	}
	to->n_sets += from->n_sets;
	to->n_items += from->n_items;
	from->n_sets = from->n_items = 0;
	observations_clear(from);
	return 0;
}

static json_t *parsed(const char *text)
{
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

static int read_run_labels(struct reading *r, const char *run, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	char date[16] = "";
	struct tm tm;
	json_decref(r->run_labels);
	r->run_labels = json_object();
	snprintf(r->run, sizeof(r->run), "%s", run);
	int rc = store_prepare(r->s, "SELECT name, started, hosts FROM run WHERE id = ?", &st, e);
	if (rc) {
		return rc;
	}
	sqlite3_bind_text(st, 1, r->run, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW) {
		return store_error(r->s, rc, "read a run", e);
	}
	time_t started = (time_t)sqlite3_column_double(st, 1);
	json_object_set_new(r->run_labels, "name",
			    json_text_or_null((const char *)sqlite3_column_text(st, 0)));
	auto_json json_t *hosts = parsed((const char *)sqlite3_column_text(st, 2));
	if (json_is_object(hosts) && gmtime_r(&started, &tm)) {
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		json_object_set_new(r->run_labels, "date", json_string(date));
		host_labels(r->run_labels, hosts);
	}
	return 0;
}

static int grow(void **array, size_t *room, size_t n, size_t size, struct err *e)
{
	if (n < *room) {
		return 0;
	}
	size_t more = *room ? 2 * *room : 256;
	void *bigger = reallocarray(*array, more, size);
	if (!bigger) {
		return err_set(e, -ENOMEM, "out of memory for %zu samples", n);
	}
	*array = bigger;
	*room = more;
	return 0;
}

/* What a file said outweighs what the run knows; imported values are labels, too. */
static json_t *labels_of(const struct reading *r, json_t *own, json_t *values)
{
	json_t *labels = json_copy(r->run_labels);
	json_object_update(labels, values);
	json_object_update(labels, own);
	return labels;
}

static int add_set(struct reading *r, sqlite3_stmt *st, struct err *e)
{
	const char *run = (const char *)sqlite3_column_text(st, 1);
	int rc = strcmp(run, r->run) ? read_run_labels(r, run, e) : 0;
	if (!rc) {
		rc = grow((void **)&r->out->set, &r->room_sets, r->out->n_sets,
			  sizeof(*r->out->set), e);
	}
	if (rc) {
		return rc;
	}
	struct observation_set *set = &r->out->set[r->out->n_sets++];
	auto_json json_t *own = parsed((const char *)sqlite3_column_text(st, 3));
	auto_json json_t *values = parsed((const char *)sqlite3_column_text(st, 4));
	memset(set, 0, sizeof(*set));
	snprintf(set->run, sizeof(set->run), "%s", run);
	snprintf(set->phase, sizeof(set->phase), "%s", (const char *)sqlite3_column_text(st, 2));
	bool imported = !strcmp(set->phase, "import");
	set->labels = labels_of(r, own, imported ? values : NULL);
	set->values = r->o->values ? json_incref(values) : NULL;
	set->first = r->out->n_items;
	return set->labels ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static double number_at(sqlite3_stmt *st, int at)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL ? NAN : sqlite3_column_double(st, at);
}

static int add_item(struct reading *r, sqlite3_stmt *st, struct err *e)
{
	int rc = grow((void **)&r->out->item, &r->room_items, r->out->n_items,
		      sizeof(*r->out->item), e);
	if (rc) {
		return rc;
	}
	r->out->item[r->out->n_items++] = (struct observation){r->out->n_sets - 1, number_at(st, 5),
							       number_at(st, 6), number_at(st, 7),
							       number_at(st, 8)};
	r->out->set[r->out->n_sets - 1].n++;
	return 0;
}

static int prepare(struct reading *r, sqlite3_stmt **st, struct err *e)
{
	/* A configuration's text is long, and not wanted for every sample of a sweep. */
	static const char *const which[] = {
		[OBSERVE_BASELINE] = "(t.phase IN ('baseline', 'test', 'import') OR (t.phase = "
				     "'proof' AND t.config = (SELECT b.config FROM trial b WHERE "
				     "b.run = t.run AND b.phase = 'baseline' LIMIT 1)))",
		[OBSERVE_BEST] = "t.phase = 'proof' AND t.config <> (SELECT b.config FROM trial b "
				 "WHERE b.run = t.run AND b.phase = 'baseline' LIMIT 1)",
		[OBSERVE_CHECKS] = "t.phase = 'check'",
		[OBSERVE_NIGHTS] = "t.phase = 'night'",
		[OBSERVE_ALL] = "1",
	};
	char sql[1024];
	snprintf(sql, sizeof(sql),
		 "SELECT t.id, t.run, t.phase, %s, %s, p.time, p.score, p.throughput, "
		 "p.service_demand FROM %s trial t CROSS JOIN sample p ON p.trial = t.id "
		 "WHERE %s%s%s AND p.ok = 1 ORDER BY t.run, t.id, p.id",
		 store_has_tally(r->s) ? "t.labels" : "NULL",
		 r->o->values ? "t.config" : "CASE t.phase WHEN 'import' THEN t.config END",
		 r->o->name ? "run r CROSS JOIN" : "", which[r->o->which],
		 r->o->name ? " AND r.name = ?2 AND t.run = r.id" : "",
		 r->o->run ? " AND t.run = ?1" : "");
	int rc = store_prepare(r->s, sql, st, e);
	if (!rc && r->o->run) {
		sqlite3_bind_text(*st, 1, r->o->run, -1, SQLITE_STATIC);
	}
	if (!rc && r->o->name) {
		sqlite3_bind_text(*st, 2, r->o->name, -1, SQLITE_STATIC);
	}
	return rc;
}

static int read_rows(struct reading *r, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	sqlite3_int64 trial = -1;
	int rc = prepare(r, &st, e), step = SQLITE_DONE;
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		if (sqlite3_column_int64(st, 0) != trial) {
			trial = sqlite3_column_int64(st, 0);
			rc = add_set(r, st, e);
		}
		rc = rc ? rc : add_item(r, st, e);
	}
	return rc || step == SQLITE_DONE ? rc : store_error(r->s, step, "read its samples", e);
}

int observations_read(struct store *s, const struct observe_options *o, struct observations *out,
		      struct err *e)
{
	struct reading r = {.s = s, .o = o, .out = out};
	memset(out, 0, sizeof(*out));
	int rc = read_rows(&r, e);
	json_decref(r.run_labels);
	return rc;
}
