/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room for the lab of an ordinary user: a user namespace in which that user is root, and a private
 * /run in it for journals and names of namespaces, which go with the last process. It makes no lab.
 * Called by the launcher, which has one thread.
 */
#include "cleanup.h"
#include "lab.h"
#include "spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int put(const char *path, const char *text, struct err *e)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		return err_set(e, errno, "cannot write %s: %s", path, strerror(errno));
	}
	return 0;
}

/* One user is mapped, as root: programs that are started there keep their capabilities. */
static int map_user(uid_t uid, gid_t gid, struct err *e)
{
	char map[40];
	int rc = put("/proc/self/setgroups", "deny", e);
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
	rc = rc ? rc : put("/proc/self/uid_map", map, e);
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)gid);
	return rc ? rc : put("/proc/self/gid_map", map, e);
}

int lab_enter_user_namespace(struct err *e)
{
	static const char *const TOUCHED[] = {"/run", "/sys", NULL};
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER)) {
		return err_set(e, errno,
			       "the lab makes network namespaces: that wants root, or user "
			       "namespaces, which this machine refuses: %s",
			       strerror(errno));
	}
	int rc = map_user(uid, gid, e);
	if (rc == 0 && (rc = spawn_isolate_mounts(TOUCHED)) != 0) {
		err_set(e, rc, "cannot make a mount namespace: %s", strerror(-rc));
	}
	if (rc == 0 && mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")) {
		rc = err_set(e, errno, "cannot make a /run for the lab: %s", strerror(errno));
	}
	return rc;
}
