/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The locks of a session: one of each layer in a network namespace, and the kernel's for what all
 * namespaces share. flock on a file that says who holds it: who holds the lock is alive; what the
 * file says is for people. Called by the session's files alone.
 */
#include "cleanup.h"
#include "session_private.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

/* Field 22 of /proc/PID/stat; the name before it may hold blanks and brackets (proc(5)). */
uint64_t session_pid_start(void)
{
	const struct sysroot real = {""};
	char text[1024];
	if (sysfile_read(&real, "/proc/self/stat", text, sizeof(text), NULL)) {
		return 0;
	}
	char *p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

static int lock_path(const char *dir, const char *layer, char *path, struct err *e)
{
	int n = snprintf(path, PATH_MAX, "%s/%s.lock", dir, layer);
	return n < PATH_MAX ? 0 : err_set(e, -ENAMETOOLONG, "%s: the path is too long", dir);
}

static int make_folder(const char *path, struct err *e)
{
	if (mkdir(path, 0755) && errno != EEXIST) {
		return err_set(e, -errno, "cannot make %s: %s", path, strerror(errno));
	}
	return 0;
}

static int busy(int fd, const char *what, struct err *e)
{
	char text[512], when[32] = "an unknown time";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	auto_json json_t *j = json_loads(text, 0, NULL);
	json_int_t since = json_integer_value(json_object_get(j, "since"));
	json_int_t pid = json_integer_value(json_object_get(j, "pid"));
	time_t t = (time_t)since;
	struct tm tm;
	if (since && localtime_r(&t, &tm)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	}
	return err_set(e, -EBUSY, "the %s are held by process %" PRId64 " since %s", what,
		       (int64_t)pid, when);
}

static int busy_layer(int fd, const char *layer, struct err *e)
{
	char what[80];
	snprintf(what, sizeof(what), "%s settings of this network namespace", layer);
	return busy(fd, what, e);
}

/* Opens and locks; 1 if the file was removed by its former holder in between. */
static int try_lock(const char *path, const char *layer, int *out, struct err *e)
{
	struct stat mine, there;
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		return errno == ENOENT
			       ? 1
			       : err_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		return errno == EWOULDBLOCK
			       ? busy_layer(fd, layer, e)
			       : err_set(e, -errno, "cannot lock %s: %s", path, strerror(errno));
	}
	if (fstat(fd, &mine) || stat(path, &there) || mine.st_ino != there.st_ino) {
		return 1;
	}
	*out = take_fd(fd);
	return 0;
}

static void nap(int ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

int session_lock_probe(const char *dir, const char *layer, int wait_ms, struct err *e)
{
	char path[PATH_MAX];
	int r = lock_path(dir, layer, path, e);
	auto_close int fd = r ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return r;
	}
	while (flock(fd, LOCK_SH | LOCK_NB) != 0) {
		if (wait_ms <= 0) {
			return busy_layer(fd, layer, e);
		}
		nap(20);
		wait_ms -= 20;
	}
	return 0;
}

int session_lock(const char *run_dir, const char *dir, const char *layer, int *fd, struct err *e)
{
	char path[PATH_MAX];
	int r = lock_path(dir, layer, path, e);
	for (int tries = 0; !r && tries < 100; tries++) {
		r = make_folder(run_dir, e);
		r = r ? r : make_folder(dir, e);
		if (r) {
			return r;
		}
		r = try_lock(path, layer, fd, e);
		if (r == -EBUSY && tries < 5) {
			nap(10); /* perhaps only a probe */
			r = 0;
			continue;
		}
		if (r <= 0) {
			return r;
		}
		r = 0;
	}
	return r ? r : err_set(e, -EBUSY, "%s is made and removed again and again", path);
}

void session_lock_note(int fd, const char *layer)
{
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "{\"pid\": %d, \"pid_start\": %" PRIu64 ", \"since\": %" PRId64
			 ", \"layer\": \"%s\"}\n",
			 (int)getpid(), session_pid_start(), (int64_t)time(NULL), layer);
	/* For people only: a full disk shows when the journal is made, which follows. */
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n) {
		return;
	}
}

void session_unlock(int fd, const char *dir, const char *layer, bool remove)
{
	char path[PATH_MAX];
	if (remove && !lock_path(dir, layer, path, NULL)) {
		unlink(path); /* while it is held: who has it open already sees that and retries */
		rmdir(dir);   /* fails while the other layer is there */
	}
	close(fd);
}

/* The file stays when it is released: a guardian may hold the same one open. */
int session_lock_kernel(struct session *s, int wait_ms, struct err *e)
{
	char path[PATH_MAX];
	if (s->kernel_fd >= 0) {
		return 0;
	}
	int n = snprintf(path, sizeof(path), "%s/kernel.lock", s->run_dir);
	if (n >= (int)sizeof(path)) {
		return err_set(e, -ENAMETOOLONG, "%s: the path is too long", s->run_dir);
	}
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		return err_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
	}
	for (; flock(fd, LOCK_EX | LOCK_NB); wait_ms -= 20) {
		if (errno != EWOULDBLOCK) {
			return err_set(e, -errno, "cannot lock %s: %s", path, strerror(errno));
		}
		if (wait_ms <= 0) {
			return busy(fd, "vm, kernel, irq, msix and cpu settings of this machine",
				    e);
		}
		nap(20);
	}
	session_lock_note(fd, "kernel");
	s->kernel_fd = take_fd(fd);
	return 0;
}
