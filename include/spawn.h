/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starting another program with pipes for its standard input and output, in a process group of its
 * own, and, if wanted, in another network namespace with a sysfs that shows it. Used by the
 * launcher.
 */
#ifndef TUNESWEEP_SPAWN_H
#define TUNESWEEP_SPAWN_H

#include "err.h"
#include <sys/types.h>

struct spawned {
	pid_t pid;
	int in;	 /* to write: the program's standard input */
	int out; /* to read: its standard output */
};

/* argv[0] is searched in PATH. netns_fd: -1 for this namespace. The error says which step failed,
 * also when it is the program that is not there. Standard error and the working folder are
 * inherited; LC_ALL is C; signals are as a program expects them. It gets SIGTERM when the caller
 * dies. */
int spawn_program(char *const argv[], int netns_fd, struct spawned *out, struct err *e);

/* Gives the calling process a mount namespace of its own, in which mounts on these paths
 * (NULL-terminated) do not reach the machine's; those of the machine still arrive. 0 or -errno. */
int spawn_isolate_mounts(const char *const paths[]);

#endif
