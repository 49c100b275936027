/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store of the first format: brought up to date with all it holds, in one step or not at all; and
 * still readable where it cannot be written.
 */
#include "import.h"
#include "observation.h"
#include "store_fixture.h"
#include <sqlite3.h>
#include <sys/stat.h>

/* The first format, as it was written. */
static const char first_format[] =
	"PRAGMA application_id = 1953716017;"
	"CREATE TABLE run (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, started REAL NOT NULL,"
	" ended REAL, status TEXT NOT NULL DEFAULT 'unfinished', seed INTEGER NOT NULL,"
	" spec TEXT NOT NULL, spec_sha256 TEXT NOT NULL, program TEXT NOT NULL, hosts TEXT,"
	" result TEXT);"
	"CREATE INDEX run_started ON run (started);"
	"CREATE TABLE trial (id INTEGER PRIMARY KEY NOT NULL,"
	" run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE, phase TEXT NOT NULL,"
	" config TEXT NOT NULL, asked TEXT);"
	"CREATE INDEX trial_run ON trial (run);"
	"CREATE TABLE sample (id INTEGER PRIMARY KEY NOT NULL,"
	" trial INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE, time REAL NOT NULL,"
	" ok INTEGER NOT NULL, score REAL, throughput REAL, service_demand REAL,"
	" service_demand_sender REAL, service_demand_receiver REAL, cpu_sender REAL,"
	" cpu_receiver REAL, retransmits_per_GB REAL, rtt REAL, seconds REAL, more TEXT NOT NULL);"
	"CREATE INDEX sample_trial ON sample (trial);"
	"INSERT INTO run VALUES ('20260131-120000-ab12', 'old', 1, 2, 'complete', 1, '', '', '0.1',"
	" '{\"a\":{\"kernel\":\"6.1.0\"}}', NULL), ('20260131-120001-ab13', 'empty', 1, 2,"
	" 'failed', 1, '', '', '0.1', NULL, NULL);"
	"INSERT INTO trial VALUES (1, '20260131-120000-ab12', 'baseline', '{\"param.x\":1}', NULL),"
	" (2, '20260131-120000-ab12', 'search', '{\"param.x\":2}', NULL);"
	"INSERT INTO sample (trial, time, ok, throughput, more) VALUES (1, 1, 1, 100, '{}'),"
	" (1, 1, 0, NULL, '{}'), (2, 1, 1, 200, '{\"detail\":{\"a\":1}}');"
	"PRAGMA user_version = 1;";

static void make_old(void)
{
	sqlite3 *db;
	snprintf(path, sizeof(path), "%s/old.db", folder);
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, first_format, NULL, NULL, NULL), 0);
	sqlite3_close(db);
}

static int version_of(void)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &st, NULL), 0);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	int version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return version;
}

static void assert_whole(struct store *s, int samples)
{
	struct err e = {0};
	auto_json json_t *list = NULL;
	assert_int_equal(store_list_runs(s, &list, &e), 0);
	assert_int_equal(json_array_size(list), 2);
	size_t i;
	json_t *run;
	json_array_foreach(list, i, run)
	{
		bool old = !strcmp(json_get_text(run, "name", ""), "old");
		assert_true(json_get_number(run, "samples") == (old ? samples : 0));
		assert_true(json_get_number(run, "failed") == old);
	}
	auto_json json_t *whole = get(s, "20260131-120000-ab12");
	assert_int_equal(json_array_size(json_object_get(whole, "trials")), 2);
	assert_true(json_get_number(first_sample(whole), "throughput") == 100);
	struct observations o;
	struct observe_options which = {.which = OBSERVE_BASELINE};
	assert_int_equal(observations_read(s, &which, &o, &e), 0);
	assert_int_equal(o.n_sets, 1);
	assert_string_equal(json_get_text(o.set[0].labels, "kernel", ""), "6.1.0");
	observations_clear(&o);
}

static void is_brought_up_to_date(void **state)
{
	(void)state;
	struct err e = {0};
	make_old();
	struct store *s = open_store(true);
	assert_whole(s, 3);
	add(s, 2, 300); /* counted */
	assert_whole(s, 4);
	store_close(s);
	assert_int_equal(version_of(), 2);
	s = open_store(true); /* and not twice */
	assert_whole(s, 4);
	int64_t trial;
	auto_json json_t *labels = json_pack("{s:s}", "kernel", "6.2.0");
	assert_int_equal(store_add_labelled_trial(s, "20260131-120000-ab12", "import", NULL, labels,
						  &trial, &e),
			 0);
	store_close(s);
}

static void is_read_as_it_is(void **state)
{
	(void)state;
	make_old();
	struct store *s = open_store(false);
	assert_whole(s, 3);
	store_close(s);
	assert_int_equal(version_of(), 1);
}

static void details_are_read_apart(void **state)
{
	(void)state;
	struct err e = {0};
	make_old();
	struct store *s = open_store(true);
	auto_json json_t *brief = NULL, *detail = NULL, *none = NULL, *beyond = NULL, *head = NULL;
	assert_int_equal(store_get_run_brief(s, "20260131-120000-ab12", &brief, &e), 0);
	json_t *trial = json_array_get(json_object_get(brief, "trials"), 1);
	assert_null(
		json_object_get(json_array_get(json_object_get(trial, "samples"), 0), "detail"));
	assert_int_equal(store_get_detail(s, "20260131-120000-ab12", 3, &detail, &e), 0);
	assert_true(json_get_number(detail, "a") == 1);
	assert_int_equal(store_get_detail(s, "20260131-120000-ab12", 1, &none, &e), 0);
	assert_true(json_is_null(none));
	assert_int_equal(store_get_detail(s, "20260131-120000-ab12", 9, &beyond, &e), 0);
	assert_true(json_is_null(beyond));
	assert_int_equal(store_get_run_head(s, "20260131-120000-ab12", &head, &e), 0);
	assert_null(json_object_get(head, "trials"));
	json_object_del(brief, "trials");
	assert_true(json_equal(head, brief));
	store_close(s);
}

/* Half a step is no step: what is written between begin and an end that never comes is gone. */
static void all_or_nothing(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	struct store_run r = {.name = "x"};
	assert_int_equal(store_begin(s, &e), 0);
	add(s, begin(s, &r), 1);
	store_abandon(s);
	auto_json json_t *list = NULL;
	assert_int_equal(store_list_runs(s, &list, &e), 0);
	assert_int_equal(json_array_size(list), 0);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(is_brought_up_to_date),
		IN_FOLDER(is_read_as_it_is),
		IN_FOLDER(details_are_read_apart),
		IN_FOLDER(all_or_nothing),
	};
	return cmocka_run_group_tests_name("store_migrate", tests, NULL, NULL);
}
