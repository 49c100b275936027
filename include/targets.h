/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hosts that a profile command works on: --host NAME=VIA for each, or this machine. Only the
 * profile commands in sweep/cli/ use it.
 */
#ifndef TUNESWEEP_TARGETS_H
#define TUNESWEEP_TARGETS_H

#include "agent.h"
#include "cli.h"
#include "profile.h"

struct target {
	char name[32];	  /* as the profile calls it; "" for a profile that names no host */
	const char *text; /* VIA as it was written; "local" if it was not */
	struct host_via via;
	char *words; /* storage of via.argv */
	struct agent *agent;
};

struct targets {
	struct target items[CLI_HOSTS_MAX];
	size_t n;
};

/* Is it a file, or the name of a profile that is installed? */
bool targets_is_profile(const struct cli *c, const char *word);
/* The profile that the command's first argument names: PATH, or NAME or NAME:ROLE of one that is
 * installed; a role is as --host ROLE=local. */
int targets_load_profile(struct cli *c, struct profile *p, struct err *e);

/* From --host and the profile (may be NULL). A profile of several hosts without --host, and a
 * --host that the profile does not name, are usage errors. Hosts that are not named are noted. */
int targets_init(struct targets *t, const struct cli *c, const struct profile *p, struct err *e);
void targets_clear(struct targets *t);

int targets_connect(struct targets *t, const struct cli *c, struct err *e);

/* Ends all agents: what was not committed is rolled back. The first error stays. */
int targets_close(struct targets *t, struct err *e);

/* Connects to all targets, calls visit for each, and ends the agents. With go_on, a host that fails
 * does not keep the others from being visited. Errors are printed; returns a cli_status. */
int targets_visit(struct cli *c, const struct profile *p, bool go_on,
		  int (*visit)(void *ctx, struct target *t, struct err *e), void *ctx);

/* What a target is called where the profile names none. */
const char *target_name(const struct target *t);

/* The profile's host-scope assignments for one target; returns how many. a has room for
 * p->n_settings. */
size_t target_assignments(const struct target *t, const struct profile *p, struct assignment *a);

extern const struct cli_option target_options[]; /* --host alone, for commands without others */

#endif
