/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linked into everything that make coverage builds: lets processes that end by _exit, are killed,
 * or stand behind a system call filter, still write down what they ran. Other builds do not have
 * it.
 */
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
int __real_kill(pid_t pid, int sig);
int __wrap_kill(pid_t pid, int sig);
int __real_seccomp_load(scmp_filter_ctx ctx);
int __wrap_seccomp_load(scmp_filter_ctx ctx);

void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}

static void dump(int sig)
{
	(void)sig;
	__gcov_dump();
}

__attribute__((constructor)) static void wait_for_it(void)
{
	signal(SIGUSR2, dump);
}

/* Who is killed has a moment to write; what is not built so dies of the first signal. */
int __wrap_kill(pid_t pid, int sig)
{
	if (sig == SIGKILL && __real_kill(pid, SIGUSR2) == 0) {
		usleep(100000);
	}
	return __real_kill(pid, sig);
}

/* The filter as it is, and what the counters' files need: test_confine fails in this build. */
int __wrap_seccomp_load(scmp_filter_ctx ctx)
{
	static const int CALLS[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(mkdir),
				    SCMP_SYS(mkdirat)};
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++) {
		seccomp_rule_add(ctx, SCMP_ACT_ALLOW, CALLS[i], 0);
	}
	return __real_seccomp_load(ctx);
}
