/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What goes into the store: a run, its trials, their samples, its end. Each call is one committed
 * transaction. Called by the loop of a sweep.
 */
#include "cleanup.h"
#include "json_util.h"
#include "store_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_id(char *id, size_t size, double at)
{
	time_t t = (time_t)at;
	struct tm tm;
	unsigned short random = 0;
	char date[24];
	gmtime_r(&t, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
		random = (unsigned short)(fmod(at, 1) * 65536);
	}
	snprintf(id, size, "%s-%04x", date, random);
}

/* NULL for NULL. */
static void bind_json(sqlite3_stmt *st, int at, const json_t *j)
{
	char *text = j ? json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
	free(text);
}

/* SQLite would store NaN as NULL by itself, and infinity as a number that nobody can read back. */
static void bind_number(sqlite3_stmt *st, int at, double x)
{
	if (isfinite(x)) {
		sqlite3_bind_double(st, at, x);
	} else {
		sqlite3_bind_null(st, at);
	}
}

static int insert_run(struct store *s, struct store_run *r, double at, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = store_prepare(s,
			       "INSERT INTO run (id, name, started, seed, spec, spec_sha256, "
			       "program, hosts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			       &st, e);
	if (rc) {
		return rc;
	}
	make_id(r->id, sizeof(r->id), at);
	sqlite3_bind_text(st, 1, r->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, r->name ? r->name : "", -1, SQLITE_STATIC);
	sqlite3_bind_double(st, 3, at);
	sqlite3_bind_int64(st, 4, (sqlite3_int64)r->seed);
	sqlite3_bind_text(st, 5, r->spec ? r->spec : "", -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 6, r->spec_sha ? r->spec_sha : "", -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 7, TUNESWEEP_VERSION, -1, SQLITE_STATIC);
	bind_json(st, 8, r->hosts);
	rc = sqlite3_step(st);
	if ((rc & 0xff) == SQLITE_CONSTRAINT) {
		return -EEXIST; /* the id is taken: the caller makes another */
	}
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "write the run", e);
}

int store_begin_run(struct store *s, struct store_run *r, struct err *e)
{
	double at = now();
	for (int attempt = 0; attempt < 16; attempt++) {
		int rc = insert_run(s, r, at, e);
		if (rc != -EEXIST) {
			return rc;
		}
	}
	return err_set(e, -EEXIST, "the store %s: no free name for the run", s->path);
}

int store_end_run(struct store *s, const char *run, const char *status, const json_t *result,
		  struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int r = store_prepare(s, "UPDATE run SET ended = ?, status = ?, result = ? WHERE id = ?",
			      &st, e);
	if (r) {
		return r;
	}
	sqlite3_bind_double(st, 1, now());
	sqlite3_bind_text(st, 2, status, -1, SQLITE_STATIC);
	bind_json(st, 3, result);
	sqlite3_bind_text(st, 4, run, -1, SQLITE_STATIC);
	int rc = sqlite3_step(st);
	if (rc != SQLITE_DONE) {
		return store_error(s, rc, "write the run's end", e);
	}
	return sqlite3_changes(s->db)
		       ? 0
		       : err_set(e, -ENOENT, "the store %s has no run %s", s->path, run);
}

static int insert_trial(struct store *s, const char *run, const char *phase, const json_t *values,
			const json_t *asked, const json_t *labels, int64_t *trial, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int r = store_prepare(
		s, "INSERT INTO trial (run, phase, config, asked, labels) VALUES (?, ?, ?, ?, ?)",
		&st, e);
	if (r) {
		return r;
	}
	auto_json json_t *none = values ? NULL : json_object();
	sqlite3_bind_text(st, 1, run, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, phase, -1, SQLITE_STATIC);
	bind_json(st, 3, values ? values : none);
	bind_json(st, 4, asked);
	bind_json(st, 5, labels);
	int rc = sqlite3_step(st);
	if (rc != SQLITE_DONE) {
		return store_error(s, rc, "write the trial", e);
	}
	*trial = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_add_trial(struct store *s, const char *run, const char *phase, const json_t *values,
		    const json_t *asked, int64_t *trial, struct err *e)
{
	return insert_trial(s, run, phase, values, asked, NULL, trial, e);
}

int store_add_labelled_trial(struct store *s, const char *run, const char *phase,
			     const json_t *values, const json_t *labels, int64_t *trial,
			     struct err *e)
{
	return insert_trial(s, run, phase, values, NULL, labels, trial, e);
}

int store_begin(struct store *s, struct err *e)
{
	return store_exec(s, "BEGIN IMMEDIATE", "lock it", e);
}

int store_commit(struct store *s, struct err *e)
{
	return store_exec(s, "COMMIT", "keep what was written", e);
}

void store_abandon(struct store *s)
{
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* What has no column; the columns' keys are left out, so that no number is kept twice. */
static json_t *rest_of(const struct sample *sample)
{
	json_t *rest = sample_to_json(sample);
	json_object_del(rest, "ok");
	json_object_del(rest, metric_name(METRIC_SCORE));
	for (size_t i = 0; i < store_n_columns; i++) {
		json_object_del(rest, metric_name(store_columns[i]));
	}
	return rest;
}

int store_add_sample(struct store *s, int64_t trial, const struct sample *sample, double score,
		     struct err *e)
{
	char sql[512] = "INSERT INTO sample (trial, time, ok, more, score",
	     marks[128] = "?,?,?,?,?";
	for (size_t i = 0; i < store_n_columns; i++) {
		snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), ", %s",
			 metric_name(store_columns[i]));
		strcat(marks, ",?");
	}
	snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), ") VALUES (%s)", marks);

	auto_stmt sqlite3_stmt *st = NULL;
	int r = store_prepare(s, sql, &st, e);
	if (r) {
		return r;
	}
	auto_json json_t *rest = rest_of(sample);
	sqlite3_bind_int64(st, 1, trial);
	sqlite3_bind_double(st, 2, now());
	sqlite3_bind_int(st, 3, sample->ok);
	bind_json(st, 4, rest);
	bind_number(st, 5, score);
	for (size_t i = 0; i < store_n_columns; i++) {
		bind_number(st, 6 + (int)i, sample->m[store_columns[i]]);
	}
	int rc = sqlite3_step(st);
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "write the sample", e);
}
