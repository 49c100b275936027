/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a night may go on: the window on the clock, and whether somebody else uses this machine or
 * a far one. It sets nothing and ends nothing. Called before each measurement of a night.
 */
#include "json_util.h"
#include "nightly.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

void nightly_judge_use(const struct nightly_limits *l, const struct host_use *u, bool first,
		       char *why, size_t size)
{
	double load = first ? u->load : u->runnable;
	*why = '\0';
	if (u->logins > l->logins) {
		snprintf(why, size, "%.0f logged in", u->logins);
	} else if (load > l->load) {
		snprintf(why, size, "a load of %.2f", load);
	} else if (u->traffic > l->traffic) {
		snprintf(why, size, "traffic of %.3g Mbit/s", u->traffic / 1e6);
	}
}

void nightly_in_use(const struct nightly_limits *l, const struct sysroot *root, bool first,
		    char *why, size_t size)
{
	struct host_use u;
	if (*l->inhibit && access(l->inhibit, F_OK) == 0) {
		snprintf(why, size, "%.200s forbids it", l->inhibit);
		return;
	}
	host_use_look(root, isfinite(l->traffic) || (isfinite(l->load) && !first), &u);
	nightly_judge_use(l, &u, first, why, size);
}

bool nightly_far_use(const struct nightly_limits *l, json_t *use, bool first, char *why,
		     size_t size)
{
	const char *host;
	json_t *one;
	char what[256];
	json_object_foreach(use, host, one)
	{
		struct host_use u = {.load = json_get_number(one, "load"),
				     .runnable = json_get_number(one, "runnable"),
				     .logins = json_get_number(one, "logins"),
				     .traffic = json_get_number(one, "traffic")};
		nightly_judge_use(l, &u, first, what, sizeof(what));
		if (json_is_true(json_object_get(one, "inhibited"))) {
			snprintf(what, sizeof(what), HOST_USE_INHIBIT " forbids it");
		}
		if (*what) {
			snprintf(why, size, "host %.60s is in use: %s", host, what);
			return true;
		}
	}
	return false;
}
