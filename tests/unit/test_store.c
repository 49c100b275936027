/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store: what goes in comes out to the last bit, what is committed survives a kill, and files
 * that are not ours are refused and left as they are. Runs in a temporary folder.
 */
#include "cleanup.h"
#include "json_util.h"
#include "store.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tunesweep-test-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	snprintf(path, sizeof(path), "%s/state/deeper/results.db", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static struct store *open_store(bool write)
{
	struct err e = {0};
	struct store *s = NULL;
	int r = store_open(path, write, &s, &e);
	if (r) {
		fail_msg("store_open: %d %s", r, e.text);
	}
	return s;
}

static int64_t begin(struct store *s, struct store_run *r)
{
	struct err e = {0};
	int64_t trial = 0;
	auto_json json_t *values = json_pack("{s:i, s:s}", "net.ipv4.tcp_rmem.max@receiver",
					     6291456, "net.ipv4.tcp_congestion_control@sender",
					     "bbr");
	assert_int_equal(store_begin_run(s, r, &e), 0);
	assert_int_equal(store_add_trial(s, r->id, "search", values, NULL, &trial, &e), 0);
	return trial;
}

static void add(struct store *s, int64_t trial, double throughput)
{
	struct err e = {0};
	struct sample m;
	sample_init(&m);
	m.ok = true;
	m.m[METRIC_THROUGHPUT] = throughput;
	m.m[METRIC_SERVICE_DEMAND] = 0.1 + 0.2; /* not 0.3 */
	m.m[METRIC_CWND] = 1e6 / 3;
	strcpy(m.limited_by, "send buffer");
	m.detail = json_pack("{s:[i,i]}", "intervals", 1, 2);
	assert_int_equal(store_add_sample(s, trial, &m, throughput / 3, &e), 0);
	sample_clear(&m);
}

static json_t *get(struct store *s, const char *id)
{
	struct err e = {0};
	json_t *run = NULL;
	if (store_get_run(s, id, &run, &e)) {
		fail_msg("store_get_run: %s", e.text);
	}
	return run;
}

static const json_t *first_sample(const json_t *run)
{
	const json_t *trial = json_array_get(json_object_get(run, "trials"), 0);
	return json_array_get(json_object_get(trial, "samples"), 0);
}

static void comes_out_as_it_went_in(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	auto_json json_t *hosts = json_pack("{s:{s:s}}", "sender", "kernel", "6.1.0");
	struct store_run r = {.name = "it's \"a\" name; DROP TABLE run",
			      .spec = "tunesweep: 1\n",
			      .spec_sha = "abc",
			      .seed = UINT64_MAX,
			      .hosts = hosts};
	int64_t trial = begin(s, &r);
	add(s, trial, 2.1e9 + 1.0 / 3);
	auto_json json_t *result = json_pack("{s:{s:f,s:b}, s:{s:f}}", "gain", "percent", 12.5,
					     "significant", 1, "best", "throughput", 2e9);
	assert_int_equal(store_end_run(s, r.id, "complete", result, &e), 0);
	store_close(s);

	s = open_store(false);
	auto_json json_t *run = get(s, "latest");
	assert_string_equal(json_get_text(run, "name", ""), r.name);
	assert_string_equal(json_get_text(run, "status", ""), "complete");
	assert_true((uint64_t)json_integer_value(json_object_get(run, "seed")) == UINT64_MAX);
	assert_true(json_equal(json_object_get(run, "hosts"), hosts));
	assert_true(json_equal(json_object_get(run, "result"), result));
	const json_t *m = first_sample(run);
	assert_true(json_get_number(m, "throughput") == 2.1e9 + 1.0 / 3);
	assert_true(json_get_number(m, "service_demand") == 0.1 + 0.2);
	assert_true(json_get_number(m, "cwnd") == 1e6 / 3);
	assert_true(json_get_number(m, "score") == (2.1e9 + 1.0 / 3) / 3);
	assert_true(json_is_null(json_object_get(m, "rtt")));
	assert_true(json_is_true(json_object_get(m, "ok")));
	assert_string_equal(json_get_text(m, "limited_by", ""), "send buffer");
	assert_true(json_is_object(json_object_get(m, "detail")));

	auto_json json_t *list = NULL;
	assert_int_equal(store_list_runs(s, &list, &e), 0);
	assert_int_equal(json_array_size(list), 1);
	assert_true(json_get_number(json_object_get(json_array_get(list, 0), "gain"), "percent") ==
		    12.5);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "samples")),
			 1);
	store_close(s);
}

static void failed_and_own_metrics(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	struct store_run r = {.name = "x"};
	int64_t trial = begin(s, &r);
	struct sample m;
	sample_init(&m);
	sample_fail(&m, "exit status 3: \xff\xfe");
	m.m[METRIC_THROUGHPUT] = INFINITY;
	m.n_extra = 1;
	strcpy(m.extra[0].name, "own");
	m.extra[0].value = 0.25;
	assert_int_equal(store_add_sample(s, trial, &m, NAN, &e), 0);
	auto_json json_t *run = get(s, r.id);
	const json_t *o = first_sample(run);
	assert_true(json_is_false(json_object_get(o, "ok")));
	assert_true(json_is_null(json_object_get(o, "score")));
	assert_true(json_is_null(json_object_get(o, "throughput")));
	assert_non_null(strstr(json_get_text(o, "reason", ""), "exit status 3: \xef\xbf\xbd"));
	assert_true(json_get_number(json_object_get(o, "extra"), "own") == 0.25);
	store_close(s);
}

static void runs_by_beginning(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	struct store_run a = {.name = "a"}, b = {.name = "b"};
	json_t *run = NULL;
	assert_true(store_get_run(s, "latest", &run, &e) < 0);
	begin(s, &a);
	begin(s, &b);
	assert_string_not_equal(a.id, b.id);
	run = get(s, a.id);
	assert_string_equal(json_get_text(run, "name", ""), "a");
	assert_string_equal(json_get_text(run, "status", ""), "unfinished");
	json_decref(run);
	run = NULL;
	assert_true(store_get_run(s, "2", &run, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "several"));
	assert_true(store_get_run(s, "nothing%", &run, &e) < 0);
	assert_null(run);
	run = get(s, "latest");
	assert_string_equal(json_get_text(run, "name", ""), "b");
	json_decref(run);
	assert_int_equal(store_end_run(s, "no-such-run", "failed", NULL, &e), -ENOENT);
	int64_t trial;
	assert_true(store_add_trial(s, "no-such-run", "search", NULL, NULL, &trial, &e) < 0);
	store_close(s);
}

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

static void survives_sigkill(void **state)
{
	(void)state;
	int told[2];
	store_close(open_store(true));
	assert_int_equal(pipe(told), 0);
	pid_t child = fork();
	if (child == 0) {
		struct store *s = open_store(true);
		struct store_run r = {.name = "killed"};
		int64_t trial = begin(s, &r);
		for (int i = 0;; i++) {
			add(s, trial, i);
			if (write(told[1], &i, sizeof(i)) < 0) {
				_exit(1);
			}
		}
	}
	close(told[1]);
	int i = -1, last = -1;
	while (last < 300 && read(told[0], &i, sizeof(i)) == sizeof(i)) {
		last = i;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (read(told[0], &i, sizeof(i)) == sizeof(i)) {
		last = i;
	}
	close(told[0]);
	assert_true(last >= 300);
	struct store *s = open_store(true);
	auto_json json_t *run = get(s, "latest");
	const json_t *trial = json_array_get(json_object_get(run, "trials"), 0);
	size_t n = json_array_size(json_object_get(trial, "samples"));
	assert_in_range(n, (size_t)last + 1, (size_t)last + 2);
	assert_string_equal(json_get_text(run, "status", ""), "unfinished");
	store_close(s);
}

static void many_writers_at_once(void **state)
{
	(void)state;
	enum { WRITERS = 4, EACH = 25 };
	pid_t children[WRITERS];
	for (int w = 0; w < WRITERS; w++) {
		children[w] = fork();
		if (children[w] == 0) { /* they also race for making the file */
			struct store *s = open_store(true);
			struct store_run r = {.name = "one of many"};
			int64_t trial = begin(s, &r);
			for (int i = 0; i < EACH; i++) {
				add(s, trial, i);
			}
			store_close(s);
			_exit(0);
		}
	}
	for (int w = 0; w < WRITERS; w++) {
		int status = -1;
		waitpid(children[w], &status, 0);
		assert_int_equal(status, 0);
	}
	struct err e = {0};
	struct store *s = open_store(false);
	auto_json json_t *list = NULL;
	assert_int_equal(store_list_runs(s, &list, &e), 0);
	assert_int_equal(json_array_size(list), WRITERS);
	for (size_t i = 0; i < WRITERS; i++) {
		assert_true(json_get_number(json_array_get(list, i), "samples") == EACH);
	}
	store_close(s);
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

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(comes_out_as_it_went_in),   IN_FOLDER(failed_and_own_metrics),
		IN_FOLDER(runs_by_beginning),	      IN_FOLDER(modes_and_folders),
		IN_FOLDER(foreign_files_are_refused), IN_FOLDER(damaged_files_are_refused),
		IN_FOLDER(newer_format_is_refused),   IN_FOLDER(empty_file_becomes_a_store),
		IN_FOLDER(reads_without_writing),     IN_FOLDER(survives_sigkill),
		IN_FOLDER(many_writers_at_once),      cmocka_unit_test(default_path),
	};
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
