/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a night may go on: the window on the clock, and whether somebody else uses the machine. It
 * sets nothing and ends nothing. Called before each measurement of a night.
 */
#include "nightly.h"
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmpx.h>

#define DAY_S	 86400
#define LOOKS	 10
#define LOOK_MS	 100
#define NICS_MAX 256

bool nightly_is_night(const struct nightly_config *c, time_t now, char name[16], double *left)
{
	struct tm tm;
	localtime_r(&now, &tm);
	bool always = c->from == c->to;
	int length = (c->to - c->from + 24 * 60) % (24 * 60);
	int minute = 60 * tm.tm_hour + tm.tm_min;
	int since = always ? minute : (minute - c->from + 24 * 60) % (24 * 60);
	/* Noon of the day on which it began: no change of the clock moves that to another day. */
	tm.tm_mday -= !always && minute < c->from && since < length;
	tm.tm_hour = 12;
	tm.tm_isdst = -1;
	mktime(&tm);
	strftime(name, 16, "%Y-%m-%d", &tm);
	*left = always ? INFINITY : 60.0 * (length - since) - (double)(now % 60);
	return always || since < length;
}

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

/* Bytes in and out of all interfaces but the loopback; the larger way of each. */
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

void nightly_in_use(const struct nightly_limits *l, const struct sysroot *root, bool first,
		    char *why, size_t size)
{
	double minute, runnable, sum = 0;
	*why = '\0';
	if (*l->inhibit && access(l->inhibit, F_OK) == 0) {
		snprintf(why, size, "%.200s forbids it", l->inhibit);
		return;
	}
	int logins = isfinite(l->logins) ? count_logins() : 0;
	if (logins > l->logins) {
		snprintf(why, size, "%d logged in", logins);
		return;
	}
	read_load(root, &minute, &runnable);
	bool waits = isfinite(l->traffic) || (isfinite(l->load) && !first);
	double before = count_bytes(root);
	for (int i = 0; waits && i < LOOKS; i++) {
		poll(NULL, 0, LOOK_MS);
		read_load(root, &minute, &runnable);
		sum += runnable / LOOKS;
	}
	double rate = waits ? 8 * (count_bytes(root) - before) / (LOOKS * LOOK_MS * 1e-3) : 0;
	double load = first ? minute : sum;
	if (load > l->load) {
		snprintf(why, size, "a load of %.2f", load);
	} else if (rate > l->traffic) {
		snprintf(why, size, "traffic of %.3g Mbit/s", rate / 1e6);
	}
}
