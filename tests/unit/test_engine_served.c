/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command engine with programs that are started once and serve line by line: what they answer,
 * when they die, when they are late.
 */
#include "command_fixture.h"

static void a_served_program_answers_line_by_line(void **state)
{
	(void)state;
	struct rig r;
	struct sample s;
	struct err e;
	rig_make(&r,
		 "n=0; while read line; do n=$((n + 1)); echo \"{\\\"score\\\": $n}\"; "
		 "test $n != 2 || echo \"{\\\"score\\\": 99}\"; done",
		 ", serve: true", SCORE);
	for (int i = 1; i <= 4; i++) {
		assert_int_equal(measure(&r, &s, &e), 1);
		if (!s.ok) {
			fail_msg("%s", s.reason);
		}
		if (i == 2) { /* let what is said unasked arrive */
			nanosleep(&(struct timespec){.tv_nsec = 100000000L}, NULL);
		}
		assert_true(s.m[METRIC_SCORE] == i);
	}
	rig_clear(&r);
}

/* At once: not when the time is over. */
static void a_served_line_that_is_none_is_refused(void **state)
{
	(void)state;
	static const char *const scripts[][2] = {
		{"read line; printf \"\\0\\n\"; read line", "NUL byte"},
		{"read line; head -c 70000 /dev/zero; echo; read line", "longer than 64 KiB"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct rig r;
		struct sample s;
		struct err e;
		rig_make(&r, scripts[i][0], ", serve: true", SCORE);
		double before = seconds();
		assert_int_equal(measure(&r, &s, &e), 1);
		assert_true(!s.ok && strstr(s.reason, scripts[i][1]));
		assert_true(seconds() - before < 5);
		rig_clear(&r);
	}
}

static void a_served_program_is_started_again_once(void **state)
{
	(void)state;
	struct rig r;
	struct sample s;
	struct err e;
	/* answers once, then ends when asked again */
	rig_make(&r, "read line; echo \"{\\\"score\\\": 5}\"; read line", ", serve: true", SCORE);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(measure(&r, &s, &e), 1);
		assert_true(s.ok);
		assert_int_equal(measure(&r, &s, &e), 1);
		assert_true(!s.ok && strstr(s.reason, "has ended"));
	}
	rig_clear(&r);
	rig_make(&r, "read line; exit 1", ", serve: true", SCORE);
	assert_int_equal(measure(&r, &s, &e), 1);
	assert_false(s.ok);
	assert_int_equal(measure(&r, &s, &e), -EHOSTDOWN);
	assert_non_null(strstr(e.text, "without an answer"));
	assert_int_equal(measure(&r, &s, &e), -EHOSTDOWN);
	rig_clear(&r);
}

static void a_late_server_is_not_believed_later(void **state)
{
	(void)state;
	struct rig r;
	struct sample s;
	struct err e;
	rig_make(&r, "while read line; do sleep 0.4; echo \"{\\\"score\\\": 1}\"; done",
		 ", serve: true", SCORE);
	r.spec->test.timeout = 0.2;
	assert_int_equal(measure(&r, &s, &e), 1);
	assert_true(!s.ok && strstr(s.reason, "within 0.2 s"));
	r.spec->test.timeout = 10;
	double before = seconds();
	assert_int_equal(measure(&r, &s, &e), 1);
	assert_true(s.ok && seconds() - before > 0.35);
	rig_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_served_program_answers_line_by_line),
		cmocka_unit_test(a_served_line_that_is_none_is_refused),
		cmocka_unit_test(a_served_program_is_started_again_once),
		cmocka_unit_test(a_late_server_is_not_believed_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
