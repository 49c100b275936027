/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The host's policy: what it narrows by name, class, range and user, and that a file which others
 * may write, or which is not understood, lets nothing be set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "policy.h"
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char prefix[64], file[128];
static const struct sysroot root = {prefix};

static void shell(const char *format, const char *arg)
{
	char command[300];
	snprintf(command, sizeof(command), format, arg);
	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(prefix, "/tmp/test-policy-XXXXXX");
	if (!mkdtemp(prefix)) {
		return -1;
	}
	shell("install -d -m 755 %s/etc/tunesweep", prefix);
	snprintf(file, sizeof(file), "%s/etc/tunesweep/policy.json", prefix);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	shell("rm -rf %s", prefix);
	return 0;
}

static void spit(const char *text)
{
	FILE *f = fopen(file, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(file, 0644), 0);
}

static struct policy *load(uid_t uid)
{
	struct policy *p = NULL;
	struct err e = {0};
	if (policy_load(&root, uid, &p, &e)) {
		fail_msg("%s", e.text);
	}
	return p;
}

static bool may(const struct policy *p, const char *name, const char *field, struct value v)
{
	struct setting s;
	struct err e = {0};
	assert_int_equal(tunable_resolve(name, field, NULL, &s, &e), 0);
	int rc = policy_check_value(p, &s, field, &v, &e);
	assert_true(rc == 0 || (rc == -EPERM && strstr(e.text, "/etc/tunesweep/policy.json")));
	return rc == 0;
}

static void test_no_file(void **state)
{
	(void)state;
	struct policy *p = load(0);
	assert_null(p);
	assert_true(may(p, "net.ipv4.tcp_sack", "", value_bool(false)));
}

static void test_names_and_classes(void **state)
{
	(void)state;
	spit("{\"tunesweep_policy\": 1, \"everyone\": {\"names\": [\"net.ipv4.tcp_*\", "
	     "\"vm.min_free_kbytes\"], \"classes\": [\"safe\"]}}");
	struct policy *p = load(0);
	assert_true(may(p, "net.ipv4.tcp_rmem", "max", value_int(1 << 20)));
	assert_true(may(p, "net/ipv4/tcp_rmem", "max", value_int(1 << 20))); /* canonical */
	assert_false(may(p, "net.core.somaxconn", "", value_int(100)));
	assert_false(may(p, "net.ipv4.tcp_sack", "", value_bool(false)));
	assert_false(may(p, "vm.min_free_kbytes", "", value_int(100000)));
	assert_false(may(p, "net.ipv4.tcp_no_such_key", "", value_int(1))); /* unlisted */
	policy_free(p);
}

static void test_ranges(void **state)
{
	(void)state;
	spit("{\"tunesweep_policy\": 1, \"everyone\": {\"ranges\": {"
	     "\"net.ipv4.tcp_*mem.max\": [4096, 8388608], \"net.core.*\": [1, 1000], "
	     "\"net.ipv4.tcp_window_scaling\": [1, 1], \"net.ipv4.tcp_congestion_control\": [0, "
	     "1]}}}");
	struct policy *p = load(0);
	assert_true(may(p, "net.ipv4.tcp_rmem", "max", value_int(8388608)));
	assert_false(may(p, "net.ipv4.tcp_rmem", "max", value_int(8388609)));
	assert_true(may(p, "net.ipv4.tcp_rmem", "default", value_int(1 << 30)));
	assert_true(may(p, "net.ipv4.tcp_rmem", "", value_text("4096 131072 8388608")));
	assert_false(may(p, "net.ipv4.tcp_rmem", "", value_text("4096 131072 8388609")));
	assert_false(may(p, "net.core.somaxconn", "", value_int(1001)));
	assert_false(may(p, "net.ipv4.tcp_window_scaling", "", value_bool(false)));
	assert_true(may(p, "net.ipv4.tcp_window_scaling", "", value_bool(true)));
	assert_false(may(p, "net.ipv4.tcp_congestion_control", "", value_text("bbr")));
	policy_free(p);
}

static void test_users(void **state)
{
	(void)state;
	spit("{\"tunesweep_policy\": 1, \"everyone\": {\"classes\": [\"safe\"]}, \"users\": {"
	     "\"1000\": {\"names\": [\"net.ipv4.*\"]}, \"*\": {\"names\": []}}}");
	struct policy *p = load(1000);
	assert_true(may(p, "net.ipv4.tcp_rmem", "max", value_int(1 << 20)));
	assert_false(may(p, "net.core.somaxconn", "", value_int(100)));
	assert_false(may(p, "net.ipv4.tcp_sack", "", value_bool(false))); /* everyone's rule, too */
	policy_free(p);
	p = load(1001);
	assert_false(may(p, "net.ipv4.tcp_rmem", "max", value_int(1 << 20)));
	policy_free(p);
	/* a user's range, within everyone's */
	spit("{\"tunesweep_policy\": 1, \"everyone\": {\"ranges\": {\"net.core.*\": [10, 1000]}}, "
	     "\"users\": {\"1000\": {\"ranges\": {\"net.core.*\": [1, 100]}}}}");
	p = load(1000);
	assert_true(may(p, "net.core.somaxconn", "", value_int(100)));
	assert_false(may(p, "net.core.somaxconn", "", value_int(101)));
	assert_false(may(p, "net.core.somaxconn", "", value_int(9)));
	policy_free(p);
	p = load(1001);
	assert_true(may(p, "net.core.somaxconn", "", value_int(101)));
	policy_free(p);
}

static void refused(int code, const char *words)
{
	struct policy *p;
	struct err e = {0};
	assert_int_equal(policy_load(&root, 0, &p, &e), code);
	assert_null(p);
	assert_int_equal(e.code, code);
	if (!strstr(e.text, words) || !strstr(e.text, "nothing may be set here")) {
		fail_msg("%s", e.text);
	}
}

static void test_files_not_to_be_trusted(void **state)
{
	(void)state;
	static const char GOOD[] = "{\"tunesweep_policy\": 1}";
	static const mode_t MODES[] = {0664, 0646, 0666};
	for (size_t i = 0; i < ARRAY_SIZE(MODES); i++) {
		spit(GOOD);
		assert_int_equal(chmod(file, MODES[i]), 0);
		refused(-EPERM, "policy.json can be written by others");
	}
	spit(GOOD);
	policy_free(load(0));
	shell("chmod g+w %s/etc/tunesweep", prefix);
	refused(-EPERM, "/etc/tunesweep can be written by others");
	shell("chmod 755 %s/etc/tunesweep", prefix);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0755), 0);
	refused(-EBADMSG, "not a file");
	assert_int_equal(rmdir(file), 0);
	shell("ln -s /etc/hostname %s/etc/tunesweep/policy.json", prefix);
	struct policy *p;
	struct err e = {0};
	assert_int_equal(policy_load(&root, 0, &p, &e), -ELOOP);
	assert_int_equal(unlink(file), 0);
	if (geteuid() == 0) { /* of somebody else */
		spit(GOOD);
		assert_int_equal(chown(file, 1000, 0), 0);
		refused(-EPERM, "does not belong to root");
	}
}

static void test_files_not_understood(void **state)
{
	static const char *const BAD[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"tunesweep_policy\": 2}",
		"{\"tunesweep_policy\": \"1\"}",
		"{\"tunesweep_policy\": 1, \"tunesweep_policy\": 1}",
		"{\"tunesweep_policy\": 1, \"everybody\": {}}",
		"{\"tunesweep_policy\": 1, \"everyone\": []}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"name\": [\"x\"]}}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"names\": \"net.*\"}}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"names\": [1]}}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"classes\": [\"harmless\"]}}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"ranges\": {\"net.*\": [1]}}}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"ranges\": {\"net.*\": [1.5, 2]}}}",
		"{\"tunesweep_policy\": 1, \"everyone\": {\"ranges\": [1, 2]}}",
		"{\"tunesweep_policy\": 1, \"users\": []}",
		"{\"tunesweep_policy\": 1, \"users\": {\"root\": {}}}",
		"{\"tunesweep_policy\": 1, \"users\": {\"0\": 1}}",
		"{\"tunesweep_policy\": 1} {}",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		spit(BAD[i]);
		refused(-EBADMSG, "policy.json");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_file),
		TEST(test_names_and_classes),
		TEST(test_ranges),
		TEST(test_users),
		TEST(test_files_not_to_be_trusted),
		TEST(test_files_not_understood),
	};
	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
