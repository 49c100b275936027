/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a profile wants of one host, held against what is there: which settings can be set, what
 * they hold now, and what would change. Used by apply, diff, verify, capture and export.
 */
#ifndef TUNESWEEP_CHANGES_H
#define TUNESWEEP_CHANGES_H

#include "targets.h"

struct wanted { /* of one setting of a profile, on one host */
	const struct profile_setting *setting;
	struct tunable_range range;
};

/* Asks the host about each of the profile's settings for it. *out is freed by the caller. Those
 * that no apply can keep, and those that cannot be set and are optional, are left out, and noted;
 * all others that cannot be set are one error, before anything is set (with must, else they stay in
 * the list). */
int changes_ask(const struct cli *c, struct target *t, const struct profile *p, bool must,
		struct wanted **out, size_t *n, struct err *e);

/* Adds {"set", "from", "to", "because"} for each value that an apply of the profile would change on
 * this host; because is "profile", or "baseline" for what a former profile set and this one does
 * not name. */
int changes_list(const struct cli *c, struct target *t, const struct profile *p, json_t *list,
		 struct err *e);
void changes_print(const json_t *list);

/* "net.ipv4.tcp_rmem.max@tx", and the device where there is one. */
const char *changes_key(const struct target *t, const struct assignment *a, char *buf, size_t size);

#endif
