/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One request to an agent and its answer, for the files of the controller's client alone.
 */
#ifndef TUNESWEEP_CLIENT_PRIVATE_H
#define TUNESWEEP_CLIENT_PRIVATE_H

#include "agent.h"
#include "protocol.h"

#define ANSWER_MS  10000
#define RESTORE_MS 30000 /* many settings, each read back */

struct agent {
	char name[64];
	struct launcher *launcher;
	struct host_via via; /* own copy: to reach the host once more */
	int in, out;
	pid_t pid;
	struct channel channel;
	json_int_t id;
	bool open;  /* something may be set there */
	bool asked; /* an answer is owed: nothing else may be asked */
	int links;  /* settings opened that may drop one, and wait for it when they are put back */
	struct agent *const *others; /* borrowed: agent_wait_with */
	size_t n_others;
	json_t *end; /* its last words, where it left by itself */
	struct agent_info info;
};

/* Takes the request. *answer is the caller's, and there also with an error that the host told. */
int client_call(struct agent *a, const char *op, json_t *request, int timeout_ms, json_t **answer,
		struct err *e);
int client_call_plain(struct agent *a, const char *op, json_t *request, int timeout_ms,
		      struct err *e);

/* For putting back at once whatever may be set there. */
static inline int client_restore_ms(const struct agent *a)
{
	return RESTORE_MS + a->links * PROTOCOL_CARRIER_MS;
}

/* A line that answers nothing may be the agent's last. */
void client_keep_end(struct agent *a, json_t *line);
void client_take_report(const json_t *answer, json_t **report); /* report may be NULL */
/* Frees it without a word to the other side. */
void client_release(struct agent *a);

#endif
