/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the two sides of the launcher: messages over a packet socket, and what only the
 * launcher's own process does. Used by launcher*.c alone.
 */
#ifndef TUNESWEEP_LAUNCHER_PRIVATE_H
#define TUNESWEEP_LAUNCHER_PRIVATE_H

#include "launcher.h"
#include <stddef.h>

#define LAUNCHER_MESSAGE_MAX (160 << 10)
#define LAUNCHER_LINGER_MS   15000 /* how long agents may take to leave */

/* One JSON object a packet, with up to two descriptors. Ownership of descriptors stays with the
 * sender. -EMSGSIZE if the message is too long. */
int wire_send(int sock, const json_t *msg, const int *fds, size_t n, struct err *e);
/* Descriptors that were not sent are -1. -EPIPE: the other side is gone; -ETIMEDOUT. */
int wire_recv(int sock, int timeout_ms, json_t **msg, int fds[2], struct err *e);

/* The launcher's process: serves until end of input, then ends everything. owner: the main
 * process. */
void launcher_serve(int sock, pid_t owner);

/* Path of the agent beside this program, or override if it is not "". */
int launcher_agent_path(const char *override, char *buf, size_t size, struct err *e);

/* See launcher_restore; run_dir is where journals are. report is always an array. */
int launcher_restore_all(const char *run_dir, json_t *report, struct err *e);

/* See launcher_applied; paths is an array. */
int launcher_find_applied(const char *run_dir, json_t *paths, struct err *e);

#endif
