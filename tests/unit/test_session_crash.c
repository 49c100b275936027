/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is left after a kill: a child is killed at each reading, writing and syncing in turn, and
 * the next command finds the baseline or puts it back. Also full disks, other boots, and the
 * guardian that takes over.
 */
#include "session_fake.h"

/* Runs work in a child that kills itself at step k. True if it was killed. */
static bool killed_at(long k, void (*work)(void))
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		kill_at = k;
		work();
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static void must_restore(const char *layer)
{
	struct session_report report;
	struct err e = {0};
	if (session_restore(&here, layer, &report, &e)) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(report.n_conflict, 0);
	session_report_clear(&report);
}

/* Failures are silent in the child: only what is found afterwards counts. */
static void sweep_work(void)
{
	struct session *s;
	struct assignment a[] = {assign(RMEM, "default", value_int(65536)),
				 assign(CONG, "", value_text("bbr"))};
	struct assignment b[] = {assign(SOMX, "", value_int(2000000)),
				 assign(RMEM, "max", value_int(8 << 20))};
	struct assignment c[] = {assign(CONG, "", value_text("reno")),
				 assign(WMEM, "max", value_int(8 << 20))};
	if (session_open(&here, "sweep", "x", &s, NULL, NULL)) {
		return;
	}
	session_set(s, a, 2, NULL, NULL);
	session_set(s, b, 2, NULL, NULL);
	session_set(s, c, 2, NULL, NULL);
	session_rollback(s, false, NULL, NULL);
	session_close(s);
}

static void test_killed_at_every_step(void **state)
{
	(void)state;
	long k = 1;
	behave(SOMX, CLAMPS);
	behave(WMEM, REFUSES);
	while (killed_at(k, sweep_work)) {
		must_restore("sweep");
		if (!at_baseline() || !nothing_left()) {
			fail_msg("killed at step %ld: %s, %s, %s", k, got(RMEM), got(CONG),
				 got(SOMX));
		}
		k++;
	}
	assert_true(k > 50); /* it was really killed at many places */
	assert_true(at_baseline());
	assert_true(nothing_left());
}

static void restore_work(void)
{
	struct session_report report;
	session_restore(&here, "sweep", &report, NULL);
	session_report_clear(&report);
}

static void crash_while_set(void)
{
	struct session *s = must_open("sweep");
	struct assignment a[] = {assign(RMEM, "default", value_int(65536)),
				 assign(CONG, "", value_text("bbr"))};
	must_set(s, a, 2);
	raise(SIGKILL);
}

static void test_killed_while_restoring(void **state)
{
	(void)state;
	bool killed = true;
	for (long k = 1; killed; k++) {
		assert_true(killed_at(0, crash_while_set));
		assert_false(at_baseline());
		killed = killed_at(k, restore_work);
		must_restore("sweep");
		assert_true(at_baseline());
		assert_true(nothing_left());
	}
}

static void forward_work(void)
{
	struct session *s;
	struct assignment a = assign("net.ipv4.ip_forward", "", value_bool(true));
	if (!session_open(&here, "sweep", "x", &s, NULL, NULL)) {
		session_set(s, &a, 1, NULL, NULL);
		session_rollback(s, false, NULL, NULL);
		session_close(s);
	}
}

/* What changed along with a setting goes back as well, wherever it was killed. */
static void test_affected_after_a_kill(void **state)
{
	(void)state;
	long k = 1;
	while (killed_at(k, forward_work)) {
		must_restore("sweep");
		assert_string_equal(got("net.ipv4.ip_forward"), "0");
		assert_string_equal(got("net.ipv4.conf.lo.forwarding"), "1");
		assert_string_equal(got("net/ipv4/conf/eth0.100/forwarding"), "0");
		assert_string_equal(got("net.ipv4.conf.default.accept_redirects"), "0");
		assert_string_equal(got("net.ipv4.conf.all.accept_redirects"), "1");
		k++;
	}
	assert_true(k > 20);
}

static void apply_work(void)
{
	struct session *s;
	struct assignment a[] = {assign(RMEM, "default", value_int(65536)),
				 assign(CONG, "", value_text("bbr"))};
	if (session_open(&here, "applied", "x", &s, NULL, NULL)) {
		return;
	}
	if (!session_replace(s, a, 2, NULL)) {
		session_commit(s, NULL);
	}
	session_close(s);
}

static void test_apply_is_all_or_nothing(void **state)
{
	(void)state;
	long k = 1;
	size_t kept = 0, put_back = 0;
	for (bool killed = true; killed; k++) {
		killed = killed_at(k, apply_work);
		must_restore("applied");
		bool applied = same_text(got(RMEM), "4096 65536 6291456") &&
			       !strcmp(got(CONG), "bbr");
		assert_true(applied || at_baseline());
		kept += applied;
		put_back += !applied;
		must_roll_back(must_open("applied"));
		assert_true(at_baseline());
		assert_true(nothing_left());
	}
	assert_true(kept >= 1 && put_back > 10);
}

static void test_someone_else_after_a_crash(void **state)
{
	(void)state;
	struct session_report report;
	struct err e = {0};
	assert_true(killed_at(0, crash_while_set));
	put(CONG, "reno");
	assert_int_equal(session_restore(&here, "sweep", &report, &e), 0);
	assert_int_equal(report.n_conflict, 1);
	session_report_clear(&report);
	assert_string_equal(got(CONG), "reno");
	assert_string_equal(got(RMEM), "4096 131072 6291456");
	assert_true(nothing_left());
}

static void test_another_boot(void **state)
{
	(void)state;
	struct session_report report;
	struct session *s;
	struct err e = {0};
	char path[160];
	assert_true(killed_at(0, crash_while_set));
	snprintf(path, sizeof(path), "%s/proc/sys/kernel/random/boot_id", here.root.prefix);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("99999999-2222-4333-8444-555555555555\n", f);
	fclose(f);
	fake_fill();
	put(CONG, "reno"); /* the new boot's own value */
	assert_int_equal(session_open(&here, "sweep", "x", &s, &report, &e), 0);
	assert_int_equal(report.n, 0);
	assert_non_null(strstr(report.note, "another boot"));
	assert_string_equal(got(CONG), "reno");
	session_report_clear(&report);
	session_close(s);
	assert_true(nothing_left());
}

static void test_unreadable_journal(void **state)
{
	(void)state;
	struct session_report report;
	struct session *s;
	struct err e = {0};
	char path[300];
	assert_true(killed_at(0, crash_while_set));
	session_dir(&here, path, sizeof(path) - 20, &e);
	strcat(path, "/sweep.journal");
	assert_int_equal(truncate(path, 20), 0);
	assert_int_equal(session_open(&here, "sweep", "x", &s, NULL, &e), -EBADMSG);
	assert_int_equal(session_restore(&here, "sweep", &report, &e), -EBADMSG);
	assert_int_equal(access(path, F_OK), 0); /* the evidence stays */
	assert_string_equal(got(CONG), "bbr");
}

static void limit_files(rlim_t size)
{
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Wherever the disk is full, the kernel is as it was before the call. */
static void test_full_disk(void **state)
{
	(void)state;
	size_t refused = 0, done = 0;
	for (rlim_t room = 0; room < 1600; room += 7) {
		struct session *s = NULL;
		struct assignment a[] = {assign(RMEM, "default", value_int(65536)),
					 assign(CONG, "", value_text("bbr"))};
		limit_files(room);
		int r = session_open(&here, "sweep", "x", &s, NULL, NULL);
		r = r ? r : session_set(s, a, 2, NULL, NULL);
		limit_files(RLIM_INFINITY);
		assert_true(!r || at_baseline());
		refused += r != 0;
		done += r == 0;
		if (s) {
			must_roll_back(s);
		}
		assert_true(at_baseline());
	}
	assert_true(refused > 10 && done > 10);
}

/* As the agent and its guardian do: the lock is inherited, the agent dies, the guardian restores.
 */
static void agent_with_guardian(void)
{
	int pipes[2];
	char byte;
	struct session *s = must_open("sweep");
	struct assignment a = assign(CONG, "", value_text("bbr"));
	assert_int_equal(pipe(pipes), 0);
	if (!fork()) {
		close(pipes[1]);
		while (read(pipes[0], &byte, 1) < 0) {
		}
		struct session *mine;
		struct err e = {0};
		int r = session_adopt(&here, "sweep", session_lock_fd(s), -1, &mine, &e);
		r = r ? r : session_rollback(mine, false, NULL, &e);
		session_close(mine);
		_exit(r ? 1 : 0);
	}
	must_set(s, &a, 1);
	raise(SIGKILL);
}

static void test_guardian(void **state)
{
	(void)state;
	assert_true(killed_at(0, agent_with_guardian));
	for (int i = 0; i < 500 && !(at_baseline() && nothing_left()); i++) {
		usleep(10000);
	}
	assert_true(at_baseline());
	assert_true(nothing_left());
}

static void test_nothing_to_adopt(void **state)
{
	(void)state;
	struct session *s = must_open("applied"), *mine;
	struct err e = {0};
	struct assignment a = assign(CONG, "", value_text("bbr"));
	assert_int_equal(session_adopt(&here, "sweep", -1, -1, &mine, &e), 0);
	assert_null(mine);
	assert_int_equal(session_rollback(mine, false, NULL, &e), 0);
	session_close(mine);
	must_set(s, &a, 1);
	assert_int_equal(session_commit(s, &e), 0);
	assert_int_equal(session_adopt(&here, "applied", session_lock_fd(s), -1, &mine, &e), 0);
	assert_null(mine); /* what was committed shall stay */
	must_roll_back(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_killed_at_every_step),
		TEST(test_killed_while_restoring),
		TEST(test_affected_after_a_kill),
		TEST(test_apply_is_all_or_nothing),
		TEST(test_someone_else_after_a_crash),
		TEST(test_another_boot),
		TEST(test_unreadable_journal),
		TEST(test_full_disk),
		TEST(test_guardian),
		TEST(test_nothing_to_adopt),
	};
	return cmocka_run_group_tests_name("session_crash", tests, NULL, NULL);
}
