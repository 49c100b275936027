/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one place that knows where the run folder is.
 */
#include "run_dir.h"
#include <stdio.h>
#include <stdlib.h>
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
