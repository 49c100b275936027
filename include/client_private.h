/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One request to an agent and its answer, for the files of the controller's client alone.
 */
#ifndef TUNESWEEP_CLIENT_PRIVATE_H
#define TUNESWEEP_CLIENT_PRIVATE_H

#include "agent.h"

#define ANSWER_MS  10000
#define RESTORE_MS 30000 /* many settings, each read back */

/* Takes the request. *answer is the caller's, and there also with an error that the host told. */
int client_call(struct agent *a, const char *op, json_t *request, int timeout_ms, json_t **answer,
		struct err *e);
int client_call_plain(struct agent *a, const char *op, json_t *request, int timeout_ms,
		      struct err *e);

#endif
