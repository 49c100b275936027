/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading and writing below a root prefix: what may be reached, and what comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "sysfile.h"
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void write_file(const char *root, const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(full, 0755);
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	static char folder[] = "/tmp/test-sysfile-XXXXXX";
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	*state = mkdtemp(folder);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	return system(command);
}

static void test_read(void **state)
{
	struct sysroot root = {*state};
	struct err e = {0};
	char buf[16];
	write_file(*state, "/proc/sys/a", "4096\t5\n");
	assert_int_equal(sysfile_read(&root, "/proc/sys/a", buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "4096\t5");
	write_file(*state, "/proc/sys/a", "one\ntwo\n\n");
	assert_int_equal(sysfile_read(&root, "/proc/sys/a", buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "one\ntwo\n");
	write_file(*state, "/proc/sys/a", "");
	assert_int_equal(sysfile_read(&root, "/proc/sys/a", buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "");
	write_file(*state, "/proc/sys/a", "0123456789abcdef");
	assert_int_equal(sysfile_read(&root, "/proc/sys/a", buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "0123456789abcde");
	assert_int_equal(sysfile_read(&root, "/proc/sys/b", buf, sizeof(buf), &e), -ENOENT);
	assert_non_null(strstr(e.text, "/proc/sys/b"));
	assert_string_equal(buf, "");
	assert_int_equal(sysfile_read(&root, "/proc/sys", buf, sizeof(buf), &e), -EISDIR);
}

static void test_write(void **state)
{
	struct sysroot root = {*state};
	struct err e = {0};
	char buf[64];
	write_file(*state, "/sys/class/x", "a long old text\n");
	assert_int_equal(sysfile_write(&root, "/sys/class/x", "new", &e), 0);
	assert_int_equal(sysfile_read(&root, "/sys/class/x", buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "new");
	/* Nothing is ever created. */
	assert_int_equal(sysfile_write(&root, "/sys/class/y", "new", &e), -ENOENT);
	assert_false(sysfile_exists(&root, "/sys/class/y"));
	assert_true(sysfile_exists(&root, "/sys/class/x"));
	assert_true(sysfile_writable(&root, "/sys/class/x"));
	assert_false(sysfile_writable(&root, "/sys/class/y"));
	assert_int_equal(sysfile_read(&root, "/sys/class/x", buf, sizeof(buf), &e), 0);
	assert_string_equal(buf, "new"); /* the trial open has changed nothing */
}

static void test_stays_inside(void **state)
{
	struct sysroot root = {*state};
	struct err e = {0};
	char buf[64];
	static const char *const bad[] = {"/etc/passwd",
					  "/proc/../etc/passwd",
					  "/proc/sys/..",
					  "/sys/a/../../etc/passwd",
					  "proc/sys/a",
					  "/proc",
					  "/process/x",
					  "",
					  "/procfs/../proc/sys/a",
					  "../proc/sys/a"};
	write_file(*state, "/etc/passwd", "secret");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(sysfile_read(&root, bad[i], buf, sizeof(buf), &e), -EPERM);
		assert_int_equal(sysfile_write(&root, bad[i], "x", &e), -EPERM);
		assert_false(sysfile_exists(&root, bad[i]));
		assert_false(sysfile_writable(&root, bad[i]));
	}
	/* Two dots within a name are none of this. */
	write_file(*state, "/proc/sys/a..b", "x");
	assert_int_equal(sysfile_read(&root, "/proc/sys/a..b", buf, sizeof(buf), &e), 0);
}

static void test_list(void **state)
{
	struct sysroot root = {*state};
	char names[4][64];
	write_file(*state, "/proc/sys/conf/lo/x", "");
	write_file(*state, "/proc/sys/conf/all/x", "");
	write_file(*state, "/proc/sys/conf/eth0.100/x", "");
	write_file(*state, "/proc/sys/conf/.hidden/x", "");
	assert_int_equal(sysfile_list(&root, "/proc/sys/conf", names, 4), 3);
	assert_string_equal(names[0], "all");
	assert_string_equal(names[1], "eth0.100");
	assert_string_equal(names[2], "lo");
	assert_int_equal(sysfile_list(&root, "/proc/sys/conf", names, 2), 2);
	assert_int_equal(sysfile_list(&root, "/proc/sys/none", names, 4), -ENOENT);
	assert_int_equal(sysfile_list(&root, "/etc", names, 4), -EPERM);
}

static void test_real_machine(void **state)
{
	(void)state;
	struct sysroot root = {""}, null = {NULL};
	char buf[64];
	assert_int_equal(sysfile_read(&root, "/proc/sys/kernel/ostype", buf, sizeof(buf), NULL), 0);
	assert_string_equal(buf, "Linux");
	assert_true(sysfile_exists(&null, "/proc/sys/kernel/ostype"));
	assert_false(sysfile_writable(&root, "/proc/sys/kernel/ostype"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stays_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test(test_real_machine),
	};
	return cmocka_run_group_tests_name("sysfile", tests, NULL, NULL);
}
