/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What comes out of the store, as JSON: the list of runs, and one run whole. Reports and
 * comparisons read these objects and know no SQL.
 */
#include "cleanup.h"
#include "json_util.h"
#include "store_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

static const char *column_text(sqlite3_stmt *st, int at)
{
	return (const char *)sqlite3_column_text(st, at);
}

static json_t *column_number(sqlite3_stmt *st, int at)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL
		       ? json_null()
		       : json_number_or_null(sqlite3_column_double(st, at));
}

/* JSON that was stored; null where there is none or it does not parse. */
static json_t *column_json(sqlite3_stmt *st, int at)
{
	const char *text = column_text(st, at);
	json_t *j = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	return j ? j : json_null();
}

static json_t *column_time(sqlite3_stmt *st, int at)
{
	char text[32];
	struct tm tm;
	time_t t = (time_t)sqlite3_column_double(st, at);
	if (sqlite3_column_type(st, at) == SQLITE_NULL || !gmtime_r(&t, &tm)) {
		return json_null();
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

static void copy_key(json_t *to, const char *key, const json_t *from, const char *from_key)
{
	json_t *j = json_object_get(from, from_key);
	json_object_set(to, key, j ? j : json_null());
}

static json_t *list_row(sqlite3_stmt *st)
{
	json_t *row = json_object();
	auto_json json_t *result = column_json(st, 6);
	const json_t *best = json_object_get(result, "best");
	json_object_set_new(row, "run", json_text_or_null(column_text(st, 0)));
	json_object_set_new(row, "name", json_text_or_null(column_text(st, 1)));
	json_object_set_new(row, "started", column_time(st, 2));
	json_object_set_new(row, "status", json_text_or_null(column_text(st, 3)));
	copy_key(row, "seconds", result, "seconds");
	json_object_set_new(row, "samples", json_integer(sqlite3_column_int64(st, 4)));
	json_object_set_new(row, "failed", json_integer(sqlite3_column_int64(st, 5)));
	copy_key(row, "throughput", best, "throughput");
	copy_key(row, "service_demand", best, "service_demand");
	copy_key(row, "gain", result, "gain");
	copy_key(row, "recommended", result, "recommended");
	return row;
}

int store_list_runs(struct store *s, json_t **out, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = store_prepare(
		s,
		store_has_tally(s)
			? "SELECT r.id, r.name, r.started, r.status, coalesce(c.samples, 0),"
			  " coalesce(c.failed, 0), r.result FROM run r"
			  " LEFT JOIN tally c ON c.run = r.id ORDER BY r.started DESC, r.id DESC"
			: "SELECT r.id, r.name, r.started, r.status, count(p.id),"
			  " coalesce(sum(NOT p.ok), 0), r.result FROM run r"
			  " LEFT JOIN trial t ON t.run = r.id LEFT JOIN sample p ON p.trial = t.id"
			  " GROUP BY r.id ORDER BY r.started DESC, r.id DESC",
		&st, e);
	if (rc) {
		return rc;
	}
	auto_json json_t *list = json_array();
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		json_array_append_new(list, list_row(st));
	}
	if (rc != SQLITE_DONE) {
		return store_error(s, rc, "read its runs", e);
	}
	*out = take_ptr(list);
	return 0;
}

int store_find_run(struct store *s, const char *id, char *whole, size_t size, struct err *e)
{
	bool latest = !strcmp(id, "latest");
	auto_stmt sqlite3_stmt *st = NULL;
	int n = 0,
	    rc = store_prepare(s,
			       latest ? "SELECT id FROM run ORDER BY started DESC, id DESC LIMIT 1"
				      : "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 "
					"ORDER BY id = ?1 DESC LIMIT 2",
			       &st, e);
	if (rc) {
		return rc;
	}
	if (!latest) {
		sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	}
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *found = column_text(st, 0);
		if (n++ == 0) {
			snprintf(whole, size, "%s", found);
		}
	}
	if (rc != SQLITE_DONE) {
		return store_error(s, rc, "look for the run", e);
	}
	if (n == 0) {
		return latest ? err_usage(e, "the store %s holds no run yet", s->path)
			      : err_usage(e, "the store %s has no run %s", s->path, id);
	}
	if (n > 1 && strcmp(whole, id)) {
		return err_usage(e, "several runs begin with \"%s\": write more of the name", id);
	}
	return 0;
}

static int read_run(struct store *s, const char *id, json_t *run, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = store_prepare(s,
			       "SELECT id, name, started, ended, status, seed, spec, spec_sha256, "
			       "program, hosts, result FROM run WHERE id = ?",
			       &st, e);
	if (rc) {
		return rc;
	}
	sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW) {
		return rc == SQLITE_DONE ? err_usage(e, "the run %s is gone", id)
					 : store_error(s, rc, "read the run", e);
	}
	json_object_set_new(run, "run", json_text_or_null(column_text(st, 0)));
	json_object_set_new(run, "name", json_text_or_null(column_text(st, 1)));
	json_object_set_new(run, "started", column_time(st, 2));
	json_object_set_new(run, "ended", column_time(st, 3));
	json_object_set_new(run, "status", json_text_or_null(column_text(st, 4)));
	json_object_set_new(run, "seed", json_integer(sqlite3_column_int64(st, 5)));
	json_object_set_new(run, "spec", json_text_or_null(column_text(st, 6)));
	json_object_set_new(run, "spec_sha256", json_text_or_null(column_text(st, 7)));
	json_object_set_new(run, "program", json_text_or_null(column_text(st, 8)));
	json_object_set_new(run, "hosts", column_json(st, 9));
	json_object_set_new(run, "result", column_json(st, 10));
	return 0;
}

enum {
	COLUMN_TRIAL,
	COLUMN_PHASE,
	COLUMN_CONFIG,
	COLUMN_ASKED,
	COLUMN_SAMPLE,
	COLUMN_TIME,
	COLUMN_OK,
	COLUMN_SCORE,
	COLUMN_MORE,
	COLUMN_LABELS,
	COLUMN_METRICS
};

/* How much of each sample is read. */
struct extent {
	bool head;		 /* no trials */
	bool brief;		 /* without "detail" */
	const char *const *keys; /* only these, where they are known; NULL: all */
};

static bool is_among(const char *key, const char *const *keys)
{
	while (*keys && strcmp(*keys, key)) {
		keys++;
	}
	return *keys;
}

/* Takes the value over. */
static void add_key(json_t *sample, const char *key, json_t *value, const struct extent *x)
{
	if (x->keys && (json_is_null(value) || !is_among(key, x->keys))) {
		json_decref(value);
	} else {
		json_object_set_new(sample, key, value);
	}
}

/* What has no column. */
static void add_rest(json_t *sample, json_t *more, const struct extent *x)
{
	const char *key;
	json_t *value;
	if (!x->keys) {
		json_object_update_missing(sample, more);
		return;
	}
	json_object_foreach(more, key, value)
	{
		if (!json_object_get(sample, key)) {
			add_key(sample, key, json_incref(value), x);
		}
	}
}

/* Numbers count in the order of measuring, also where a trial was measured again later. */
static json_t *sample_row(sqlite3_stmt *st, const struct extent *x)
{
	sqlite3_int64 number = sqlite3_column_int64(st, COLUMN_METRICS + (int)store_n_columns);
	json_t *o = json_object();
	auto_json json_t *more = column_json(st, COLUMN_MORE);
	json_object_set_new(o, "sample", json_integer(number));
	add_key(o, "time", column_time(st, COLUMN_TIME), x);
	json_object_set_new(o, "ok", json_boolean(sqlite3_column_int(st, COLUMN_OK)));
	add_key(o, "score", column_number(st, COLUMN_SCORE), x);
	for (size_t i = 0; i < store_n_columns; i++) {
		add_key(o, metric_name(store_columns[i]),
			column_number(st, COLUMN_METRICS + (int)i), x);
	}
	add_rest(o, more, x);
	return o;
}

static json_t *trial_row(sqlite3_stmt *st, int number)
{
	json_t *t = json_object();
	json_object_set_new(t, "trial", json_integer(number));
	json_object_set_new(t, "id", json_integer(sqlite3_column_int64(st, COLUMN_TRIAL)));
	json_object_set_new(t, "phase", json_text_or_null(column_text(st, COLUMN_PHASE)));
	json_object_set_new(t, "values", column_json(st, COLUMN_CONFIG));
	json_object_set_new(t, "asked", column_json(st, COLUMN_ASKED));
	json_object_set_new(t, "labels", column_json(st, COLUMN_LABELS));
	json_object_set_new(t, "samples", json_array());
	return t;
}

static int prepare_trials(struct store *s, const char *id, bool brief, sqlite3_stmt **st,
			  struct err *e)
{
	char sql[1024];
	snprintf(sql, sizeof(sql),
		 "SELECT t.id, t.phase, t.config, t.asked, p.id, p.time, p.ok, p.score, %s, %s",
		 brief ? "json_remove(p.more, '$.detail')" : "p.more",
		 store_has_tally(s) ? "t.labels" : "NULL");
	for (size_t i = 0; i < store_n_columns; i++) {
		snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), ", p.%s",
			 metric_name(store_columns[i]));
	}
	strcat(sql, ", ROW_NUMBER() OVER (ORDER BY p.id IS NULL, p.id)"
		    " FROM trial t LEFT JOIN sample p ON p.trial = t.id WHERE t.run = ?"
		    " ORDER BY t.id, p.id");
	int r = store_prepare(s, sql, st, e);
	if (!r) {
		sqlite3_bind_text(*st, 1, id, -1, SQLITE_STATIC);
	}
	return r;
}

static int read_trials(struct store *s, const char *id, const struct extent *x, json_t *trials,
		       struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = prepare_trials(s, id, x->brief, &st, e);
	if (rc) {
		return rc;
	}
	int n_trials = 0;
	sqlite3_int64 last = -1;
	json_t *trial = NULL;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (!trial || sqlite3_column_int64(st, COLUMN_TRIAL) != last) {
			last = sqlite3_column_int64(st, COLUMN_TRIAL);
			trial = trial_row(st, ++n_trials);
			json_array_append_new(trials, trial);
		}
		if (sqlite3_column_type(st, COLUMN_SAMPLE) != SQLITE_NULL) {
			json_array_append_new(json_object_get(trial, "samples"), sample_row(st, x));
		}
	}
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "read the trials", e);
}

static int get_run(struct store *s, const char *id, const struct extent *x, json_t **out,
		   struct err *e)
{
	char whole[64];
	auto_json json_t *run = json_object(), *trials = json_array();
	int r = store_find_run(s, id, whole, sizeof(whole), e);
	if (!r) {
		r = read_run(s, whole, run, e);
	}
	if (!r && !x->head) {
		r = read_trials(s, whole, x, trials, e);
		json_object_set(run, "trials", trials);
	}
	if (!r) {
		*out = take_ptr(run);
	}
	return r;
}

int store_get_run(struct store *s, const char *id, json_t **out, struct err *e)
{
	struct extent all = {0};
	return get_run(s, id, &all, out, e);
}

int store_get_run_head(struct store *s, const char *id, json_t **out, struct err *e)
{
	struct extent head = {.head = true};
	return get_run(s, id, &head, out, e);
}

int store_get_run_brief(struct store *s, const char *id, json_t **out, struct err *e)
{
	struct extent brief = {.brief = true};
	return get_run(s, id, &brief, out, e);
}

int store_get_run_keys(struct store *s, const char *id, const char *const *keys, json_t **out,
		       struct err *e)
{
	struct extent few = {.brief = true, .keys = keys};
	return get_run(s, id, &few, out, e);
}

int store_get_detail(struct store *s, const char *id, int64_t sample, json_t **out, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	/* The same order as the numbers of store_get_run. */
	int rc = store_prepare(s,
			       "SELECT json_extract(p.more, '$.detail') FROM sample p WHERE p.id = "
			       "(SELECT p.id FROM trial t JOIN sample p ON p.trial = t.id"
			       " WHERE t.run = ? ORDER BY p.id LIMIT 1 OFFSET ?)",
			       &st, e);
	if (rc) {
		return rc;
	}
	sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 2, sample - 1);
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		return store_error(s, rc, "read a sample", e);
	}
	*out = rc == SQLITE_ROW ? column_json(st, 0) : json_null();
	return 0;
}

int store_each_detail(struct store *s, const char *id, const char *key,
		      void (*see)(void *ctx, const json_t *part), void *ctx, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = store_prepare(s,
			       "SELECT json_extract(p.more, '$.detail.' || ?2) AS part FROM trial t"
			       " JOIN sample p ON p.trial = t.id"
			       " WHERE t.run = ?1 AND part IS NOT NULL ORDER BY t.id, p.id",
			       &st, e);
	if (rc) {
		return rc;
	}
	sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		auto_json json_t *part = column_json(st, 0);
		see(ctx, part);
	}
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "read the samples", e);
}
