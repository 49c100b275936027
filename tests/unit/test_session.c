/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a session does while everyone lives: set, read back, undo a refused call, conflicts, commit
 * and replace, locks and layers. Crashes are test_session_crash.c's.
 */
#include "session_fake.h"

static void test_set_and_roll_back(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct value effective[3];
	struct err e = {0};
	struct assignment a[] = {assign(RMEM, "default", value_int(65536)),
				 assign(CONG, "", value_text("bbr")),
				 assign(RMEM, "max", value_int(8 << 20))};
	assert_int_equal(session_set(s, a, 3, effective, &e), 0);
	assert_string_equal(got(RMEM), "4096 65536 8388608");
	assert_string_equal(got(CONG), "bbr");
	assert_int_equal(fake->settings[fake_index(RMEM)].writes, 1); /* one for both fields */
	assert_true(effective[0].i == 65536 && effective[2].i == 8 << 20);
	assert_string_equal(effective[1].text, "bbr");
	must_set(s, a, 3);
	assert_int_equal(fake->settings[fake_index(RMEM)].writes, 1); /* nothing differed */

	struct session_report report;
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.n, 2);
	assert_string_equal(report.items[0].setting.name, CONG); /* in reverse */
	assert_int_equal(report.items[0].outcome, RESTORED);
	assert_int_equal(report.items[1].outcome, RESTORED);
	session_report_clear(&report);
	assert_true(at_baseline());
	must_set(s, a, 3); /* the session goes on, with a new journal */
	assert_string_equal(got(CONG), "bbr");
	must_roll_back(s);
	assert_true(at_baseline());
	assert_true(nothing_left());
}

static void test_merges_on_the_present(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct assignment a = assign(RMEM, "max", value_int(8 << 20));
	struct assignment b = assign(RMEM, "default", value_int(5000));
	must_set(s, &a, 1);
	must_set(s, &b, 1);
	assert_string_equal(got(RMEM), "4096 5000 8388608");
	must_roll_back(s);
	assert_true(at_baseline());
}

static void test_refused_before_anything(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct err e = {0};
	const struct assignment bad[][2] = {
		{assign(CONG, "", value_text("bbr")), assign(RMEM, "max", value_int(2147483648))},
		{assign(CONG, "", value_text("bbr")), assign("socket.nodelay", "", value_bool(1))},
		{assign(CONG, "", value_text("bbr")), assign(RMEM, "default", value_int(7000000))},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(session_set(s, bad[i], 2, NULL, &e), -EINVAL);
		assert_int_equal(e.class, ERR_USAGE);
		assert_true(at_baseline());
	}
	must_roll_back(s);
	assert_true(nothing_left());
}

/* The kernel has refused the whole and taken the first field: the first field goes back, too. */
static void test_refused_half_way(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct err e = {0};
	struct assignment first = assign(SOMX, "", value_int(100));
	must_set(s, &first, 1);
	behave(RMEM, HALVES);
	put(RMEM, "4096 0 6291456"); /* so that a wrong order was there before, and is kept */
	struct assignment a[] = {assign(SOMX, "", value_int(200)),
				 assign(CONG, "", value_text("bbr")),
				 assign(RMEM, "min", value_int(5001))};
	assert_int_equal(session_set(s, a, 3, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.text, RMEM));
	assert_int_equal(e.class, ERR_SYSTEM);
	assert_string_equal(got(SOMX), "100"); /* as before the call, not the baseline */
	assert_string_equal(got(CONG), "cubic");
	/* The kernel refuses the way back as well, and takes it half all the same. */
	assert_true(same_text(got(RMEM), "4096 0 6291456"));
	assert_int_equal(fake->settings[fake_index(RMEM)].writes, 2);
	behave(RMEM, OBEYS);
	must_roll_back(s);
	assert_true(same_text(got(RMEM), "4096 0 6291456"));
	assert_string_equal(got(SOMX), "4096");
}

static void test_refused_is_undone(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct err e = {0};
	behave(WMEM, REFUSES);
	struct assignment a[] = {assign(CONG, "", value_text("bbr")),
				 assign(WMEM, "max", value_int(8 << 20)),
				 assign(SOMX, "", value_int(7))};
	assert_int_equal(session_set(s, a, 3, NULL, &e), -EINVAL);
	assert_true(at_baseline());
	assert_int_equal(fake->settings[fake_index(SOMX)].writes, 0);
	/* What was meant, but never written, is not ours. */
	put(SOMX, "99");
	struct session_report report;
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.n_conflict, 1);
	session_report_clear(&report);
	assert_string_equal(got(SOMX), "99");
	session_close(s);
}

static void test_effective(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct value effective;
	struct err e = {0};
	struct assignment a = assign(SOMX, "", value_int(2000000));
	behave(SOMX, CLAMPS);
	assert_int_equal(session_set(s, &a, 1, &effective, &e), 0);
	assert_true(effective.i == 1000000);
	behave(SOMX, IGNORES);
	a.value = value_int(5);
	assert_int_equal(session_set(s, &a, 1, &effective, &e), 0);
	assert_true(effective.i == 1000000);
	behave(SOMX, OBEYS);
	must_roll_back(s);
	assert_true(at_baseline());
}

static void test_conflict(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct err e = {0};
	struct session_report report;
	struct assignment a[] = {assign(CONG, "", value_text("bbr")),
				 assign(SOMX, "", value_int(7)),
				 assign(RMEM, "max", value_int(8 << 20))};
	must_set(s, a, 3);
	put(CONG, "reno");
	put(RMEM, "4096 131072 7777777");
	behave(SOMX, GONE_NOW);
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.n_conflict, 2);
	assert_int_equal(report.n_failed, 0);
	auto_json json_t *j = session_report_json(&report);
	assert_int_equal(json_array_size(j), 3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(j, 1), "outcome")),
			    "gone");
	session_report_clear(&report);
	assert_string_equal(got(CONG), "reno");
	session_close(s);
	assert_true(nothing_left());

	behave(SOMX, OBEYS);
	fake_fill();
	s = must_open("sweep");
	must_set(s, a, 1);
	put(CONG, "reno");
	assert_int_equal(session_rollback(s, true, &report, &e), 0);
	assert_int_equal(report.n_conflict, 0);
	session_report_clear(&report);
	session_close(s);
	assert_true(at_baseline());
}

static void test_failed_rollback_keeps_the_journal(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct err e = {0};
	struct session_report report;
	struct assignment a[] = {assign(CONG, "", value_text("bbr")),
				 assign(SOMX, "", value_int(7))};
	must_set(s, a, 2);
	behave(SOMX, REFUSES);
	assert_int_equal(session_rollback(s, false, &report, &e), -EIO);
	assert_int_equal(e.class, ERR_RESTORE);
	assert_non_null(strstr(e.text, SOMX " (was '4096', is '7'"));
	assert_int_equal(report.n_failed, 1);
	assert_string_equal(got(CONG), "cubic"); /* the rest was restored all the same */
	session_report_clear(&report);
	session_close(s);
	assert_int_equal(session_open(&here, "sweep", "x", &s, NULL, &e), -EIO);
	assert_int_equal(e.class, ERR_RESTORE);
	behave(SOMX, IGNORES); /* a write that does nothing is not a restored value */
	assert_int_equal(session_open(&here, "sweep", "x", &s, NULL, &e), -EIO);
	behave(SOMX, OBEYS);
	assert_int_equal(session_open(&here, "sweep", "x", &s, &report, &e), 0);
	assert_int_equal(report.n, 2);
	session_report_clear(&report);
	assert_true(at_baseline());
	session_close(s);
	assert_true(nothing_left());
}

static void test_affected_goes_back(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct assignment a = assign("net.ipv4.ip_forward", "", value_bool(true));
	must_set(s, &a, 1);
	assert_string_equal(got("net/ipv4/conf/eth0.100/forwarding"), "1");
	must_roll_back(s);
	assert_string_equal(got("net.ipv4.ip_forward"), "0");
	assert_string_equal(got("net.ipv4.conf.lo.forwarding"), "1");
	assert_string_equal(got("net/ipv4/conf/eth0.100/forwarding"), "0");
	assert_string_equal(got("net.ipv4.conf.default.accept_redirects"), "0");
	assert_string_equal(got("net.ipv4.conf.all.accept_redirects"), "1");
	assert_true(nothing_left());
}

static void test_commit_and_replace(void **state)
{
	(void)state;
	struct err e = {0};
	struct assignment first[] = {assign(RMEM, "default", value_int(65536)),
				     assign(CONG, "", value_text("bbr"))};
	struct assignment second[] = {assign(RMEM, "max", value_int(8 << 20))};
	struct session *s = must_open("applied");
	must_set(s, first, 2);
	assert_false(session_committed(s));
	assert_int_equal(session_commit(s, &e), 0);
	assert_true(session_committed(s));
	session_close(s);
	assert_string_equal(got(CONG), "bbr");

	struct session_report report;
	assert_int_equal(session_open(&here, "applied", "another", &s, &report, &e), 0);
	assert_int_equal(report.n, 0); /* what was committed is continued, not restored */
	assert_true(session_committed(s));
	assert_string_equal(session_header(s)->profile, "a profile");
	assert_int_equal(session_replace(s, second, 1, &e), 0);
	assert_string_equal(got(RMEM), "4096 131072 8388608"); /* default is back at the baseline */
	assert_string_equal(got(CONG), "cubic");
	assert_int_equal(session_commit(s, &e), 0);
	assert_string_equal(session_header(s)->profile, "another");
	session_close(s);

	put(CONG, "reno"); /* no longer ours: whoever sets it is left alone */
	s = must_open("applied");
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.n, 1);
	assert_int_equal(report.n_conflict, 0);
	session_report_clear(&report);
	session_close(s);
	assert_string_equal(got(CONG), "reno");
	put(CONG, "cubic");
	assert_true(at_baseline());
	assert_true(nothing_left());
}

static void test_refused_replace_stays_committed(void **state)
{
	(void)state;
	struct err e = {0};
	struct assignment first = assign(CONG, "", value_text("bbr"));
	struct assignment second = assign(SOMX, "", value_int(7));
	struct session *s = must_open("applied");
	must_set(s, &first, 1);
	assert_int_equal(session_commit(s, &e), 0);
	behave(SOMX, REFUSES);
	assert_int_equal(session_replace(s, &second, 1, &e), -EINVAL);
	assert_string_equal(got(CONG), "bbr");
	assert_true(session_committed(s));
	session_close(s);
	struct session_report report;
	assert_int_equal(session_restore(&here, "applied", &report, &e), 0);
	assert_int_equal(report.n, 0);
	assert_string_equal(got(CONG), "bbr");
	behave(SOMX, OBEYS);
	must_roll_back(must_open("applied"));
	assert_true(at_baseline());
}

static void test_layers(void **state)
{
	(void)state;
	struct err e = {0};
	struct session *applied = must_open("applied"), *sweep;
	struct assignment a = assign(CONG, "", value_text("bbr"));
	struct assignment b = assign(CONG, "", value_text("reno"));
	must_set(applied, &a, 1);
	assert_int_equal(session_commit(applied, &e), 0);
	session_close(applied);
	sweep = must_open("sweep");
	must_set(sweep, &b, 1);
	assert_int_equal(session_commit(sweep, &e), -EINVAL);
	must_roll_back(sweep);
	assert_string_equal(got(CONG), "bbr"); /* the applied profile is the sweep's baseline */
	must_roll_back(must_open("applied"));
	assert_true(at_baseline());
	assert_true(nothing_left());
	assert_int_equal(session_open(&here, "other", "", &sweep, NULL, &e), -EINVAL);
}

static void test_lock(void **state)
{
	(void)state;
	struct err e = {0};
	struct session *s = must_open("sweep"), *other;
	struct session_report report;
	char pid[32];
	assert_int_equal(session_open(&here, "sweep", "x", &other, NULL, &e), -EBUSY);
	snprintf(pid, sizeof(pid), "process %d since 20", (int)getpid());
	assert_non_null(strstr(e.text, pid));
	assert_int_equal(session_restore(&here, "sweep", &report, &e), 0); /* the holder lives */
	assert_true(session_lock_fd(s) >= 0);
	assert_true(fcntl(session_lock_fd(s), F_GETFD) & FD_CLOEXEC);
	session_close(s);
	assert_true(nothing_left());
	session_close(must_open("sweep"));
}

static void test_status(void **state)
{
	(void)state;
	struct err e = {0};
	struct session *s = must_open("sweep");
	struct assignment a = assign(CONG, "", value_text("bbr"));
	struct setting other = assign(SOMX, "", value_int(1)).setting;
	json_t *status;
	must_set(s, &a, 1);
	assert_int_equal(session_track(s, &other, 1, &e), 0);
	put(CONG, "reno");
	behave(SOMX, GONE_NOW);
	assert_int_equal(session_status(s, &status, &e), 0);
	json_t *first = json_array_get(status, 0), *second = json_array_get(status, 1);
	assert_string_equal(json_string_value(json_object_get(first, "old")), "cubic");
	assert_string_equal(json_string_value(json_object_get(first, "value")), "bbr");
	assert_string_equal(json_string_value(json_object_get(first, "present")), "reno");
	assert_true(json_is_null(json_object_get(second, "value")));
	assert_true(json_is_null(json_object_get(second, "present")));
	json_decref(status);
	session_close(s); /* what is set stays in the journal: the next one puts it back */
	behave(SOMX, OBEYS);
	put(CONG, "bbr");
	session_close(must_open("sweep"));
	assert_true(at_baseline());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_set_and_roll_back),
		TEST(test_merges_on_the_present),
		TEST(test_refused_before_anything),
		TEST(test_refused_half_way),
		TEST(test_refused_is_undone),
		TEST(test_effective),
		TEST(test_conflict),
		TEST(test_failed_rollback_keeps_the_journal),
		TEST(test_affected_goes_back),
		TEST(test_commit_and_replace),
		TEST(test_refused_replace_stays_committed),
		TEST(test_layers),
		TEST(test_lock),
		TEST(test_status),
	};
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
