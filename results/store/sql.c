/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SQLite's calls with its errors as sentences. Used by the other files of the store; knows no
 * table.
 */
#include "store_private.h"
#include <errno.h>
#include <string.h>

static int errno_of(struct store *s, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return s->db && sqlite3_system_errno(s->db) ? -sqlite3_system_errno(s->db) : -EIO;
	}
}

int store_error(struct store *s, int rc, const char *what, struct err *e)
{
	int code = errno_of(s, rc);
	if (code == -EBADMSG) {
		return err_set(e, code,
			       "the store %s is damaged (%s); it was not touched: move it away, or "
			       "recover it with sqlite3's .recover",
			       s->path, sqlite3_errstr(rc & 0xff));
	}
	const char *why = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);
	if ((rc & 0xff) == SQLITE_IOERR && code != -EIO) {
		why = strerror(-code); /* says more than "disk I/O error" */
	}
	return err_set(e, code, "the store %s: cannot %s: %s", s->path, what, why);
}

int store_exec(struct store *s, const char *sql, const char *what, struct err *e)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	return rc ? store_error(s, rc, what, e) : 0;
}

int store_prepare(struct store *s, const char *sql, sqlite3_stmt **out, struct err *e)
{
	int rc = sqlite3_prepare_v2(s->db, sql, -1, out, NULL);
	return rc ? store_error(s, rc, "read its tables", e) : 0;
}
