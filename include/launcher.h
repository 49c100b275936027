/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The small process that alone keeps privilege on the controller's machine. It starts agents,
 * enters namespaces, makes and removes the lab, starts command engines with the invoker's own
 * privileges, and restores what crashed runs left. main forks it first of all; then main drops its
 * own privileges (launcher_drop_privileges).
 */
#ifndef TUNESWEEP_LAUNCHER_H
#define TUNESWEEP_LAUNCHER_H

#include "err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launcher;

enum via_kind { VIA_LOCAL, VIA_LAB, VIA_NETNS, VIA_COMMAND };

struct host_via {
	enum via_kind kind;
	int lab_end;	 /* VIA_LAB: 0 is namespace a, 1 is b */
	char netns[64];	 /* VIA_NETNS: a name under /run/netns */
	char **argv;	 /* VIA_COMMAND: NULL-terminated; what starts the agent is appended */
	char agent[256]; /* agent program on that host; "" for the one beside this program, or where
			    programs are installed */
	bool push;	 /* VIA_COMMAND: take the agent along (push.h) */
};

struct lab_link {	     /* of one direction; both are alike */
	double delay_s;	     /* each way */
	double rate_bps;     /* 0: not limited */
	int64_t queue_bytes; /* 0: the default of 4 MiB */
	double loss;	     /* fraction */
};

struct lab_info {
	char netns[2][64]; /* names under /run/netns: ts-PID-a, ts-PID-b */
	char address[2][64];
	char device[2][16];
	char emulator[16]; /* "netem" or "user-space" */
	pid_t link_pid;	   /* of the user-space link, 0 for netem */
};

/* Forks the launcher, and ignores SIGPIPE from then on. Call before any thread, file or library is
 * opened. */
int launcher_start(struct launcher **out, struct err *e);

/* Empties this process's capabilities, sets no_new_privs and makes /proc/sys and /sys read-only
 * for it in a mount namespace of its own. Nothing to do for an ordinary user. */
int launcher_drop_privileges(struct err *e);

int launcher_open_agent(struct launcher *l, const struct host_via *via, int *in, int *out,
			pid_t *pid, struct err *e);
int launcher_spawn(struct launcher *l, char *const argv[], int *in, int *out, pid_t *pid,
		   struct err *e);
int launcher_kill(struct launcher *l, pid_t pid,
		  struct err *e); /* SIGKILL to the process group of a spawned command */

int launcher_lab_create(struct launcher *l, const struct lab_link *link, struct lab_info *out,
			struct err *e);
int launcher_lab_destroy(struct launcher *l, struct err *e);
double launcher_lab_cpu_seconds(
	struct launcher *l); /* CPU the user-space link has used so far; 0 for netem */

/* What the user-space link has counted, one object a direction: {"frames", "bytes", "queue_drops",
 * "loss_drops", "ring_drops", "send_drops"}; an empty array for netem. ring_drops are the link's
 * own failing: a sample with some is not to be believed. */
int launcher_lab_counters(struct launcher *l, json_t **out, struct err *e);

/* Rolls back every journal whose holder is dead, in every namespace that is still there, discards
 * those of namespaces that are gone, and removes lab namespaces of dead runs. report: array of
 * {"netns", "layer", "items":[...], "note"}; NULL if there was nothing. 0, or ERR_RESTORE. */
int launcher_restore(struct launcher *l, json_t **report, struct err *e);

/* The network namespaces in which a profile is applied (or an apply is under way), whoever asked
 * for it: an array of paths, "" for this process's own. NULL on error. */
int launcher_applied(struct launcher *l, json_t **paths, struct err *e);

/* Ends it: agents get end of input and are waited for, the lab is removed. NULL is allowed. */
void launcher_stop(struct launcher *l);

#endif
