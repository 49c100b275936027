/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a program as on a kernel before 5.14, which has no cookies of network namespaces: it and
 * all that it starts is told so by a filter of system calls. Usage: old_kernel PROGRAM
 * [ARGUMENT...]
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

int main(int argc, char **argv)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (argc < 2 || !ctx) {
		return 2;
	}
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0); /* root stays what it is */
	rc = rc ? rc
		: seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(getsockopt), 2,
				   SCMP_A1(SCMP_CMP_EQ, SOL_SOCKET),
				   SCMP_A2(SCMP_CMP_EQ, SO_NETNS_COOKIE));
	rc = rc ? rc : seccomp_load(ctx);
	seccomp_release(ctx);
	if (rc) {
		fprintf(stderr, "old_kernel: no filter: %d\n", rc);
		return 2;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 2;
}
