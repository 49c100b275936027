/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel that takes a part of what is written, or refuses only when the file is closed, as
 * managed interrupts do: neither passes for a value that was set.
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
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char prefix[64];
static size_t taken;		     /* at most, of one write */
static int write_error, close_error; /* 0: none */

static ssize_t fake_write(int fd, const void *buf, size_t size)
{
	if (write_error) {
		errno = write_error;
		return -1;
	}
	return write(fd, buf, size < taken ? size : taken);
}

static int fake_close(int fd)
{
	close(fd);
	errno = close_error;
	return close_error ? -1 : 0;
}

#define write(fd, buf, size) fake_write(fd, buf, size)
#define close(fd)	     fake_close(fd)
#include "../../profiles/sysfile.c"
#undef write
#undef close

static int setup(void **state)
{
	(void)state;
	char path[80];
	strcpy(prefix, "/tmp/test-sysfile-XXXXXX");
	if (!mkdtemp(prefix)) {
		return -1;
	}
	snprintf(path, sizeof(path), "%s/proc", prefix);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/proc/x", prefix);
	auto_close int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	taken = SIZE_MAX;
	write_error = close_error = 0;
	return fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	char command[100];
	snprintf(command, sizeof(command), "rm -rf %s", prefix);
	return system(command);
}

static void refused(int code, const char *why)
{
	struct sysroot root = {prefix};
	struct err e = {0};
	assert_int_equal(sysfile_write(&root, "/proc/x", "4096 16384", &e), code);
	if (!strstr(e.text, "cannot write '4096 16384' to /proc/x: ") || !strstr(e.text, why)) {
		fail_msg("%s", e.text);
	}
}

static void test_a_part_is_no_value(void **state)
{
	(void)state;
	struct sysroot root = {prefix};
	struct err e = {0};
	assert_int_equal(sysfile_write(&root, "/proc/x", "4096 16384", &e), 0);
	taken = 4;
	refused(-EIO, strerror(EIO));
}

static void test_refused_when_closed(void **state)
{
	(void)state;
	close_error = EPERM;
	refused(-EPERM, strerror(EPERM));
	write_error = EINVAL; /* the first is told */
	refused(-EINVAL, strerror(EINVAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_part_is_no_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_when_closed, setup, teardown),
	};
	return cmocka_run_group_tests_name("sysfile_faults", tests, NULL, NULL);
}
