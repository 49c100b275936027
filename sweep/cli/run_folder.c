/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a sweep writes to: the folder that was asked for, or one of its own below the state
 * directory; and whether that, and the store, can be written. Called by cmd_run.c and by the files
 * that write there.
 */
#include "cleanup.h"
#include "cli_run.h"
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two runs that write to one folder would leave a profile of one beside the report of the other.
 * Where the file system has no locks, nobody is kept out. */
static int lock_folder(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return err_set(e, -errno, "-o %s: %s", dir, strerror(errno));
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return err_set(e, -EBUSY,
			       "-o %s: another run is writing to this folder: wait for its end, or "
			       "give another one",
			       dir);
	}
	return fd;
}

int run_check_output(struct run *r, struct err *e)
{
	const char *dir = cli_value(r->c, "output");
	int rc = dir ? files_make_folders(dir, e) : 0;
	if (rc == 0 && dir && access(dir, W_OK | X_OK) < 0) {
		rc = err_set(e, -errno, "-o %s: %s", dir, strerror(errno));
	}
	if (rc == 0 && dir) {
		r->folder_fd = lock_folder(dir, e);
		rc = r->folder_fd < 0 ? r->folder_fd : 0;
	}
	return rc;
}

/* Could this folder be made, or written to? Looked at in what is there of its path. */
static int check_folder(const char *option, const char *dir, struct err *e)
{
	char path[PATH_MAX];
	struct stat st = {0};
	snprintf(path, sizeof(path), "%s%s", *dir == '/' ? "" : "./", dir);
	while (stat(path, &st) < 0 && errno == ENOENT) {
		char *slash = strrchr(path, '/');
		slash[slash == path] = '\0';
	}
	int failed = !S_ISDIR(st.st_mode) ? ENOTDIR : access(path, W_OK | X_OK) < 0 ? errno : 0;
	return failed ? err_set(e, -failed, "--%s %s: %s", option, dir, strerror(failed)) : 0;
}

static int check_store(const struct run *r, struct err *e)
{
	char path[PATH_MAX];
	const char *given = cli_value(r->c, "store");
	struct store *store = NULL;
	int rc = given ? 0 : store_default_path(path, sizeof(path), e);
	if (given) {
		snprintf(path, sizeof(path), "%s%s", *given == '/' ? "" : "./", given);
	}
	if (rc == 0 && access(path, F_OK) == 0) {
		rc = store_open(path, false, &store, e);
		store_close(store);
		bool empty = rc == -ENOENT; /* a file without a byte becomes a store */
		return rc < 0 && !empty ? rc
		       : access(path, W_OK)
			       ? err_set(e, -errno, "--store %s: %s", path, strerror(errno))
			       : 0;
	}
	if (rc == 0) {
		*strrchr(path, '/') = '\0';
		rc = check_folder("store", *path ? path : "/", e);
	}
	return rc;
}

int run_check_places(const struct run *r, struct err *e)
{
	const char *dir = cli_value(r->c, "output");
	int rc = dir ? check_folder("output", dir, e) : 0;
	return rc < 0 ? rc : check_store(r, e);
}

int run_output_folder(const struct run *r, char *dir, size_t size, struct err *e)
{
	const char *given = cli_value(r->c, "output");
	char state[PATH_MAX];
	if (given) {
		snprintf(dir, size, "%s", given);
		return files_make_folders(dir, e);
	}
	int rc = store_default_path(state, sizeof(state), e);
	char *slash = rc == 0 ? strrchr(state, '/') : NULL;
	if (slash) {
		*slash = '\0';
		snprintf(dir, size, "%.3000s/runs/%s", state, r->record.id);
	}
	return rc < 0 ? rc : files_make_folders(dir, e);
}
