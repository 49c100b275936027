/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A setting that drops the link, on its way there and back: whoever writes it waits until the link
 * carries again, what did not come back is undone, and a rollback after which the link is dark says
 * so.
 */
#include "protocol.h"
#undef PROTOCOL_CARRIER_MS
#define PROTOCOL_CARRIER_MS 600
#include "session_fake.h"

#define PAUSE "nic.pause.rx"

static void write_file(const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof(path), "%s/root/sys/class/net/eth0/%s", folder, name);
	auto_fclose FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
}

static bool carries(void)
{
	struct sysroot root = here.root;
	return device_carries(&root, 7);
}

static void add_device(void)
{
	shell("mkdir -p %s/root/sys/class/net/eth0", folder);
	write_file("ifindex", "7\n");
	write_file("address", "02:00:00:00:00:07\n");
	write_file("carrier", "1\n");
	snprintf(fake->settings[fake->n].name, TUNABLE_NAME_MAX, "%s", PAUSE);
	snprintf(fake->settings[fake->n++].text, VALUE_TEXT_MAX, "0");
	on_write = NULL;
}

static void goes_dark(const char *name)
{
	if (!strcmp(name, PAUSE)) {
		write_file("carrier", "0\n");
	}
}

/* Another process brings it back a little later. */
static void blinks(const char *name)
{
	if (!strcmp(name, PAUSE)) {
		write_file("carrier", "0\n");
		if (!fork()) {
			usleep(200000);
			write_file("carrier", "1\n");
			_exit(0);
		}
	}
}

static struct assignment paused(void)
{
	struct assignment a = {.value = value_bool(true)};
	assert_int_equal(tunable_resolve(PAUSE, "", "eth0", &a.setting, NULL), 0);
	return a;
}

static void test_waited_for(void **state)
{
	struct assignment a = paused();
	(void)state;
	add_device();
	struct session *s = must_open("sweep");
	on_write = blinks;
	must_set(s, &a, 1);
	assert_true(carries());
	must_roll_back(s);
	assert_true(carries());
	assert_string_equal(got(PAUSE), "0");
	while (waitpid(-1, NULL, 0) > 0) {
	}
}

static void test_undone_where_it_stays_dark(void **state)
{
	struct assignment a = paused();
	struct err e = {0};
	(void)state;
	add_device();
	struct session *s = must_open("sweep");
	on_write = goes_dark;
	assert_int_equal(session_set(s, &a, 1, NULL, &e), -ENETDOWN);
	assert_non_null(strstr(e.text, "link of eth0 did not come back"));
	assert_string_equal(got(PAUSE), "0");
	must_roll_back(s);
}

static void test_told_after_a_rollback(void **state)
{
	struct assignment a = paused();
	struct session_report report;
	struct err e = {0};
	(void)state;
	add_device();
	struct session *s = must_open("sweep");
	must_set(s, &a, 1);
	on_write = goes_dark;
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	assert_int_equal(report.n, 1);
	assert_int_equal(report.items[0].outcome, RESTORED);
	assert_non_null(strstr(report.items[0].reason, "link of eth0 did not come back"));
	session_report_clear(&report);
	session_close(s);
	assert_string_equal(got(PAUSE), "0");
	assert_true(nothing_left());
}

/* What was dark before is not waited for. */
static void test_dark_before(void **state)
{
	struct assignment a = paused();
	(void)state;
	add_device();
	write_file("carrier", "0\n");
	struct session *s = must_open("sweep");
	on_write = goes_dark;
	must_set(s, &a, 1);
	must_roll_back(s);
	assert_string_equal(got(PAUSE), "0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_waited_for),
		TEST(test_undone_where_it_stays_dark),
		TEST(test_told_after_a_rollback),
		TEST(test_dark_before),
	};
	return cmocka_run_group_tests_name("session_link", tests, NULL, NULL);
}
