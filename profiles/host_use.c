/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Load, log-ins and traffic of this host, watched for a moment. It judges nothing and ends nothing.
 * Called by the agent's operation "use" and by the guard of nights.
 */
#include "host_use.h"
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmpx.h>

enum { LOOKS = 10, LOOK_MS = 100, NICS_MAX = 256 };

static int count_logins(void)
{
	int n = 0;
	const struct utmpx *u;
	setutxent();
	while ((u = getutxent())) {
		n += u->ut_type == USER_PROCESS;
	}
	endutxent();
	return n;
}

static double read_counter(const struct sysroot *root, const char *nic, const char *which)
{
	char path[192], text[32];
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", nic, which);
	return sysfile_read(root, path, text, sizeof(text), NULL) < 0 ? 0 : strtod(text, NULL);
}

static double count_bytes(const struct sysroot *root)
{
	char(*names)[64] = calloc(NICS_MAX, sizeof(*names));
	double in = 0, out = 0;
	int n = names ? sysfile_list(root, "/sys/class/net", names, NICS_MAX) : 0;
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], "lo") != 0) {
			in += read_counter(root, names[i], "rx_bytes");
			out += read_counter(root, names[i], "tx_bytes");
		}
	}
	free(names);
	return fmax(in, out);
}

/* The load of the last minute, and how many processes run right now beside this one. */
static void read_load(const struct sysroot *root, double *minute, double *runnable)
{
	char text[128] = "";
	double load[3] = {0};
	int now = 1;
	if (sysfile_read(root, "/proc/loadavg", text, sizeof(text), NULL) == 0) {
		sscanf(text, "%lf %lf %lf %d/", &load[0], &load[1], &load[2], &now);
	}
	*minute = load[0];
	*runnable = now - 1;
}

static bool is_inhibited(const struct sysroot *root)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s%s", root->prefix ? root->prefix : "", HOST_USE_INHIBIT);
	return access(path, F_OK) == 0;
}

void host_use_look(const struct sysroot *root, bool watch, struct host_use *out)
{
	double minute, runnable, before = watch ? count_bytes(root) : 0;
	*out = (struct host_use){.logins = count_logins(), .inhibited = is_inhibited(root)};
	read_load(root, &out->load, &runnable);
	for (int i = 0; watch && i < LOOKS; i++) {
		poll(NULL, 0, LOOK_MS);
		read_load(root, &minute, &runnable);
		out->runnable += runnable / LOOKS;
	}
	out->traffic = watch ? 8 * (count_bytes(root) - before) / (LOOKS * LOOK_MS * 1e-3) : 0;
}
