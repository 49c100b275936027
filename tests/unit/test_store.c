/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store's content: what goes in comes out to the last bit, and what is committed survives a
 * kill and other writers. The file itself: test_store_file.c.
 */
#include "store_fixture.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(comes_out_as_it_went_in), IN_FOLDER(failed_and_own_metrics),
		IN_FOLDER(runs_by_beginning),	    IN_FOLDER(survives_sigkill),
		IN_FOLDER(many_writers_at_once),
	};
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
