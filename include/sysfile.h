/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every access to /proc and /sys, below one root prefix, so that tests can pass a recorded tree.
 * Small text files only. Used by the tunable back ends, the host fingerprint and the CPU meter.
 */
#ifndef TUNESWEEP_SYSFILE_H
#define TUNESWEEP_SYSFILE_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sysroot {
	const char *prefix; /* "" for the real machine, else a folder that holds proc/ and sys/ */
};

/* Reads at most size - 1 bytes and strips the last newline. path begins with /proc or /sys and
 * may not have a ".." component (-EPERM). 0 or -errno. */
int sysfile_read(const struct sysroot *root, const char *path, char *buf, size_t size,
		 struct err *e);

/* For a file that is read over and over: a descriptor, or -errno. */
int sysfile_open(const struct sysroot *root, const char *path, struct err *e);

/* One write(2) of the whole text to an existing file; the errno is the kernel's, also from close.
 */
int sysfile_write(const struct sysroot *root, const char *path, const char *text, struct err *e);

bool sysfile_exists(const struct sysroot *root, const char *path);

/* Where a symbolic link of /sys leads, as a path below the root again ("/sys/devices/..."). -EXDEV
 * for one that leads out of it. */
int sysfile_resolve(const struct sysroot *root, const char *path, char *out, size_t size);
bool sysfile_writable(const struct sysroot *root, const char *path); /* by a trial open, no write */
/* The same; where it is not, why gets the reason in a few words. */
bool sysfile_settable(const struct sysroot *root, const char *path, char *why, size_t size);

bool sysfile_mode(const struct sysroot *root, const char *path, unsigned bits); /* all are set */

/* Entries of a folder whose file holds exactly this text: processes by /proc/PID/comm. Returns how
 * many, at most max; -errno. */
int sysfile_find(const struct sysroot *root, const char *folder, const char *file, const char *text,
		 char (*names)[64], size_t max);

/* Names in a folder, sorted, without those that begin with a dot; longer ones than 63 bytes are
 * left out. Returns how many, at most max; -errno. */
int sysfile_list(const struct sysroot *root, const char *path, char (*names)[64], size_t max);

#endif
