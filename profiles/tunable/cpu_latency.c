/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of cpu.latency: how long a CPU may take to wake, asked of the kernel (PM QoS) by
 * holding /dev/cpu_dma_latency open. The descriptor is the setting: it stays open in the process
 * that set it, the agent, and the kernel itself takes the wish back when that process ends, however
 * it ends. So nothing is left to a guardian, and nothing can be kept after apply. Called by
 * tunable.c through cpu_latency_ops.
 */
#include "cleanup.h"
#include "tunable_private.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEVICE "/dev/cpu_dma_latency"

enum { NO_WISH = 2000000000 }; /* us; the kernel's own word for none (PM_QOS_CPU_LATENCY_DEFAULT) */

static void path_of(const struct sysroot *root, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s" DEVICE, root->prefix ? root->prefix : "");
}

/* This process's own descriptor of the device, or -1: its table of descriptors is the only place
 * where that is kept. */
static int held(const char *path)
{
	DIR *dir = opendir("/proc/self/fd");
	int fd = -1;
	for (struct dirent *d = dir ? readdir(dir) : NULL; d && fd < 0; d = readdir(dir)) {
		char link[300], target[PATH_MAX];
		snprintf(link, sizeof(link), "/proc/self/fd/%s", d->d_name);
		ssize_t n = readlink(link, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		fd = n > 0 && !strcmp(target, path) ? atoi(d->d_name) : -1;
	}
	if (dir) {
		closedir(dir);
	}
	return fd;
}

/* What all processes together have asked for. */
static int latency_read(const struct sysroot *root, const struct setting *s, char *text,
			size_t size, struct err *e)
{
	char path[PATH_MAX];
	int32_t us;
	path_of(root, path);
	auto_close int own = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (own < 0) {
		return err_set(e, -errno, "%s: cannot open %s: %s", s->name, DEVICE,
			       strerror(errno));
	}
	if (pread(own, &us, sizeof(us), 0) != (ssize_t)sizeof(us)) {
		return err_set(e, -EIO, "%s: %s does not answer", s->name, DEVICE);
	}
	snprintf(text, size, "%" PRId32, us);
	return 0;
}

static int latency_write(const struct sysroot *root, const struct setting *s, const char *text,
			 struct err *e)
{
	char path[PATH_MAX];
	int32_t us = (int32_t)strtol(text, NULL, 10);
	path_of(root, path);
	int fd = held(path);
	if (us >= NO_WISH) {
		return fd < 0 ? 0 : close(fd) ? err_set(e, -errno, "%s", strerror(errno)) : 0;
	}
	auto_close int fresh = fd < 0 ? open(path, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
	if (fd < 0 && fresh < 0) {
		return err_set(e, -errno, "%s: cannot open %s: %s", s->name, DEVICE,
			       strerror(errno));
	}
	if (pwrite(fd < 0 ? fresh : fd, &us, sizeof(us), 0) != (ssize_t)sizeof(us)) {
		return err_set(e, -errno, "%s: %s", s->name, strerror(errno));
	}
	(void)take_fd(fresh); /* held from here on */
	return 0;
}

static int latency_probe(const struct sysroot *root, const struct setting *s, const char *field,
			 struct tunable_range *range, struct err *e)
{
	char path[PATH_MAX], text[32];
	struct err why = {0};
	(void)e;
	path_of(root, path);
	if (latency_read(root, s, text, sizeof(text), &why) ||
	    setting_field(s, field, text, &range->present, &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	range->settable = access(path, W_OK) == 0;
	if (!range->settable) {
		snprintf(range->why_not, sizeof(range->why_not), "read-only here");
	}
	return 0;
}

const struct tunable_ops cpu_latency_ops = {
	.probe = latency_probe,
	.read = latency_read,
	.write = latency_write,
};
