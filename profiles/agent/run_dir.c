/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one place that knows where the run folder is.
 */
#include "run_dir.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *run_dir_default(char *buf, size_t size)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	if (geteuid() == 0) {
		snprintf(buf, size, "/run/tunesweep");
	} else if (xdg && xdg[0] == '/') {
		snprintf(buf, size, "%s/tunesweep", xdg);
	} else {
		snprintf(buf, size, "/run/user/%u/tunesweep", (unsigned)geteuid());
	}
	return buf;
}

/* /run/user/UID is there for who has logged in, not after su, from cron or in a container. */
int run_dir_check(const char *run_dir, struct err *e)
{
	char around[512];
	snprintf(around, sizeof(around), "%s", run_dir);
	char *slash = strrchr(around, '/');
	if (!slash || slash == around) {
		return 0;
	}
	*slash = 0;
	if (access(around, F_OK) == 0 || errno != ENOENT) {
		return 0;
	}
	return err_set(
		e, -ENOENT, "cannot make %s: there is no %s%s", run_dir, around,
		geteuid() == 0 ? "" : "; set XDG_RUNTIME_DIR to a folder that only you can write");
}
