/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What controller, agent and endpoints agree on: one JSON object a line, limits and times. A
 * request is {"v":1, "id":n, "op":"...", ...}; the answer {"id":n, "ok":true, ...} or {"id":n,
 * "ok":false, "code":-errno, "class":"system|usage|restore", "error":"sentence"}. An agent that a
 * signal ends says so last: an answer to id 0 with "op":"end" and its "report". Names, devices and
 * values travel, never paths.
 */
#ifndef TUNESWEEP_PROTOCOL_H
#define TUNESWEEP_PROTOCOL_H

#include "err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define PROTOCOL_VERSION      1
#define PROTOCOL_LINE_MAX     65536
#define PROTOCOL_HEARTBEAT_MS 1000
#define PROTOCOL_SILENCE_MS   10000
#define PROTOCOL_CARRIER_MS   8000 /* for which one write that dropped the link waits for it */

/* A pair of descriptors that carries lines, with its read buffer. in and out may be the same. */
struct channel {
	int in, out;
	char *buf; /* PROTOCOL_LINE_MAX */
	size_t used;
};

int channel_init(struct channel *c, int in, int out);
void channel_clear(struct channel *c); /* frees; closes nothing */

/* Writes one object as a line, whole, within PROTOCOL_SILENCE_MS. -EPIPE: the other side is gone.
 */
int channel_send(struct channel *c, const json_t *msg, struct err *e);

/* Reads the next object. 0; -ETIMEDOUT; -EPIPE at end of input; -EBADMSG for what is not one
 * JSON object in at most PROTOCOL_LINE_MAX bytes. timeout_ms 0 polls, -1 waits for ever. */
int channel_recv(struct channel *c, int timeout_ms, json_t **msg, struct err *e);

/* A whole line is waiting in the buffer already (poll the descriptor only if not). */
bool channel_pending(const struct channel *c);

/* The answers' two shapes; id is taken from the request. */
json_t *protocol_ok(const json_t *request);
json_t *protocol_error(const json_t *request, const struct err *e);

/* 0 if the answer is ok, else the error in it. */
int protocol_result(const json_t *answer, struct err *e);

#endif
