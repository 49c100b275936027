/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of tunesweep-agent: what it holds, its helpers' processes, and its operations. Used by
 * the agent's own files alone.
 */
#ifndef TUNESWEEP_AGENT_PRIVATE_H
#define TUNESWEEP_AGENT_PRIVATE_H

#include "err.h"
#include "irq_watch.h"
#include "policy.h"
#include "protocol.h"
#include "session.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct endpoints { /* the unprivileged child that moves the bytes */
	pid_t pid; /* 0: not started */
	struct channel channel;
	json_int_t id; /* of the last request */
};

struct guardian {
	pid_t pid;  /* 0: none */
	int tell;   /* the agent's end of the pipe */
	bool dirty; /* what it was told last; so at the start */
};

struct agent_options {
	const char *root, *run_dir, *netns_path;
	int silence_ms;
};

#define AGENT_WATCHED_MAX 8 /* devices whose interrupts are counted over a trial */

struct agent_state {
	struct session_place place;
	char netns_path[128];
	int silence_ms;
	int signal_fd;		 /* what ends the agent, and SIGCHLD */
	int input;		 /* the controller's */
	struct policy *policy;	 /* what this host lets be set; NULL: all */
	struct err policy_error; /* why it is not to be trusted: then nothing may be set */
	unsigned allowed;	 /* ALLOW_* that the controller has named */
	char control[64];	 /* address of the other end of the control connection, or "" */
	struct session *session;
	char layer[16], profile[64];
	bool vacant;   /* opened to look only, where not even a run folder can be: no session */
	bool dirty;    /* something was set since the last commit or rollback */
	int guardians; /* how many were started */
	struct endpoints endpoints;
	struct guardian guardian;
	size_t n_watched;
	char watched_devices[AGENT_WATCHED_MAX][IF_NAMESIZE];
	struct irq_watch *watched[AGENT_WATCHED_MAX]; /* NULL: has no interrupts */
	bool leaving;
	int refusals;			/* how many were told */
	void (*note)(const char *line); /* what matters beside the protocol */
};

/* One process that serves until its input ends, silence, or a signal. Returns the exit status;
 * note is told what matters beside the protocol, one line each. */
int agent_serve(int in, int out, const struct agent_options *o, void (*note)(const char *line));

/* Who is at the other end, for the devices that must not lose their link. */
void ops_find_control(struct agent_state *s);

/* Handles one request: fills answer, or returns -errno with the sentence. */
int agent_dispatch(struct agent_state *s, json_t *request, json_t *answer, struct err *e);

/* Rolls an uncommitted session back, lets the guardian go and closes. report may be NULL. */
int agent_finish(struct agent_state *s, json_t **report, struct err *e);

/* Starts the guardian of the open session; it inherits the lock. */
int agent_guard(struct agent_state *s, struct err *e);

/* What a host says of itself; -EXDEV if /sys does not show this namespace's devices. */
int hello_fill(const struct agent_state *s, json_t *answer, struct err *e);

/* Forks the child, while the agent still may change users. No error if it runs already. */
int endpoints_start(struct endpoints *p, struct err *e);
/* One request and its answer. wake_fds: a signalfd and the controller's input; a signal or a
 * hang-up ends the wait with -EINTR, so that a dead controller is seen while a transfer blocks. */
int endpoints_ask(struct endpoints *p, json_t *request, int timeout_ms, const int wake_fds[2],
		  json_t **reply, struct err *e);
void endpoints_stop(struct endpoints *p);

/*
 * The guardian: rolls the agent's session back when the agent is killed. lock_fd and kernel_fd (or
 * -1) are the session's locks, which it goes on holding. It waits for the agent's death alone; then
 * the last state that it was told decides.
 */
int guardian_start(struct guardian *g, const struct session_place *place, const char *layer,
		   int lock_fd, int kernel_fd, struct err *e);
void guardian_tell(struct guardian *g, bool dirty);
/* An orderly end: waits until it has left, so that the lock is free. */
void guardian_end(struct guardian *g);

#endif
