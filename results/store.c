/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store's file: found, refused if it is another's or damaged, made, opened, closed; and how
 * SQLite's errors become sentences. What goes in is store/write.c's, what comes out
 * store/query.c's.
 */
#include "cleanup.h"
#include "store_private.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

/* Looked through whole on opening for writing, up to this size: some tens of milliseconds. */
#define CHECKED_MAX  (64 << 20)
#define BUSY_MS	     5000 /* another writer is waited for */
#define BUSY_STEP_MS 20
#define CACHE	     "PRAGMA cache_size = -1000" /* KiB: a writer adds at the ends of its tables */

int store_default_path(char *buf, size_t size, struct err *e)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;
	if (state && state[0] == '/') { /* the specification has relative ones ignored */
		n = snprintf(buf, size, "%s/tunesweep/results.db", state);
	} else if (!geteuid()) {
		n = snprintf(buf, size, "/var/lib/tunesweep/results.db");
	} else if (home && home[0] == '/') {
		n = snprintf(buf, size, "%s/.local/state/tunesweep/results.db", home);
	} else {
		return err_set(e, -ENOENT,
			       "no place for the store: neither XDG_STATE_HOME nor HOME is set; "
			       "give one with --store");
	}
	return n < 0 || (size_t)n >= size
		       ? err_set(e, -ENAMETOOLONG, "the path of the store is too long")
		       : 0;
}

static int make_folders(const char *path, struct err *e)
{
	auto_free char *p = strdup(path);
	if (!p) {
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	}
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(p, 0755) && errno != EEXIST && access(p, F_OK)) {
			return err_set(e, -errno, "cannot make the folder %s: %s", p,
				       strerror(errno));
		}
		*slash = '/';
	}
	return 0;
}

/* What stands at path, by its first bytes, read without SQLite so that nothing can be changed.
 * 1: ours; 0: nothing or an empty file; < 0: refused. */
static int look(const char *path, struct err *e)
{
	unsigned char head[72];
	struct stat st;
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return errno == ENOENT ? 0
				       : err_set(e, -errno, "cannot read the store %s: %s", path,
						 strerror(errno));
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		return err_set(e, -EINVAL, "the store %s is not a file", path);
	}
	if (st.st_size == 0) {
		return 0;
	}
	ssize_t n = read(fd, head, sizeof(head));
	if (n != sizeof(head) || memcmp(head, "SQLite format 3", 16)) {
		return err_set(e, -EBADMSG,
			       "%s is not a store of tunesweep, or damaged; it was not touched",
			       path);
	}
	uint32_t id = (uint32_t)head[68] << 24 | head[69] << 16 | head[70] << 8 | head[71];
	return id == STORE_APPLICATION_ID
		       ? 1
		       : err_set(e, -EBADMSG,
				 "%s is another program's database, not a store of tunesweep; it "
				 "was not touched",
				 path);
}

/* WAL wants shared memory among all who have the file open. */
static bool on_network(const char *path)
{
	static const long types[] = {
		NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,	   CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
		AFS_SUPER_MAGIC,  CEPH_SUPER_MAGIC,	   V9FS_MAGIC,	     FUSE_SUPER_MAGIC,
		CODA_SUPER_MAGIC, 0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */};
	struct statfs fs;
	if (statfs(path, &fs)) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if ((unsigned int)fs.f_type == (unsigned int)types[i]) {
			return true;
		}
	}
	return false;
}

static bool on_read_only(const char *path)
{
	struct statvfs fs;
	return !statvfs(path, &fs) && (fs.f_flag & ST_RDONLY);
}

/* As a URI, in which the path's own ? and % mean nothing. To be freed with sqlite3_free. */
static char *immutable_uri(const char *path)
{
	sqlite3_str *uri = sqlite3_str_new(NULL);
	auto_free char *whole = realpath(path, NULL);
	sqlite3_str_appendall(uri, "file:");
	for (const char *c = whole ? whole : path; *c; c++) {
		sqlite3_str_appendf(uri, strchr("%?#", *c) ? "%%%02X" : "%c", (unsigned char)*c);
	}
	sqlite3_str_appendall(uri, "?immutable=1");
	return sqlite3_str_finish(uri);
}

/* Opens, and reads the schema: only then does SQLite look at the file. */
static int connect_file(struct store *s, bool immutable)
{
	int flags = s->write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	char *uri = immutable ? immutable_uri(s->path) : NULL;
	int rc = immutable ? sqlite3_open_v2(uri, &s->db, flags | SQLITE_OPEN_URI, NULL)
			   : sqlite3_open_v2(s->path, &s->db, flags, NULL);
	sqlite3_free(uri);
	if (!rc) {
		/* Until the file is accepted, nothing of its log is copied into it. */
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		sqlite3_busy_timeout(s->db, BUSY_MS);
		rc = sqlite3_exec(s->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	}
	return rc;
}

/* What was committed may still stand in the log beside the file, which an immutable file has not.
 */
static bool has_log(const struct store *s)
{
	auto_free char *log = NULL;
	struct stat st;
	if (asprintf(&log, "%s-wal", s->path) < 0) {
		log = NULL;
		return true;
	}
	return !stat(log, &st) && st.st_size > 0;
}

/* Where only reading is wanted and the folder is not ours to write, WAL's shared memory cannot be
 * made; the file can still be read as it is if there is no log beside it. */
static bool immutable_helps(const struct store *s, int rc)
{
	bool refused = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY;
	return refused && !s->write && !has_log(s);
}

static int connect_store(struct store *s, struct err *e)
{
	if (s->write && on_read_only(s->path)) {
		return err_set(e, -EROFS, "the store %s is on a read-only file system", s->path);
	}
	if (s->write && access(s->path, W_OK)) {
		return err_set(e, -errno, "cannot write the store %s: %s", s->path,
			       strerror(errno));
	}
	int rc = connect_file(s, on_read_only(s->path) && !has_log(s));
	if (rc && immutable_helps(s, rc)) {
		sqlite3_close(s->db);
		s->db = NULL;
		rc = connect_file(s, true);
	}
	if ((rc & 0xff) == SQLITE_CANTOPEN && on_read_only(s->path) && has_log(s)) {
		return err_set(e, -EROFS,
			       "the store %s is on read-only media with a log beside it (%s-wal) "
			       "that is not merged yet: open it once where it can be written",
			       s->path, s->path);
	}
	return rc ? store_error(s, rc, "open it", e) : 0;
}

static int check_whole(struct store *s, struct err *e)
{
	struct stat st;
	if (!s->write || stat(s->path, &st) || st.st_size > CHECKED_MAX) {
		return 0;
	}
	auto_stmt sqlite3_stmt *check = NULL;
	int r = store_prepare(s, "PRAGMA quick_check(1)", &check, e);
	if (r) {
		return r;
	}
	int rc = sqlite3_step(check);
	if (rc == SQLITE_ROW) {
		const char *found = (const char *)sqlite3_column_text(check, 0);
		rc = found && !strcmp(found, "ok") ? SQLITE_OK : SQLITE_CORRUPT;
	}
	return rc ? store_error(s, rc, "check it", e) : 0;
}

/* WAL where it is safe: readers do not wait for the writer, and a sample costs no fsync; a killed
 * process loses nothing that was committed. Elsewhere the rollback journal, synced. */
static int set_up(struct store *s, struct err *e)
{
	if (!s->write) {
		return 0;
	}
	bool wal = !on_network(s->path);
	auto_stmt sqlite3_stmt *mode = NULL;
	int r = store_prepare(s, wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE",
			      &mode, e);
	if (r) {
		return r;
	}
	/* A change of mode does not wait for other writers by itself: SQLite would rather fail than
	 * have two that change it wait for each other. */
	int rc = sqlite3_step(mode);
	for (int waited = 0; (rc & 0xff) == SQLITE_BUSY && waited < BUSY_MS;
	     waited += BUSY_STEP_MS) {
		sqlite3_reset(mode);
		sqlite3_sleep(BUSY_STEP_MS);
		rc = sqlite3_step(mode);
	}
	if (rc != SQLITE_ROW) {
		return store_error(s, rc, "choose its journal", e);
	}
	/* SQLite answers with the mode that it has, which is not always the one that was asked. */
	wal = !strcmp((const char *)sqlite3_column_text(mode, 0), "wal");
	r = store_exec(s, wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL",
		       "set it up", e);
	r = r ? r : store_exec(s, CACHE, "set it up", e);
	return r ? r : store_exec(s, "PRAGMA foreign_keys = ON", "set it up", e);
}

static int open_at(struct store *s, struct err *e)
{
	int there = look(s->path, e);
	if (there < 0) {
		return there;
	}
	if (!there && !s->write) {
		return err_set(e, -ENOENT, "there are no results yet: %s %s", s->path,
			       access(s->path, F_OK) ? "does not exist" : "is empty");
	}
	int r = there ? 0 : make_folders(s->path, e);
	if (!r && !there) {
		r = store_schema_create(s->path, e);
	}
	if (!r) {
		r = connect_store(s, e);
	}
	if (!r) {
		r = check_whole(s, e);
	}
	if (!r) {
		r = store_schema_migrate(s, e);
	}
	if (!r) {
		r = set_up(s, e);
	}
	if (!r) {
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	}
	return r;
}

int store_open(const char *path, bool write, struct store **out, struct err *e)
{
	struct store *s = calloc(1, sizeof(*s));
	*out = NULL;
	/* "./": no name means anything special to SQLite then (":memory:"). */
	if (!s || asprintf(&s->path, "%s%s", path[0] == '/' ? "" : "./", path) < 0) {
		free(s);
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	}
	s->write = write;
	int r = open_at(s, e);
	if (r) {
		store_close(s);
		return r;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (s) {
		sqlite3_close(s->db);
		free(s->path);
		free(s);
	}
}
