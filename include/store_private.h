/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the store share among themselves: the handle, prepared statements with their
 * errors, the schema. Nobody else includes this.
 */
#ifndef TUNESWEEP_STORE_PRIVATE_H
#define TUNESWEEP_STORE_PRIVATE_H

#include "store.h"
#include <sqlite3.h>

#define STORE_APPLICATION_ID 0x74735731 /* "tsW1", in the file's header */

struct store {
	sqlite3 *db;
	char *path;
	bool write;
	int version; /* of its format, as it was found or made */
};

/* Metrics that have a column of their own; the others are in the column more (JSON). */
extern const enum metric store_columns[];
extern const size_t store_n_columns;

/* A new file beside path, complete, then put there; no harm if another process is faster. */
int store_schema_create(const char *path, struct err *e);
/* Refuses what is newer than this program; brings what is older up to date if s->write. */
int store_schema_migrate(struct store *s, struct err *e);

/* Format 2 or later: not so where an older store cannot be written and stays as it is. */
bool store_has_tally(struct store *s);

/* 0, or the errno for SQLite's last error with "PATH: cannot WHAT: reason". */
int store_error(struct store *s, int rc, const char *what, struct err *e);
int store_exec(struct store *s, const char *sql, const char *what, struct err *e);
int store_prepare(struct store *s, const char *sql, sqlite3_stmt **out, struct err *e);

static inline void cleanup_stmt(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}
#define auto_stmt __attribute__((cleanup(cleanup_stmt)))

#endif
