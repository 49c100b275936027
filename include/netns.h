/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named network namespaces as `ip netns` keeps them (a bind mount below /run/netns), the cookie by
 * which the kernel tells namespaces apart, and whether a process of a given start time still
 * lives. Inode numbers of namespaces are reused at once; cookies never within a boot. Used by
 * sessions, agents and the launcher.
 */
#ifndef TUNESWEEP_NETNS_H
#define TUNESWEEP_NETNS_H

#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NETNS_DIR "/run/netns"

/* Makes /run/netns/NAME. It is there for as long as the mount is. -EEXIST if the name is taken. */
int netns_create(const char *name, struct err *e);
/* Takes the name away; the namespace lives on while a process is in it. No error if it is gone. */
void netns_remove(const char *name);
/* Descriptor of /run/netns/NAME, or -errno (-ENOENT with a sentence). The caller closes it. */
int netns_open(const char *name, struct err *e);

/* Cookie of the calling process's namespace. Kernels before 5.14 have none: the inode's number,
 * which is its own while the namespace lives. 0 if neither can be told. */
uint64_t netns_cookie(void);

/* Searches the namespaces that this process can see (bind mounts, then processes) for a cookie.
 * Returns a descriptor, -ESRCH if there is none, or another -errno when it cannot tell. path gets
 * where it was found. */
int netns_find(uint64_t cookie, char *path, size_t size);

/* Start time of a process in clock ticks since boot; 0 if there is no such process. */
uint64_t process_start_time(pid_t pid);

#endif
