/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Old runs leave the store, by age and by size; what somebody still builds on stays. Called by the
 * nightly command, only where its configuration asks for it.
 */
#include "cleanup.h"
#include "store_private.h"
#include <errno.h>

/* The file's size without what is free inside it. */
static int used_bytes(struct store *s, int64_t *bytes, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = store_prepare(s,
			       "SELECT (page_count - freelist_count) * page_size FROM "
			       "pragma_page_count, pragma_freelist_count, pragma_page_size",
			       &st, e);
	if (rc) {
		return rc;
	}
	int step = sqlite3_step(st);
	*bytes = step == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	return step == SQLITE_ROW ? 0 : store_error(s, step, "read its size", e);
}

static int delete_run(struct store *s, const char *run, struct err *e)
{
	static const char *const rows[] = {
		"DELETE FROM sample WHERE trial IN (SELECT id FROM trial WHERE run = ?1)",
		"DELETE FROM trial WHERE run = ?1",
		"DELETE FROM tally WHERE run = ?1",
		"DELETE FROM run WHERE id = ?1",
	};
	int rc = store_begin(s, e);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(rows); i++) {
		auto_stmt sqlite3_stmt *st = NULL;
		rc = store_prepare(s, rows[i], &st, e);
		if (rc == 0) {
			sqlite3_bind_text(st, 1, run, -1, SQLITE_STATIC);
			int step = sqlite3_step(st);
			rc = step == SQLITE_DONE ? 0 : store_error(s, step, "delete a run", e);
		}
	}
	if (rc == 0) {
		return store_commit(s, e);
	}
	store_abandon(s);
	return rc;
}

/* [[id, started], ...] from the oldest on; unfinished ones are somebody's, who may be at work. */
static int list_oldest(struct store *s, json_t **out, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int rc = store_prepare(s,
			       "SELECT id, started FROM run WHERE status <> 'unfinished' ORDER BY "
			       "started",
			       &st, e);
	*out = json_array();
	int step = SQLITE_DONE;
	while (rc == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
		json_array_append_new(*out,
				      json_pack("[s, f]", (const char *)sqlite3_column_text(st, 0),
						sqlite3_column_double(st, 1)));
	}
	return rc || step == SQLITE_DONE ? rc : store_error(s, step, "list its runs", e);
}

int store_prune(struct store *s, double before, int64_t max_bytes, const json_t *kept, int *removed,
		struct err *e)
{
	auto_json json_t *runs = NULL;
	json_t *run;
	size_t i;
	*removed = 0;
	int rc = list_oldest(s, &runs, e);
	json_array_foreach(runs, i, run)
	{
		const char *id = json_string_value(json_array_get(run, 0));
		bool old = json_number_value(json_array_get(run, 1)) < before;
		int64_t bytes = 0;
		if (rc == 0 && !old && max_bytes > 0) {
			rc = used_bytes(s, &bytes, e);
		}
		if (rc < 0 || (!old && bytes <= max_bytes)) {
			break;
		}
		if (!json_object_get(kept, id)) {
			rc = delete_run(s, id, e);
			*removed += rc == 0;
		}
	}
	return rc == 0 && *removed ? store_exec(s, "VACUUM", "give room back", e) : rc;
}
