/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The folder that a sweep writes to: the one that was asked for, or one of its own below the state
 * directory. Called by the files that write there.
 */
#include "cleanup.h"
#include "cli_run.h"
#include "files.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int run_check_output(const struct run *r, struct err *e)
{
	const char *dir = cli_value(r->c, "output");
	int rc = dir ? files_make_folders(dir, e) : 0;
	if (rc == 0 && dir && access(dir, W_OK | X_OK) < 0) {
		rc = err_set(e, -errno, "-o %s: %s", dir, strerror(errno));
	}
	return rc;
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
