/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings that change one another, and those that all namespaces share: pairs that zero each other
 * go back by the member that was in force, replacing does not undo what it has just set, and the
 * kernel's own settings are one session's at a time.
 */
#include "session_fake.h"

static bool paired(void)
{
	struct setting s;
	return !tunable_resolve(BYTES, "", "", &s, NULL) && s.tunable->affects[0];
}

/* A ratio in force: vm.dirty_bytes cannot be written back to 0, and need not be. */
static void test_ratio_in_force(void **state)
{
	(void)state;
	struct session_report report;
	struct err e = {0};
	if (!paired()) {
		skip();
	}
	struct assignment a = assign(BYTES, "", value_int(1 << 20));
	struct session *s = must_open("sweep");
	must_set(s, &a, 1);
	assert_string_equal(got(RATIO), "0");
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.n_failed, 0);
	session_report_clear(&report);
	session_close(s);
	assert_string_equal(got(RATIO), "20");
	assert_string_equal(got(BYTES), "0");
}

static void test_bytes_in_force(void **state)
{
	(void)state;
	if (!paired()) {
		skip();
	}
	put(BYTES, "4194304");
	put(RATIO, "0");
	struct assignment a[] = {assign(RATIO, "", value_int(40)),
				 assign(BYTES, "", value_int(1 << 20)),
				 assign(RATIO, "", value_int(10))};
	struct session *s = must_open("sweep");
	for (size_t i = 0; i < ARRAY_SIZE(a); i++) {
		must_set(s, &a[i], 1);
	}
	must_roll_back(s);
	assert_string_equal(got(BYTES), "4194304");
	assert_string_equal(got(RATIO), "0");
}

/* The other member goes to 0 by what is applied: it is not put back until that is. */
static void test_replace_keeps_the_pair(void **state)
{
	(void)state;
	struct err e = {0};
	if (!paired()) {
		skip();
	}
	struct assignment a = assign(BYTES, "", value_int(1 << 20));
	struct session *s = must_open("applied");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(session_replace(s, &a, 1, &e), 0);
		assert_string_equal(got(BYTES), "1048576");
		assert_string_equal(got(RATIO), "0");
		assert_int_equal(session_commit(s, &e), 0);
	}
	assert_int_equal(session_replace(s, NULL, 0, &e), 0);
	assert_string_equal(got(BYTES), "0");
	assert_string_equal(got(RATIO), "20");
	must_roll_back(s);
}

static bool forwarding_is_back(void)
{
	return !strcmp(got("net.ipv4.ip_forward"), "0") &&
	       !strcmp(got("net.ipv4.conf.lo.forwarding"), "1") &&
	       !strcmp(got("net.ipv4.conf.default.accept_redirects"), "0") &&
	       !strcmp(got("net.ipv4.conf.all.accept_redirects"), "1");
}

static void test_replace_with_affected(void **state)
{
	(void)state;
	struct err e = {0};
	struct assignment a = assign("net.ipv4.ip_forward", "", value_bool(true));
	struct assignment other = assign(SOMX, "", value_int(128));
	struct session *s = must_open("applied");
	for (int i = 0; i < 2; i++) { /* applied twice: the second one must not switch it off */
		assert_int_equal(session_replace(s, &a, 1, &e), 0);
		assert_string_equal(got("net.ipv4.ip_forward"), "1");
		assert_string_equal(got("net/ipv4/conf/eth0.100/forwarding"), "1");
		assert_int_equal(session_commit(s, &e), 0);
	}
	/* No longer named: all that it had changed is as before, looked at after it went back. */
	assert_int_equal(session_replace(s, &other, 1, &e), 0);
	assert_true(forwarding_is_back());
	assert_int_equal(session_commit(s, &e), 0);
	must_roll_back(s);
	assert_true(at_baseline());
	assert_true(forwarding_is_back());
}

/* As another network namespace has it: another folder, the same run folder. */
static struct session *open_elsewhere(void)
{
	struct session *s = must_open("sweep");
	journal_remove(s->journal, NULL);
	journal_close(s->journal);
	s->journal = NULL;
	session_unlock(s->lock_fd, s->dir, "sweep", true);
	assert_true(strlen(s->dir) + 10 < sizeof(s->dir));
	strcat(s->dir, "-other");
	assert_int_equal(session_lock(s->run_dir, s->dir, "sweep", &s->lock_fd, NULL), 0);
	return s;
}

static void test_one_session_a_kernel(void **state)
{
	(void)state;
	struct err e = {0};
	char pid[40];
	struct session *other = open_elsewhere(), *s = must_open("sweep");
	struct assignment zone = assign(ZONE, "", value_int(1));
	struct assignment own = assign(CONG, "", value_text("bbr"));
	assert_int_equal(session_kernel_fd(s), -1);
	must_set(s, &zone, 1);
	assert_true(session_kernel_fd(s) >= 0);
	assert_int_equal(session_set(other, &zone, 1, NULL, &e), -EBUSY);
	snprintf(pid, sizeof(pid), "held by process %d since 20", (int)getpid());
	assert_non_null(strstr(e.text, pid));
	assert_int_equal(session_track(other, &zone.setting, 1, &e), -EBUSY);
	must_set(other, &own, 1); /* what is the namespace's own is not refused */
	assert_string_equal(got(CONG), "bbr");
	must_roll_back(other);
	must_roll_back(s);
	assert_string_equal(got(ZONE), "0");
	other = open_elsewhere();
	must_set(other, &zone, 1); /* given up with the session */
	must_roll_back(other);
	assert_string_equal(got(ZONE), "0");
}

/* The agent is killed; the guardian has inherited both locks and nobody comes in between. */
static void agent_with_guardian(void)
{
	struct session *s = must_open("sweep");
	struct assignment a = assign(ZONE, "", value_int(1));
	struct err e = {0};
	int p[2];
	char byte;
	assert_int_equal(session_track(s, &a.setting, 1, &e), 0);
	assert_int_equal(pipe(p), 0);
	if (!fork()) {
		struct session *mine;
		close(p[1]);
		while (read(p[0], &byte, 1) < 0) {
		}
		usleep(100000);
		int r = session_adopt(&here, "sweep", session_lock_fd(s), session_kernel_fd(s),
				      &mine, &e);
		r = r ? r : session_rollback(mine, false, NULL, &e);
		session_close(mine);
		_exit(r ? 1 : 0);
	}
	must_set(s, &a, 1);
	raise(SIGKILL);
}

static void test_guardian_holds_the_kernel(void **state)
{
	(void)state;
	struct err e = {0};
	struct assignment zone = assign(ZONE, "", value_int(2));
	struct session *other = open_elsewhere();
	int status, r = 0;
	pid_t pid = fork();
	if (!pid) {
		agent_with_guardian();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	r = session_track(other, &zone.setting, 1, &e);
	assert_true(r == -EBUSY || !strcmp(got(ZONE), "0"));
	for (int i = 0; r == -EBUSY && i < 500; i++) {
		usleep(10000);
		r = session_track(other, &zone.setting, 1, &e);
	}
	assert_int_equal(r, 0);
	assert_string_equal(got(ZONE), "0"); /* never the dead one's value as a baseline */
	must_roll_back(other);
}

/* Its former holder takes the lock's file away, and another makes a new one, while it is opened. */
static void new_lock_file(void)
{
	char dir[256], path[300];
	assert_int_equal(session_dir(&here, dir, sizeof(dir), NULL), 0);
	snprintf(path, sizeof(path), "%s/sweep.lock", dir);
	assert_int_equal(unlink(path), 0);
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
}

static void test_lock_of_the_file_that_is_there(void **state)
{
	(void)state;
	struct err e = {0};
	struct session *other;
	before_lock = new_lock_file;
	struct session *s = must_open("sweep");
	assert_null(before_lock);
	assert_int_equal(session_open(&here, "sweep", "x", &other, NULL, &e), -EBUSY);
	session_close(s);
	assert_true(nothing_left());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ratio_in_force),
		TEST(test_bytes_in_force),
		TEST(test_replace_keeps_the_pair),
		TEST(test_replace_with_affected),
		TEST(test_one_session_a_kernel),
		TEST(test_guardian_holds_the_kernel),
		TEST(test_lock_of_the_file_that_is_there),
	};
	return cmocka_run_group_tests_name("session_pairs", tests, NULL, NULL);
}
