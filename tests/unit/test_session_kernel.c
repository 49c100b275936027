/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Back end and session against the real kernel, in a network namespace of this process that goes
 * with it. Skipped where none can be made.
 */
#include "cleanup.h"
#include "session.h"
#include "setting_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

static char folder[64], runtime[96];
static struct session_place here;
static bool isolated;

static void map_root(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

static bool isolate(void)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();
	if (!unshare(CLONE_NEWNET)) {
		return true;
	}
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		return false;
	}
	map_root("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	map_root("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	map_root("/proc/self/gid_map", map);
	return true;
}

static int group_setup(void **state)
{
	(void)state;
	isolated = isolate();
	strcpy(folder, "/tmp/test-kernel-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	snprintf(runtime, sizeof(runtime), "%s/run", folder);
	here = (struct session_place){{""}, runtime, NULL};
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void read_text(const char *name, char *text)
{
	struct setting s = setting_of(name, NULL);
	struct err e = {0};
	if (tunable_read(&here.root, &s, text, VALUE_TEXT_MAX, &e)) {
		fail_msg("%s", e.text);
	}
}

static struct session *must_open(void)
{
	struct session *s = NULL;
	struct err e = {0};
	if (session_open(&here, "sweep", "x", &s, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

static void must_roll_back(struct session *s)
{
	struct session_report report;
	struct err e = {0};
	if (session_rollback(s, false, &report, &e)) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(report.n_conflict, 0);
	session_report_clear(&report);
	session_close(s);
}

/* tcp_rmem <- "5001 0 7000000" is EINVAL, and the first field is 5001 afterwards. */
static void test_half_refused_write(void **state)
{
	(void)state;
	char before[VALUE_TEXT_MAX], after[VALUE_TEXT_MAX];
	struct setting rmem = setting_of("net.ipv4.tcp_rmem", NULL);
	struct err e = {0};
	if (!isolated) {
		skip();
	}
	read_text(rmem.name, before);
	assert_null(strchr(before, '\t'));
	assert_int_equal(tunable_write(&here.root, &rmem, "5001 0 7000000", &e), -EINVAL);
	read_text(rmem.name, after);
	assert_int_equal(strncmp(after, "5001 ", 5), 0);
	assert_int_equal(tunable_write(&here.root, &rmem, before, &e), 0);
	read_text(rmem.name, after);
	assert_string_equal(before, after);
}

static void test_set_and_roll_back(void **state)
{
	(void)state;
	char before[VALUE_TEXT_MAX], word[VALUE_TEXT_MAX], after[VALUE_TEXT_MAX];
	struct value effective[2];
	struct err e = {0};
	if (!isolated) {
		skip();
	}
	read_text("net.ipv4.tcp_rmem", before);
	read_text("net.ipv4.tcp_congestion_control", word);
	struct session *s = must_open();
	struct assignment a[] = {
		{setting_of("net.ipv4.tcp_rmem", NULL), "default", value_int(4099)},
		{setting_of("net.ipv4.tcp_congestion_control", NULL), "", value_text("reno")}};
	assert_int_equal(session_set(s, a, 2, effective, &e), 0);
	assert_true(effective[0].i == 4099);
	a[0].value = value_int(5000);
	a[1].value = value_text("no_such_algorithm");
	assert_int_not_equal(session_set(s, a, 2, effective, &e), 0);
	assert_non_null(strstr(e.text, "no_such_algorithm"));
	read_text("net.ipv4.tcp_congestion_control", after);
	assert_string_equal(after, "reno");
	must_roll_back(s);
	read_text("net.ipv4.tcp_rmem", after);
	assert_string_equal(before, after);
	read_text("net.ipv4.tcp_congestion_control", after);
	assert_string_equal(word, after);
	assert_int_equal(access(runtime, F_OK), 0);
}

static void test_probe_tells_the_truth(void **state)
{
	(void)state;
	static const char *const absent[] = {"net.core.netdev_max_backlog", "net.core.busy_poll"};
	struct tunable_range range;
	struct err e = {0};
	if (!isolated) {
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		struct setting s = setting_of(absent[i], NULL);
		assert_int_equal(tunable_probe(&here.root, &s, "", &range, &e), 0);
		assert_false(range.settable);
		assert_string_equal(range.why_not, "not in this network namespace");
	}
	/* Each choice that is offered can really be set. */
	struct setting cc = setting_of("net.ipv4.tcp_congestion_control", NULL);
	assert_int_equal(tunable_probe(&here.root, &cc, "", &range, &e), 0);
	if (!range.settable) {
		return;
	}
	for (size_t i = 0; i < range.n_choices; i++) {
		assert_int_equal(tunable_write(&here.root, &cc, range.choices[i], &e), 0);
	}
	assert_int_equal(tunable_write(&here.root, &cc, range.present.text, &e), 0);
}

static void test_device_with_a_dot(void **state)
{
	(void)state;
	const char *name = "net/ipv4/conf/ts0.100/rp_filter";
	char text[VALUE_TEXT_MAX];
	struct err e = {0};
	if (!isolated || system("ip link add ts0.100 type veth peer name ts1 2>/dev/null")) {
		skip();
	}
	struct session *s = must_open();
	struct assignment a = {setting_of(name, NULL), "", value_int(2)};
	read_text(name, text);
	assert_string_not_equal(text, "2");
	assert_int_equal(session_set(s, &a, 1, NULL, &e), 0);
	read_text("net.ipv4.conf.ts0/100.rp_filter", text);
	assert_string_equal(text, "2");
	/* The device goes while it is tuned: said, and no failure. */
	assert_int_equal(system("ip link del ts1"), 0);
	struct session_report report;
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.items[0].outcome, GONE);
	session_report_clear(&report);
	session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_refused_write),
		cmocka_unit_test(test_set_and_roll_back),
		cmocka_unit_test(test_probe_tells_the_truth),
		cmocka_unit_test(test_device_with_a_dot),
	};
	return cmocka_run_group_tests_name("session_kernel", tests, group_setup, group_teardown);
}
