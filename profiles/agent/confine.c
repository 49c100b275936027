/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System call filters by libseccomp: one table of calls with the processes that need them, and the
 * few whose arguments are looked at. Numbers are told by name, so that a call that an architecture
 * does not have is left out. Called by the agent, its guardian and the endpoints' child.
 */
#include "confine.h"
#include "cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/socket.h>

#define A   CONFINE_AGENT
#define G   CONFINE_GUARDIAN
#define E   CONFINE_ENDPOINTS
#define ALL (A | G | E)

static const struct {
	unsigned roles;
	const char *calls; /* separated by blanks */
} TABLE[] = {
	/* what libc itself needs, and reading, waiting, the clock */
	{ALL, "brk mmap munmap mremap mprotect madvise futex rt_sigaction rt_sigprocmask "
	      "rt_sigreturn sigaltstack exit exit_group restart_syscall getrandom rseq "
	      "set_robust_list set_tid_address"},
	{ALL, "read readv pread64 write writev close close_range lseek fstat newfstatat stat lstat "
	      "statx access faccessat faccessat2 readlink readlinkat getdents64 fcntl dup dup2 "
	      "dup3 uname"},
	{ALL, "poll ppoll clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday "
	      "getpid gettid getppid getuid geteuid getgid getegid getpgrp prlimit64 getrlimit "
	      "sysinfo sched_yield sched_getaffinity tgkill getcpu"},
	/* settings: files below /proc and /sys, netlink, ethtool's ioctl, locks and the journal */
	{A | G, "open openat flock ftruncate fsync fdatasync pwrite64 mkdir mkdirat rmdir unlink "
		"unlinkat link linkat rename renameat renameat2 chdir umask"},
	{A | G, "bind getsockname connect setsockopt getsockopt sendto sendmsg recvfrom recvmsg "
		"ioctl"},
	/* a guardian is started by the agent, behind its filter, and then takes its own */
	{A | G, "prctl capget capset seccomp setsid setpgid pidfd_open kill pidfd_send_signal"},
	{A, "pipe pipe2 wait4 waitid signalfd4 shutdown"},
	/* streams, in threads; nothing is opened for writing */
	{E,
	 "socketpair bind listen accept accept4 connect shutdown getsockname getpeername "
	 "setsockopt getsockopt sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg sendfile "
	 "splice vmsplice ioctl pipe pipe2 eventfd2 timerfd_create timerfd_settime epoll_create1 "
	 "epoll_ctl epoll_wait epoll_pwait select pselect6"},
	{E, "sched_getattr sched_setattr sched_setaffinity sched_setscheduler sched_getscheduler "
	    "sched_getparam mbind "
	    "set_mempolicy get_mempolicy mlock mlock2 munlock memfd_create getrusage times "
	    "timer_create timer_settime timer_delete clock_adjtime adjtimex prctl"},
};

/* A fork or a thread, and no new namespace. clone3's flags lie in memory where no filter can look:
 * "not there" makes libc take clone. */
static int allow_clone(scmp_filter_ctx ctx, unsigned role)
{
	const scmp_datum_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
					CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
	if (!(role & (A | E))) {
		return 0;
	}
	int rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				  SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces, 0));
	return rc ? rc : seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int allow_sockets(scmp_filter_ctx ctx, unsigned role)
{
	static const int SETTINGS[] = {AF_UNIX, AF_INET, AF_NETLINK};
	static const int STREAMS[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
	const int *families = role & E ? STREAMS : SETTINGS;
	size_t n = role & E ? ARRAY_SIZE(STREAMS) : ARRAY_SIZE(SETTINGS);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i]));
	}
	return rc;
}

static int allow_reading(scmp_filter_ctx ctx, unsigned role)
{
	if (!(role & E)) {
		return 0;
	}
	int rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				  SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, 0));
	return rc ? rc
		  : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
				     SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, 0));
}

static int allow_calls(scmp_filter_ctx ctx, const char *calls)
{
	char list[600], *save = NULL;
	int rc = 0;
	snprintf(list, sizeof(list), "%s", calls);
	for (char *c = strtok_r(list, " ", &save); c && !rc; c = strtok_r(NULL, " ", &save)) {
		int number = seccomp_syscall_resolve_name(c);
		if (number >= 0) {
			rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, number, 0);
		}
	}
	return rc;
}

static int fill(scmp_filter_ctx ctx, unsigned role)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(TABLE); i++) {
		rc = TABLE[i].roles & role ? allow_calls(ctx, TABLE[i].calls) : 0;
	}
	rc = rc ? rc : allow_clone(ctx, role);
	rc = rc ? rc : allow_sockets(ctx, role);
	return rc ? rc : allow_reading(ctx, role);
}

int confine(enum confine_role role, struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!ctx) {
		return err_set(e, -ENOMEM, "cannot make a system call filter");
	}
	/* Older kernels have none of these; without speculation's brake a measured stream would
	 * pay for what no setting of the host makes it pay. */
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_LOG, 1);
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_SSB, 1);
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	int rc = fill(ctx, role);
	rc = rc ? rc : seccomp_load(ctx);
	seccomp_release(ctx);
	if (rc == 0 || rc == -EINVAL || rc == -ENOSYS) { /* or a kernel without filters */
		return 0;
	}
	return err_set(e, rc, "cannot filter system calls: %s", strerror(-rc));
}
