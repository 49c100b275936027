/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making, removing, opening and finding network namespaces. It sets nothing up inside them. Used by
 * the launcher (lab, restore), the agent and its sessions (the cookie).
 */
#include "netns.h"
#include "cleanup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define CANDIDATES_MAX 4096

/* /run/netns is made a shared mount, so that names appear in other mount namespaces, too. */
static int prepare_dir(struct err *e)
{
	if (mkdir(NETNS_DIR, 0755) && errno != EEXIST) {
		return err_set(e, errno, "cannot make %s: %s", NETNS_DIR, strerror(errno));
	}
	if (mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) == 0) {
		return 0;
	}
	if (errno != EINVAL || mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL) ||
	    mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL)) {
		return err_set(e, errno, "cannot mount %s: %s", NETNS_DIR, strerror(errno));
	}
	return 0;
}

/* In a child, since the caller has to stay in its own namespace. */
static int bind_new_namespace(const char *path)
{
	pid_t pid = fork();
	if (pid < 0) {
		return -errno;
	}
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) ||
		    mount("/proc/self/ns/net", path, "none", MS_BIND, NULL)) {
			_exit(errno & 0xff);
		}
		_exit(0);
	}
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int netns_create(const char *name, struct err *e)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", NETNS_DIR, name);
	int rc = prepare_dir(e);
	if (rc) {
		return rc;
	}
	auto_close int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0) {
		return err_set(e, errno, "cannot make %s: %s", path, strerror(errno));
	}
	rc = bind_new_namespace(path);
	if (rc) {
		unlink(path);
		return err_set(e, rc, "cannot make the network namespace %s: %s", name,
			       strerror(-rc));
	}
	return 0;
}

void netns_remove(const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", NETNS_DIR, name);
	umount2(path, MNT_DETACH);
	unlink(path);
}

int netns_open(const char *name, struct err *e)
{
	char path[128];
	if (!name[0] || strchr(name, '/') || name[0] == '.') {
		return err_set(e, -EINVAL, "\"%s\" cannot be the name of a network namespace",
			       name);
	}
	snprintf(path, sizeof(path), "%s/%s", NETNS_DIR, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return err_set(e, errno,
			       "there is no network namespace \"%s\" (`ip netns` lists them): %s",
			       name, strerror(errno));
	}
	return fd;
}

uint64_t netns_cookie(void)
{
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t n = sizeof(cookie);
	struct stat st;
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &n)) {
		return stat("/proc/self/ns/net", &st) ? 0 : (uint64_t)st.st_ino;
	}
	return cookie;
}

uint64_t process_start_time(pid_t pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0) {
		return 0;
	}
	text[n] = 0;
	/* The command may hold blanks and brackets: count fields from the last bracket. */
	const char *p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

/* A list of distinct namespaces, by device and inode, as they are open at the same time. */
struct candidates {
	size_t n;
	int error; /* some could not be looked at */
	struct {
		int fd;
		ino_t ino;
		char path[128];
	} at[CANDIDATES_MAX];
};

static void add_candidate(struct candidates *c, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		c->error = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
										 : c->error;
		return;
	}
	bool known = fstat(fd, &st) != 0;
	for (size_t i = 0; !known && i < c->n; i++) {
		known = c->at[i].ino == st.st_ino;
	}
	if (!known && c->n == CANDIDATES_MAX) {
		c->error = -EMFILE;
		known = true;
	}
	if (known) {
		close(fd);
		return;
	}
	c->at[c->n].fd = fd;
	c->at[c->n].ino = st.st_ino;
	snprintf(c->at[c->n].path, sizeof(c->at[c->n].path), "%s", path);
	c->n++;
}

/* mountinfo: ID PARENT MAJ:MIN ROOT MOUNTPOINT ...; the root of a bound namespace is "net:[n]". */
static void add_mounted(struct candidates *c)
{
	auto_fclose FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096], root[256], path[1024];
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %*s %*s %255s %1023s", root, path) == 2 &&
		    strncmp(root, "net:[", 5) == 0) {
			add_candidate(c, path);
		}
	}
}

static void add_processes(struct candidates *c)
{
	DIR *d = opendir("/proc");
	const struct dirent *entry;
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
			char path[300];
			snprintf(path, sizeof(path), "/proc/%s/ns/net", entry->d_name);
			add_candidate(c, path);
		}
	}
	if (d) {
		closedir(d);
	}
}

/* Enters one after the other in a child, which writes the index of the one that matches. */
static int match_cookie(const struct candidates *c, uint64_t cookie)
{
	int p[2];
	if (pipe2(p, O_CLOEXEC)) {
		return -errno;
	}
	auto_close int from = p[0];
	pid_t pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < c->n; i++) {
			if (setns(c->at[i].fd, CLONE_NEWNET) == 0 && netns_cookie() == cookie) {
				_exit(write(p[1], &i, sizeof(i)) != sizeof(i));
			}
		}
		_exit(1);
	}
	close(p[1]);
	if (pid < 0) {
		return -EAGAIN;
	}
	size_t index;
	int found = read(from, &index, sizeof(index)) == sizeof(index) ? (int)index : -ESRCH;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
	return found;
}

/* One a namespace at the same time: a busy host has more than the usual 1024. Returns the limit
 * that was, for programs started later shall have that. */
static struct rlimit allow_many_descriptors(void)
{
	struct rlimit was = {0}, r;
	if (getrlimit(RLIMIT_NOFILE, &was) == 0) {
		r = was;
		r.rlim_cur = r.rlim_max < 2 * CANDIDATES_MAX ? r.rlim_max : 2 * CANDIDATES_MAX;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	return was;
}

int netns_find(uint64_t cookie, char *path, size_t size)
{
	auto_free struct candidates *c = calloc(1, sizeof(*c));
	if (!c) {
		return -ENOMEM;
	}
	struct rlimit was = allow_many_descriptors();
	add_candidate(c, "/proc/self/ns/net");
	add_mounted(c);
	add_processes(c);
	int index = match_cookie(c, cookie);
	int fd = index == -ESRCH && c->error ? c->error : index;
	for (size_t i = 0; i < c->n; i++) {
		if (index == (int)i) {
			fd = c->at[i].fd;
			snprintf(path, size, "%s", c->at[i].path);
		} else {
			close(c->at[i].fd);
		}
	}
	setrlimit(RLIMIT_NOFILE, &was);
	return fd;
}
