/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading and writing the small text files of /proc and /sys, below a root prefix. It knows no
 * tunable. Called by the back ends, the fingerprint and the CPU meter; nobody else opens files
 * there.
 */
#include "sysfile.h"
#include "cleanup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The path below the prefix; -EPERM for what leaves /proc and /sys. */
static int full_path(const struct sysroot *root, const char *path, char *out, size_t size)
{
	if (strncmp(path, "/proc/", 6) && strncmp(path, "/sys/", 5)) {
		return -EPERM;
	}
	for (const char *p = path; p; p = strchr(p, '/')) {
		p++;
		if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2])) {
			return -EPERM;
		}
	}
	int n = snprintf(out, size, "%s%s", root && root->prefix ? root->prefix : "", path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int open_path(const struct sysroot *root, const char *path, int flags)
{
	char full[PATH_MAX];
	int r = full_path(root, path, full, sizeof(full));
	if (r) {
		return r;
	}
	/* O_NONBLOCK: some files under /proc wait for events. */
	int fd = open(full, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int sysfile_open(const struct sysroot *root, const char *path, struct err *e)
{
	int fd = open_path(root, path, O_RDONLY);
	return fd < 0 ? err_set(e, fd, "cannot read %s: %s", path, strerror(-fd)) : fd;
}

int sysfile_read(const struct sysroot *root, const char *path, char *buf, size_t size,
		 struct err *e)
{
	size_t used = 0;
	*buf = 0;
	auto_close int fd = open_path(root, path, O_RDONLY);
	if (fd < 0) {
		return err_set(e, fd, "cannot read %s: %s", path, strerror(-fd));
	}
	while (used < size - 1) {
		ssize_t n = read(fd, buf + used, size - 1 - used);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			*buf = 0;
			return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
		}
		if (!n) {
			break;
		}
		used += (size_t)n;
	}
	used -= used && buf[used - 1] == '\n';
	buf[used] = 0;
	return 0;
}

int sysfile_write(const struct sysroot *root, const char *path, const char *text, struct err *e)
{
	int fd = open_path(root, path, O_WRONLY | O_TRUNC);
	if (fd < 0) {
		return err_set(e, fd, "cannot write %s: %s", path, strerror(-fd));
	}
	size_t size = strlen(text);
	ssize_t n = write(fd, text, size);
	int r = n < 0 ? -errno : (size_t)n < size ? -EIO : 0;
	if (close(fd) && !r) {
		r = -errno;
	}
	return r ? err_set(e, r, "cannot write '%s' to %s: %s", text, path, strerror(-r)) : 0;
}

int sysfile_resolve(const struct sysroot *root, const char *path, char *out, size_t size)
{
	char full[PATH_MAX], target[PATH_MAX], top[PATH_MAX];
	int r = full_path(root, path, full, sizeof(full));
	if (r || !realpath(full, target)) {
		return r ? r : -errno;
	}
	bool real = !root || !root->prefix || !*root->prefix;
	if (!real && !realpath(root->prefix, top)) {
		return -errno;
	}
	size_t skip = real ? 0 : strlen(top);
	if ((!real && strncmp(target, top, skip)) ||
	    (strncmp(target + skip, "/sys/", 5) && strncmp(target + skip, "/proc/", 6))) {
		return -EXDEV;
	}
	int n = snprintf(out, size, "%s", target + skip);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

bool sysfile_exists(const struct sysroot *root, const char *path)
{
	char full[PATH_MAX];
	struct stat st;
	return !full_path(root, path, full, sizeof(full)) && !stat(full, &st);
}

bool sysfile_writable(const struct sysroot *root, const char *path)
{
	auto_close int fd = open_path(root, path, O_WRONLY);
	return fd >= 0;
}

bool sysfile_settable(const struct sysroot *root, const char *path, char *why, size_t size)
{
	auto_close int fd = open_path(root, path, O_WRONLY);
	if (fd < 0) {
		bool user = (fd == -EACCES || fd == -EPERM) && geteuid() != 0;
		snprintf(why, size, user ? "root is needed" : "read-only here");
	}
	return fd >= 0;
}

bool sysfile_mode(const struct sysroot *root, const char *path, unsigned bits)
{
	char full[PATH_MAX];
	struct stat st;
	return !full_path(root, path, full, sizeof(full)) && !stat(full, &st) &&
	       (st.st_mode & bits) == bits;
}

static DIR *open_folder(const struct sysroot *root, const char *path)
{
	char full[PATH_MAX];
	int r = full_path(root, path, full, sizeof(full));
	errno = r ? -r : errno;
	return r ? NULL : opendir(full);
}

int sysfile_find(const struct sysroot *root, const char *folder, const char *file, const char *text,
		 char (*names)[64], size_t max)
{
	char path[PATH_MAX], held[256];
	size_t n = 0;
	DIR *dir = open_folder(root, folder);
	if (!dir) {
		return -errno;
	}
	for (struct dirent *d = readdir(dir); d && n < max; d = readdir(dir)) {
		snprintf(path, sizeof(path), "%.512s/%.255s/%.64s", folder, d->d_name, file);
		if (d->d_name[0] != '.' && strlen(d->d_name) < sizeof(names[0]) &&
		    !sysfile_read(root, path, held, sizeof(held), NULL) && !strcmp(held, text)) {
			strcpy(names[n++], d->d_name);
		}
	}
	closedir(dir);
	return (int)n;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int sysfile_list(const struct sysroot *root, const char *path, char (*names)[64], size_t max)
{
	DIR *dir = open_folder(root, path);
	if (!dir) {
		return -errno;
	}
	size_t n = 0;
	for (struct dirent *d = readdir(dir); d && n < max; d = readdir(dir)) {
		if (d->d_name[0] != '.' && strlen(d->d_name) < sizeof(names[0])) {
			strcpy(names[n++], d->d_name);
		}
	}
	closedir(dir);
	qsort(names, n, sizeof(names[0]), by_name);
	return (int)n;
}
