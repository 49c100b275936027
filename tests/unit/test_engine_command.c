/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command engine against small shell programs: what counts as a sample and what does not, time
 * and size limits, programs that die, are late, or leave children behind.
 */
#include "command_fixture.h"

static void good(const char *script, const char *objective, enum metric m, double value)
{
	struct rig r;
	struct sample s;
	struct err e;
	rig_make(&r, script, "", objective);
	assert_int_equal(measure(&r, &s, &e), 1);
	if (!s.ok) {
		fail_msg("%s: %s", script, s.reason);
	}
	assert_true(s.m[m] == value);
	rig_clear(&r);
}

static void bad(const char *script, const char *objective, const char *part)
{
	struct rig r;
	struct sample s;
	struct err e;
	rig_make(&r, script, "", objective);
	assert_int_equal(measure(&r, &s, &e), 1);
	if (s.ok || !strstr(s.reason, part)) {
		fail_msg("%s: '%s' is not in '%s'", script, part, s.ok ? "(ok)" : s.reason);
	}
	rig_clear(&r);
}

#define OWN "objective: {minimize: my_cost}\n"

static void good_answers_are_taken(void **state)
{
	(void)state;
	good("echo \"{\\\"score\\\": 12.5}\"", "", METRIC_SCORE, 12.5);
	good("echo warming up; echo \"{}\"; echo \"{\\\"score\\\": -3}\"; echo; echo", SCORE,
	     METRIC_SCORE, -3);
	good("printf \"{\\\"score\\\": 7}\"", SCORE, METRIC_SCORE, 7); /* no newline */
	good("echo \"{\\\"throughput\\\": 1e9, \\\"service_demand\\\": 0.5, \\\"rtt\\\": null}\"",
	     "", METRIC_THROUGHPUT, 1e9);
	good("sleep 30 & echo \"{\\\"score\\\": 1}\"", SCORE, METRIC_SCORE, 1);
	good("head -c 70000 /dev/zero | tr \"\\0\" x; echo; echo \"{\\\"score\\\": 4}\"", SCORE,
	     METRIC_SCORE, 4); /* only the last line counts */
	good("printf \"\\0\\n\"; echo \"{\\\"score\\\": 6}\"", SCORE, METRIC_SCORE, 6);
	good("exec 0<&-; echo \"{\\\"score\\\": 2}\"", SCORE, METRIC_SCORE, 2);
}

static void own_metrics_are_kept(void **state)
{
	(void)state;
	struct rig r;
	struct sample s;
	struct err e;
	rig_make(&r,
		 "echo \"{\\\"a\\\":1,\\\"b\\\":2,\\\"c\\\":3,\\\"d\\\":4,\\\"e\\\":5,\\\"f\\\":6,"
		 "\\\"g\\\":7,\\\"h\\\":8,\\\"my_cost\\\":9,\\\"limited_by\\\":\\\"disk\\\"}\"",
		 "", OWN);
	assert_int_equal(measure(&r, &s, &e), 1);
	assert_true(s.ok && s.n_extra == SAMPLE_EXTRA_MAX);
	assert_true(sample_metric(&s, "my_cost") == 9); /* named, so not crowded out */
	assert_string_equal(s.limited_by, "disk");
	rig_clear(&r);
}

static void what_is_no_result_is_a_failed_sample(void **state)
{
	(void)state;
	bad("true", SCORE, "has written nothing");
	bad("echo 12.5", SCORE, "not a JSON object: 12.5");
	bad("echo \"{\\\"score\\\": 1}\"; echo done", SCORE, "not a JSON object: done");
	bad("echo \"{\\\"score\\\": \\\"12\\\"}\"", SCORE, "has no number for: score");
	bad("echo \"{\\\"score\\\": null}\"", SCORE, "has no number for: score");
	bad("echo \"{\\\"sc\\\": 1}\"", SCORE, "has no: score");
	bad("echo \"{\\\"score\\\": NaN}\"", SCORE, "not a JSON object");
	bad("echo \"{\\\"score\\\": 1e999}\"", SCORE, "not a JSON object");
	bad("echo \"{\\\"score\\\": 1, \\\"score\\\": 2}\"", SCORE, "not a JSON object");
	bad("echo \"{\\\"throughput\\\": 1e9}\"", "", "has no: service_demand");
	bad("echo \"{\\\"throughput\\\": 0, \\\"service_demand\\\": 1}\"", "", "cannot be");
	bad("echo \"{\\\"throughput\\\": 1, \\\"service_demand\\\": -1}\"", "", "cannot be");
	bad("echo \"{\\\"score\\\": 1, \\\"cpu_sender\\\": 55}\"", SCORE,
	    "a fraction of the host, 0 to 1");
	bad("echo \"{\\\"score\\\": 1, \\\"cpu_receiver\\\": 1.01}\"", SCORE,
	    "cpu_receiver is 1.01");
	bad("echo \"{\\\"score\\\": 1}\"", "objective: {maximize: score, require: [x <= 3]}\n",
	    "has no: x");
	bad("echo \"{\\\"error\\\": \\\"no such file\\\", \\\"score\\\": 1}\"", SCORE,
	    "reports an error: no such file");
	bad("echo \"{\\\"score\\\": 1}\"; exit 3", SCORE, "exit status 3");
	bad("kill -9 $$", SCORE, "signal 9");
	bad("exec /nonexistent/program", SCORE, "cannot be run (exit status 127)");
	bad("head -c 70000 /dev/zero | tr \"\\\\0\" x", SCORE, "longer than 64 KiB");
	bad("echo \"{\\\"score\\\": 1}\"; head -c 70000 /dev/zero", SCORE, "longer than 64 KiB");
	bad("printf \"\\0{\\\"score\\\": 1}\"", SCORE, "NUL byte");
	bad("printf \"{\\\"score\\\": 1}\\0 x\"", SCORE, "NUL byte");
	bad("yes | head -c 17000000", SCORE, "more than 16 MiB");
}

static void the_program_gets_its_parameters(void **state)
{
	(void)state;
	static const char want[] = "{\"params\":{\"size\":42,\"mode\":\"fast\",\"flag\":true,"
				   "\"rate\":0.75},\"sample\":1}";
	char path[] = "/tmp/tunesweep-test-XXXXXX", script[256], line[512] = "";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(script, sizeof(script),
		 "cat > %s; echo \"{\\\"score\\\": 1}\"; test \"$LC_ALL\" = C", path);
	good(script, SCORE, METRIC_SCORE, 1);
	assert_true(read(fd, line, sizeof(line) - 1) > 0);
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, want);
	close(fd);
	unlink(path);
}

static void a_late_program_is_ended_with_its_children(void **state)
{
	(void)state;
	struct rig r;
	struct sample s;
	struct err e;
	char path[] = "/tmp/tunesweep-test-XXXXXX", script[256], line[64] = "";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(script, sizeof(script), "sleep 60 & echo $! > %s; wait", path);
	rig_make(&r, script, "", SCORE);
	r.spec->test.timeout = 0.3;
	double before = seconds();
	assert_int_equal(measure(&r, &s, &e), 1);
	assert_true(!s.ok && strstr(s.reason, "not answered within 0.3 s"));
	assert_true(seconds() - before < 5);
	assert_true(read(fd, line, sizeof(line) - 1) > 0);
	pid_t child = (pid_t)atoi(line);
	assert_true(child > 1);
	for (int i = 0; kill(child, 0) == 0 && i < 500; i++) { /* until init has reaped it */
		char stat[64], state_of[256] = "";
		snprintf(stat, sizeof(stat), "/proc/%d/stat", child);
		auto_fclose FILE *f = fopen(stat, "re");
		if (f && fgets(state_of, sizeof(state_of), f) && strstr(state_of, ") Z ")) {
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = 10000000L}, NULL);
		assert_true(i < 499);
	}
	rig_clear(&r);
	close(fd);
	unlink(path);
}

static void stopping_in_the_middle_is_allowed(void **state)
{
	(void)state;
	static const char *const extras[] = {"", ", serve: true"};
	for (int i = 0; i < 2; i++) {
		struct rig r;
		struct sample s;
		struct err e;
		struct configuration c;
		int ms;
		rig_make(&r, "sleep 60", extras[i], SCORE);
		struct engine_run run = {.number = 1, .space = r.space, .config = &c};
		space_baseline(r.space, &c);
		engine_command.stop(r.engine);
		assert_int_equal(engine_command.start(r.engine, &run, &e), 0);
		sample_init(&s);
		assert_int_equal(engine_command.poll(r.engine, &s, &ms, &e), 0);
		assert_true(ms > 0);
		double before = seconds();
		engine_command.stop(r.engine);
		engine_command.stop(r.engine);
		rig_clear(&r); /* also with a sample under way */
		assert_true(seconds() - before < 5);
	}
}

static void a_program_that_is_not_there_is_said_at_once(void **state)
{
	(void)state;
	static const char *const programs[] = {"./no-such-bench", "no-such-bench-in-path"};
	for (int i = 0; i < 2; i++) {
		char text[512];
		struct spec *spec = NULL;
		struct err e;
		void *engine = NULL;
		snprintf(text, sizeof(text),
			 "tunesweep: 1\ntest: {engine: command, command: [%s]}\n"
			 "tunables: [{set: param.a, range: [1, 2]}]\n",
			 programs[i]);
		assert_int_equal(spec_parse("s.yaml", text, strlen(text), &spec, &e), 0);
		struct engine_env env = {.spec = spec};
		assert_true(engine_command.create(&env, &engine, &e) < 0);
		assert_int_equal(e.class, ERR_USAGE);
		assert_non_null(strstr(e.text, "s.yaml:2:7: the command"));
		spec_free(spec);
	}
}

static int count_fds(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++) {
		n += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
	}
	return n;
}

static void nothing_is_left_open(void **state)
{
	(void)state;
	struct rig r;
	struct sample s;
	struct err e;
	int before = count_fds();
	rig_make(&r, "echo \"{\\\"score\\\": 1}\"", "", SCORE);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(measure(&r, &s, &e), 1);
		assert_true(s.ok);
	}
	rig_clear(&r);
	assert_int_equal(count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_answers_are_taken),
		cmocka_unit_test(own_metrics_are_kept),
		cmocka_unit_test(what_is_no_result_is_a_failed_sample),
		cmocka_unit_test(the_program_gets_its_parameters),
		cmocka_unit_test(a_late_program_is_ended_with_its_children),
		cmocka_unit_test(stopping_in_the_middle_is_allowed),
		cmocka_unit_test(a_program_that_is_not_there_is_said_at_once),
		cmocka_unit_test(nothing_is_left_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
