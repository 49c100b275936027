/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of the store, and how an older file is brought up to date: migrations[v] leads from
 * user_version v to v + 1, each in one transaction. Called when a store is opened.
 */
#include "cleanup.h"
#include "store_private.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *const migrations[] = {
	"CREATE TABLE run ("
	" id TEXT PRIMARY KEY NOT NULL,"
	" name TEXT NOT NULL,"
	" started REAL NOT NULL," /* seconds since 1970, UTC */
	" ended REAL,"
	" status TEXT NOT NULL DEFAULT 'unfinished',"
	" seed INTEGER NOT NULL,"
	" spec TEXT NOT NULL,"
	" spec_sha256 TEXT NOT NULL,"
	" program TEXT NOT NULL,"
	" hosts TEXT,"	 /* JSON: {name: fingerprint} */
	" result TEXT);" /* JSON: result.json */
	"CREATE INDEX run_started ON run (started);"
	"CREATE TABLE trial ("
	" id INTEGER PRIMARY KEY NOT NULL,"
	" run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	" phase TEXT NOT NULL,"
	" config TEXT NOT NULL," /* JSON: {key: effective value} */
	" asked TEXT);"		 /* JSON, where it differs */
	"CREATE INDEX trial_run ON trial (run);"
	"CREATE TABLE sample ("
	" id INTEGER PRIMARY KEY NOT NULL,"
	" trial INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,"
	" time REAL NOT NULL,"
	" ok INTEGER NOT NULL,"
	" score REAL,"
	" throughput REAL,"
	" service_demand REAL,"
	" service_demand_sender REAL,"
	" service_demand_receiver REAL,"
	" cpu_sender REAL,"
	" cpu_receiver REAL,"
	" retransmits_per_GB REAL,"
	" rtt REAL,"
	" seconds REAL,"
	" more TEXT NOT NULL);" /* JSON: what has no column */
	"CREATE INDEX sample_trial ON sample (trial);",

	/* Labels of imported results. What tables over many runs read, without the bulky rows: the
	 * numbers of a sample in an index that covers them, trials by phase, and a run's counts,
	 * kept by a trigger. Brings 1,000,000 samples under a second. */
	"ALTER TABLE trial ADD COLUMN labels TEXT;" /* JSON: {name: text or number} */
	"CREATE INDEX trial_phase ON trial (phase, run);"
	"DROP INDEX sample_trial;"
	"CREATE INDEX sample_trial ON sample (trial, ok, time, score, throughput, service_demand);"
	"CREATE TABLE tally ("
	" run TEXT PRIMARY KEY NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	" samples INTEGER NOT NULL,"
	" failed INTEGER NOT NULL) WITHOUT ROWID;"
	"INSERT INTO tally SELECT t.run, count(*), sum(NOT p.ok) FROM trial t"
	" JOIN sample p ON p.trial = t.id GROUP BY t.run;"
	"CREATE TRIGGER sample_counted AFTER INSERT ON sample BEGIN"
	" INSERT INTO tally SELECT run, 1, NOT new.ok FROM trial WHERE id = new.trial"
	" ON CONFLICT (run) DO UPDATE SET samples = samples + 1,"
	" failed = failed + excluded.failed; END;",
};

enum { VERSION = sizeof(migrations) / sizeof(migrations[0]) };

const enum metric store_columns[] = {
	METRIC_THROUGHPUT,
	METRIC_SERVICE_DEMAND,
	METRIC_SERVICE_DEMAND_SENDER,
	METRIC_SERVICE_DEMAND_RECEIVER,
	METRIC_CPU_SENDER,
	METRIC_CPU_RECEIVER,
	METRIC_RETRANSMITS_PER_GB,
	METRIC_RTT,
	METRIC_SECONDS,
};
const size_t store_n_columns = ARRAY_SIZE(store_columns);

static int user_version(struct store *s, int *version, struct err *e)
{
	auto_stmt sqlite3_stmt *st = NULL;
	int r = store_prepare(s, "PRAGMA user_version", &st, e);
	if (r) {
		return r;
	}
	int rc = sqlite3_step(st);
	if (rc != SQLITE_ROW) {
		return store_error(s, rc, "read its version", e);
	}
	*version = sqlite3_column_int(st, 0);
	return 0;
}

static int migrate_one(struct store *s, int from, struct err *e)
{
	char set[64];
	snprintf(set, sizeof(set), "PRAGMA user_version = %d", from + 1);
	int r = store_exec(s, migrations[from], "make its tables", e);
	return r ? r : store_exec(s, set, "set its version", e);
}

int store_schema_migrate(struct store *s, struct err *e)
{
	int version, r = user_version(s, &version, e);
	if (r) {
		return r;
	}
	if (version > VERSION || version < 0) {
		return err_set(e, -EPROTO,
			       "%s was written by a newer tunesweep (format %d, this one knows %d)",
			       s->path, version, VERSION);
	}
	s->version = version;
	if (version == VERSION || !s->write) {
		return 0;
	}
	/* Another process may be doing the same: look again under the lock. */
	r = store_exec(s, "BEGIN IMMEDIATE", "lock it", e);
	if (r) {
		return r;
	}
	r = user_version(s, &version, e);
	while (!r && version < VERSION) {
		r = migrate_one(s, version++, e);
	}
	if (r) {
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return r;
	}
	s->version = version;
	return store_exec(s, "COMMIT", "bring it up to date", e);
}

bool store_has_tally(struct store *s)
{
	return s->version >= 2;
}

static int create_at(const char *temporary, const char *path, struct err *e)
{
	char id[64];
	struct store s = {.path = (char *)path, .write = true}; /* for its sentences */
	snprintf(id, sizeof(id), "PRAGMA application_id = %d", STORE_APPLICATION_ID);
	int rc = sqlite3_open_v2(temporary, &s.db, SQLITE_OPEN_READWRITE, NULL);
	int r = rc ? store_error(&s, rc, "make it", e) : store_exec(&s, id, "mark it", e);
	if (!r) {
		r = store_schema_migrate(&s, e);
	}
	sqlite3_close(s.db);
	return r;
}

/* link(2) never replaces what another process has made in the meantime. */
static int put_in_place(const char *temporary, const char *path, struct err *e)
{
	struct stat st;
	bool empty = !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size == 0;
	if (!empty && (!link(temporary, path) || errno == EEXIST)) {
		return 0;
	}
	bool no_links = errno == EPERM || errno == EOPNOTSUPP;
	if ((empty || no_links) && !rename(temporary, path)) {
		return 0;
	}
	return err_set(e, -errno, "cannot make the store %s: %s", path, strerror(errno));
}

int store_schema_create(const char *path, struct err *e)
{
	auto_free char *temporary = NULL;
	if (asprintf(&temporary, "%s.new.%d", path, getpid()) < 0) {
		temporary = NULL;
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	}
	unlink(temporary);
	auto_close int fd = open(temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		return err_set(e, -errno, "cannot make the store %s: %s", path, strerror(errno));
	}
	int r = create_at(temporary, path, e);
	if (!r) {
		r = put_in_place(temporary, path, e);
	}
	unlink(temporary);
	return r;
}
