/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store's file: its modes and place, and that files which are not ours, or damaged, are refused
 * and left as they are. The content: test_store.c.
 */
#include "store_fixture.h"
#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

static void modes_and_folders(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = NULL;
	struct stat st;
	assert_int_equal(store_open(path, false, &s, &e), -ENOENT);
	assert_null(s);
	store_close(open_store(true));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	char log[160];
	s = open_store(true);
	struct store_run r = {.name = "x"};
	begin(s, &r);
	snprintf(log, sizeof(log), "%s-wal", path);
	assert_int_equal(stat(log, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	store_close(s);
}

static char *slurp(const char *name, size_t *n)
{
	auto_fclose FILE *f = fopen(name, "rb");
	assert_non_null(f);
	char *buf = malloc(1 << 20);
	*n = fread(buf, 1, 1 << 20, f);
	return buf;
}

static void spill(const char *name, const void *data, size_t n)
{
	auto_fclose FILE *f = fopen(name, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
}

/* Opening must fail in both ways, and leave every byte as it was. */
static void assert_refused(void)
{
	for (int write = 0; write < 2; write++) {
		struct err e = {0};
		struct store *s = NULL;
		size_t n, after;
		auto_free char *before = slurp(path, &n);
		int r = store_open(path, write, &s, &e);
		if (!r && !write) { /* damage that only a thorough look finds */
			store_close(s);
			continue;
		}
		assert_true(r < 0);
		assert_null(s);
		assert_non_null(strstr(e.text, "not touched"));
		auto_free char *now = slurp(path, &after);
		assert_int_equal(n, after);
		assert_memory_equal(before, now, n);
	}
}

static void foreign_files_are_refused(void **state)
{
	(void)state;
	sqlite3 *db;
	snprintf(path, sizeof(path), "%s/foreign.db", folder);
	spill(path, "hello, I am a text file", 23);
	assert_refused();
	char zeros[5000] = {0};
	spill(path, zeros, sizeof(zeros));
	assert_refused();
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE run (id)", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_refused();
	struct err e = {0};
	struct store *s = NULL;
	assert_true(store_open(folder, true, &s, &e) < 0);
	assert_true(store_open("/dev/null", true, &s, &e) < 0);
	assert_true(store_open("/proc/nowhere/results.db", true, &s, &e) < 0);
	assert_null(s);
}

static void damaged_files_are_refused(void **state)
{
	(void)state;
	struct store *s = open_store(true);
	struct store_run r = {.name = "x"};
	int64_t trial = begin(s, &r);
	for (int i = 0; i < 50; i++) {
		add(s, trial, i);
	}
	store_close(s);
	size_t n;
	auto_free char *whole = slurp(path, &n);
	assert_true(n > 8192);
	spill(path, whole, 50);
	assert_refused();
	spill(path, whole, n / 2);
	assert_refused();
	auto_free char *bad = malloc(n);
	memcpy(bad, whole, n);
	memset(bad + 100, 0x55, 1000); /* the schema's page */
	spill(path, bad, n);
	assert_refused();
	memcpy(bad, whole, n);
	memset(bad + 4096 + 8, 0xa5, n - 4096 - 8);
	spill(path, bad, n);
	assert_refused();
	spill(path, whole, n);
	store_close(open_store(true));
}

static void newer_format_is_refused(void **state)
{
	(void)state;
	sqlite3 *db;
	store_close(open_store(true));
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	struct err e = {0};
	struct store *s = NULL;
	assert_int_equal(store_open(path, true, &s, &e), -EPROTO);
	assert_non_null(strstr(e.text, "newer"));
}

static void empty_file_becomes_a_store(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/with ? # and %% in its name", folder);
	spill(path, "", 0);
	store_close(open_store(true));
	store_close(open_store(false));
}

/* A folder that is not ours to write, as on read-only media; root may write everywhere. */
static void reads_without_writing(void **state)
{
	(void)state;
	struct store *s = open_store(true);
	struct store_run r = {.name = "x"};
	add(s, begin(s, &r), 1);
	store_close(s);
	char dir[128];
	snprintf(dir, sizeof(dir), "%s/state/deeper", folder);
	assert_int_equal(chmod(dir, 0500), 0);
	s = open_store(false);
	auto_json json_t *run = get(s, "latest");
	assert_non_null(first_sample(run));
	store_close(s);
	assert_int_equal(chmod(dir, 0700), 0);
}

static void default_path(void **state)
{
	(void)state;
	char buf[256], tiny[8];
	struct err e = {0};
	setenv("XDG_STATE_HOME", "/somewhere", 1);
	assert_int_equal(store_default_path(buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "/somewhere/tunesweep/results.db");
	assert_true(store_default_path(tiny, sizeof(tiny), &e) < 0);
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/home/u", 1);
	assert_int_equal(store_default_path(buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, geteuid() ? "/home/u/.local/state/tunesweep/results.db"
					   : "/var/lib/tunesweep/results.db");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(modes_and_folders),	       IN_FOLDER(foreign_files_are_refused),
		IN_FOLDER(damaged_files_are_refused),  IN_FOLDER(newer_format_is_refused),
		IN_FOLDER(empty_file_becomes_a_store), IN_FOLDER(reads_without_writing),
		cmocka_unit_test(default_path),
	};
	return cmocka_run_group_tests_name("store_file", tests, NULL, NULL);
}
