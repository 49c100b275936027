/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filters of system calls: what each kind of process must not do is answered by EPERM, it goes
 * on living, and what it needs still works. Each in a child of its own, since a filter stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "confine.h"
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0 if the child says so, else the line that did not hold. */
static int in_child(enum confine_role role, int (*work)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		struct err e = {0};
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(confine(role, &e) ? 255 : work());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_filtered(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

static int probe(void)
{
	return is_filtered() ? 0 : 1;
}

#define REFUSED(call)                                                                              \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((call) != -1 || errno != EPERM) {                                              \
			return __LINE__ % 250;                                                     \
		}                                                                                  \
	} while (0)
#define WORKS(call)                                                                                \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			return __LINE__ % 250;                                                     \
		}                                                                                  \
	} while (0)

static int refused_to_all(void)
{
	char *argv[] = {(char *)"true", NULL};
	REFUSED(execv("/bin/true", argv));
	REFUSED(unshare(CLONE_NEWNET));
	REFUSED(unshare(CLONE_NEWUSER));
	REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
	REFUSED(setns(0, CLONE_NEWNET));
	REFUSED(mount("none", "/tmp", "tmpfs", 0, NULL));
	REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	REFUSED(socket(AF_PACKET, SOCK_RAW, 0));
	REFUSED(syscall(SYS_bpf, 0, NULL, 0));
	REFUSED(syscall(SYS_init_module, NULL, 0, ""));
	REFUSED(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	REFUSED(syscall(SYS_setuid, 0));
	REFUSED(chmod("/no/such", 0700));
	return 0;
}

static int agent_work(void)
{
	int status, refused = refused_to_all();
	if (refused) {
		return refused;
	}
	WORKS(open("/dev/null", O_WRONLY));
	WORKS(socket(AF_NETLINK, SOCK_RAW, 0));
	pid_t pid = fork();
	WORKS(pid);
	if (pid == 0) {
		_exit(7);
	}
	WORKS(waitpid(pid, &status, 0));
	REFUSED(socket(AF_INET6, SOCK_STREAM, 0));
	return WEXITSTATUS(status) == 7 ? 0 : __LINE__ % 250;
}

static int guardian_work(void)
{
	int refused = refused_to_all();
	if (refused) {
		return refused;
	}
	WORKS(open("/dev/null", O_WRONLY));
	REFUSED(fork());
	return 0;
}

static void *thread(void *arg)
{
	return arg;
}

static int endpoints_work(void)
{
	pthread_t t;
	int refused = refused_to_all();
	if (refused) {
		return refused;
	}
	WORKS(open("/dev/null", O_RDONLY));
	REFUSED(open("/dev/null", O_WRONLY));
	REFUSED(open("/dev/null", O_RDWR));
	REFUSED(open("/tmp/test-confine", O_RDONLY | O_CREAT, 0600));
	REFUSED(unlink("/tmp/test-confine"));
	WORKS(socket(AF_INET, SOCK_STREAM, 0));
	WORKS(socket(AF_INET6, SOCK_DGRAM, 0));
	WORKS(pthread_create(&t, NULL, thread, NULL) ? -1 : 0);
	WORKS(pthread_join(t, NULL) ? -1 : 0);
	REFUSED(kill(getppid(), 0));
	return 0;
}

static void check(enum confine_role role, int (*work)(void))
{
	if (in_child(role, probe)) {
		skip(); /* a kernel without filters */
	}
	int line = in_child(role, work);
	if (line) {
		fail_msg("line %d (modulo 250) does not hold", line);
	}
}

static void test_agent(void **state)
{
	(void)state;
	check(CONFINE_AGENT, agent_work);
}

static void test_guardian(void **state)
{
	(void)state;
	check(CONFINE_GUARDIAN, guardian_work);
}

static void test_endpoints(void **state)
{
	(void)state;
	check(CONFINE_ENDPOINTS, endpoints_work);
}

/* A guardian is forked by an agent that is confined already, and takes its own filter there. */
static int guardian_in_agent(void)
{
	int status;
	pid_t pid = fork();
	WORKS(pid);
	if (pid == 0) {
		struct err e = {0};
		_exit(confine(CONFINE_GUARDIAN, &e) ? 254 : guardian_work());
	}
	WORKS(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 253;
}

static void test_one_in_the_other(void **state)
{
	(void)state;
	check(CONFINE_AGENT, guardian_in_agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_guardian),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_one_in_the_other),
	};
	return cmocka_run_group_tests_name("confine", tests, NULL, NULL);
}
