/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folders and JSON files of results. Knows nothing of what is in them.
 */
#include "files.h"
#include "cleanup.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int files_make_folders(const char *path, struct err *e)
{
	char part[PATH_MAX];
	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part)) {
		return err_set(e, -ENAMETOOLONG, "%s: too long", path);
	}
	for (char *p = part + 1;; p++) {
		char c = *p;
		if (c != '/' && c != '\0') {
			continue;
		}
		*p = '\0';
		struct stat st;
		if (mkdir(part, 0755) < 0 && (errno != EEXIST || stat(part, &st) < 0 ||
					      (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)))) {
			return err_set(e, -errno, "%s: %s", part, strerror(errno));
		}
		if (c == '\0') {
			return 0;
		}
		*p = c;
	}
}

static int write_synced(const char *path, const json_t *j)
{
	auto_fclose FILE *f = fopen(path, "we");
	errno = f ? 0 : errno;
	return f && json_dumpf(j, f, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0 &&
			       fputc('\n', f) != EOF && fflush(f) == 0 && fsync(fileno(f)) == 0
		       ? 0
		       : -(errno ? errno : EIO);
}

int files_save_json(const char *path, const json_t *j, struct err *e)
{
	char part[PATH_MAX];
	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part)) {
		return err_set(e, -ENAMETOOLONG, "%s: too long", path);
	}
	int rc = write_synced(part, j);
	if (rc == 0 && rename(part, path) < 0) {
		rc = -errno;
	}
	if (rc < 0) {
		unlink(part);
		return err_set(e, rc, "%s: %s", path, strerror(-rc));
	}
	return 0;
}

int files_load_json(const char *path, json_t **out, struct err *e)
{
	json_error_t why;
	auto_fclose FILE *f = fopen(path, "re");
	if (!f) {
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	}
	*out = json_loadf(f, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(*out)) {
		return 0;
	}
	int line = *out ? 1 : why.line;
	json_decref(*out);
	*out = NULL;
	return err_usage(e, "%s:%d: this is no JSON object", path, line);
}
