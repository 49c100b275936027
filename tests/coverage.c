/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linked into everything that make coverage builds: lets processes that end by _exit, are killed,
 * or stand behind a system call filter, still write down what they ran. Other builds do not have
 * it.
 */
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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

/* Ignored from then on, which whoever kills it sees. */
static void dump(int sig)
{
	__gcov_dump();
	signal(sig, SIG_IGN);
}

__attribute__((constructor)) static void wait_for_it(void)
{
	signal(SIGUSR2, dump);
}

/* It has written, is dead, or never would. */
static bool is_ready(pid_t pid)
{
	char path[64], line[256];
	unsigned long long ignored = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	bool dead = !f;
	while (f && fgets(line, sizeof(line), f)) {
		dead |= strncmp(line, "State:\tZ", 8) == 0;
		sscanf(line, "SigIgn: %llx", &ignored);
	}
	if (f) {
		fclose(f);
	}
	return dead || (ignored >> (SIGUSR2 - 1) & 1);
}

/* Who is killed has a moment to write, so that no file is left half written; what is not built so
 * dies of the first signal, and what stands still does not get for ever. */
int __wrap_kill(pid_t pid, int sig)
{
	if (sig == SIGKILL && __real_kill(pid, SIGUSR2) == 0) {
		for (int waited = 0; waited < 1000 && !is_ready(pid < 0 ? -pid : pid);
		     waited += 5) {
			usleep(5000);
		}
	}
	return __real_kill(pid, sig);
}

/* The filter as it is, and what the counters' files need: gcov opens them just so, and nothing else
 * that is confined does. */
int __wrap_seccomp_load(scmp_filter_ctx ctx)
{
	const scmp_datum_t how = O_RDWR | O_CREAT;
	seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_EQ, how));
	seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_EQ, how));
	return __real_seccomp_load(ctx);
}
