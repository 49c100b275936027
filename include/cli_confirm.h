/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apply --confirm: a process of its own session holds the agents with everything set and nothing
 * committed, so that its end, however it comes, puts everything back; a socket in the run folder
 * is the way to tell it. Used by apply (waits), confirm, rollback and status (ask).
 */
#ifndef TUNESWEEP_CLI_CONFIRM_H
#define TUNESWEEP_CLI_CONFIRM_H

#include "cli.h"
#include "targets.h"

/* background.c */

/* Forks. In the child, which belongs to no terminal and whose output goes to this process: -1. In
 * the caller, once the child has called background_ready or has ended: the exit status. Call before
 * anything is opened. */
int background_fork(struct cli *c, struct err *e);
/* The caller may go: everything that was printed and this status have been told. */
void background_ready(struct cli *c, int status);

/* waiter.c */

struct waiter; /* the side that waits */

enum waiter_end {
	WAITER_CONFIRMED, /* committed on all hosts */
	WAITER_ENDED,	  /* time is up, a host was lost, a signal, or told to: nothing was kept */
};

/* Before anything is set, so that a confirm can come through once it is. */
int waiter_open(struct waiter **out, const char *profile, struct err *e);
/* Waits, and keeps the agents awake. reason: one sentence of why it ended. Where it was not
 * confirmed, the agents are ended, and with them goes what they have set; e tells of what could
 * not be put back. */
enum waiter_end waiter_wait(struct waiter *w, struct cli *c, struct targets *t, double seconds,
			    char *reason, size_t size, struct err *e);
void waiter_close(struct waiter *w); /* NULL is allowed */

/* Commits on all hosts; where one refuses, what is on the others goes back. */
int targets_commit(struct targets *t, struct err *e);

/* waiting.c */

/* Every waiting apply of this user: [{"socket", "profile", "until" (seconds since the epoch),
 * "pid", "hosts": [{"name", "via"}]}]. via (may be NULL): only those that hold that host. */
json_t *waiting_list(const char *via);
/* One request, {"op": "confirm" | "rollback"} or {"op": "status", "via": TEXT}, and its answer,
 * which the caller owns. */
int waiting_ask(const json_t *waiting, json_t *request, json_t **answer, struct err *e);

#endif
