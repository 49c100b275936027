/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk that does not take the journal: every write and sync of a session fails in turn, once or
 * for good, with EIO, ENOSPC and EROFS. Nothing is changed without a record of how it was, and what
 * is set goes back, also when the process dies there.
 */
#include "session_fake.h"

static const int FAULTS[] = {EIO, ENOSPC, EROFS};

static int set_all(struct session *s)
{
	struct assignment a[] = {assign(RMEM, "default", value_int(65536)),
				 assign(CONG, "", value_text("bbr"))};
	struct assignment b[] = {assign(SOMX, "", value_int(128)),
				 assign("net.ipv4.ip_forward", "", value_bool(true))};
	int r = session_set(s, a, ARRAY_SIZE(a), NULL, NULL);
	return r ? r : session_set(s, b, ARRAY_SIZE(b), NULL, NULL);
}

static bool all_back(void)
{
	return at_baseline() && !strcmp(got("net.ipv4.ip_forward"), "0") &&
	       !strcmp(got("net.ipv4.conf.lo.forwarding"), "1") &&
	       !strcmp(got("net.ipv4.conf.all.accept_redirects"), "1");
}

static void arm(long at, size_t fault, bool for_good)
{
	fail_at = at;
	fail_errno = FAULTS[fault];
	fail_for_good = for_good;
}

/* Steps that a session without a fault takes. */
static long steps(void)
{
	struct session *s;
	arm(1000000, 0, false);
	assert_int_equal(session_open(&here, "sweep", "x", &s, NULL, NULL), 0);
	assert_int_equal(set_all(s), 0);
	long n = 1000000 - fail_at;
	fail_at = 0;
	must_roll_back(s);
	return n;
}

static void once(long at, size_t fault, bool for_good)
{
	struct session *s = NULL;
	struct err e = {0};
	arm(at, fault, for_good);
	int r = session_open(&here, "sweep", "x", &s, NULL, &e);
	if (r) {
		assert_null(s);
		assert_int_equal(r, -FAULTS[fault]);
		assert_true(e.text[0]);
	} else {
		set_all(s);
		/* the disk stays as it is: putting back does not wait for it */
		session_rollback(s, false, NULL, NULL);
		if (!all_back()) {
			fail_msg("fault %d at %ld: not put back", FAULTS[fault], at);
		}
		session_close(s);
	}
	assert_true(all_back());
	fail_at = 0;
	session_close(must_open("sweep"));
	assert_true(all_back());
}

static void test_every_write_fails(void **state)
{
	(void)state;
	long n = steps();
	assert_true(n > 20);
	for (size_t fault = 0; fault < ARRAY_SIZE(FAULTS); fault++) {
		for (long at = 1; at <= n; at++) {
			once(at, fault, false);
			once(at, fault, true);
		}
	}
}

/* The process dies with what it has: the next one finds a journal for all that is changed. */
static void die_with_fault(long at, size_t fault, bool for_good)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		struct session *s = NULL;
		arm(at, fault, for_good);
		if (!session_open(&here, "sweep", "x", &s, NULL, NULL)) {
			set_all(s);
		}
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	struct session_report report;
	struct err e = {0};
	if (session_restore(&here, "sweep", &report, &e)) {
		fail_msg("%s", e.text);
	}
	session_report_clear(&report);
	if (!all_back()) {
		fail_msg("fault %d at %ld, then killed: not put back", FAULTS[fault], at);
	}
}

static void test_killed_after_a_fault(void **state)
{
	(void)state;
	long n = steps();
	for (size_t fault = 0; fault < ARRAY_SIZE(FAULTS); fault++) {
		for (long at = 1; at <= n; at++) {
			die_with_fault(at, fault, false);
			die_with_fault(at, fault, true);
		}
	}
}

/* A power cut right after a write finds how it was: what is not synced is not there then. */
static void test_on_disk_before_set(void **state)
{
	(void)state;
	struct session *s = must_open("applied");
	struct err e = {0};
	struct assignment a[] = {assign(SOMX, "", value_int(99)),
				 assign(RMEM, "max", value_int(8 << 20))};
	early_writes = 0;
	assert_int_equal(set_all(s), 0);
	assert_int_equal(session_commit(s, &e), 0);
	assert_int_equal(session_replace(s, a, ARRAY_SIZE(a), &e), 0);
	assert_int_equal(early_writes, 0);
	must_roll_back(s);
}

/* Half a record is on the disk: it is cut off before the next one, which is believed. */
static void test_torn_record_is_cut_off(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		struct session *s = must_open("sweep");
		struct assignment first = assign(SOMX, "", value_int(99)),
				  second = assign(CONG, "", value_text("bbr")),
				  third = assign(RMEM, "max", value_int(8 << 20));
		must_set(s, &first, 1);
		arm(1, 1, false);
		fail_torn = true;
		if (session_set(s, &second, 1, NULL, NULL) == -ENOSPC) {
			must_set(s, &third, 1);
			raise(SIGKILL);
		}
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(same_text(got(RMEM), "4096 131072 8388608"));
	session_close(must_open("sweep"));
	assert_true(all_back());
}

/* After a sync that failed nobody knows what is on the disk: nothing more is set on top of it. */
static void test_nothing_after_a_failed_sync(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct assignment a = assign(SOMX, "", value_int(99)), b = assign(SOMX, "", value_int(98));
	struct err e = {0};
	must_set(s, &a, 1);
	arm(2, 0, false); /* its intent is written, and not synced */
	assert_int_equal(session_set(s, &b, 1, NULL, &e), -EIO);
	assert_int_equal(fail_at, 0);
	int writes = fake->settings[fake_index(SOMX)].writes;
	assert_int_equal(session_set(s, &b, 1, NULL, &e), -EIO);
	assert_int_equal(fake->settings[fake_index(SOMX)].writes, writes);
	must_roll_back(s);
	assert_true(all_back());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_write_fails),		TEST(test_killed_after_a_fault),
		TEST(test_on_disk_before_set),		TEST(test_torn_record_is_cut_off),
		TEST(test_nothing_after_a_failed_sync),
	};
	return cmocka_run_group_tests_name("session_faults", tests, NULL, NULL);
}
