/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps devices, pipes and links from being replaced by files. Writes nothing. Called by all who
 * write a file whole under a name that a user gave.
 */
#include "replace.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int replace_place(const char *path, char *place, struct err *e)
{
	struct stat st;
	if (snprintf(place, PATH_MAX, "%s", path) >= PATH_MAX) {
		return err_set(e, -ENAMETOOLONG, "%.100s...: the path is too long", path);
	}
	if (lstat(path, &st)) { /* it is to be made; what hinders that shows then */
		return 0;
	}
	if (S_ISLNK(st.st_mode) && (!realpath(path, place) || stat(place, &st))) {
		return err_set(e, -errno, "cannot write %s: it is a link, and leads nowhere: %s",
			       path, strerror(errno));
	}
	if (S_ISREG(st.st_mode)) {
		return 0;
	}
	return err_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST,
		       "cannot write %s: it is no file, and is not replaced", path);
}
