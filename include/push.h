/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taking the agent along to a host that has none: the static program goes through the transport's
 * own pipe to a private temporary folder there, which is gone again before it begins to work.
 * Called by the client when a host's via asks for it.
 */
#ifndef TUNESWEEP_PUSH_H
#define TUNESWEEP_PUSH_H

#include "err.h"

#define PUSH_SHELL "sh" /* what the transport is to start there */

/* Sends this program's static agent to the shell behind these pipes and waits until it has become
 * the agent. ERR_SYSTEM with that host's own words (another architecture, no room), -EHOSTDOWN if
 * it leaves or says nothing in time. */
int agent_push(int to, int from, struct err *e);

#endif
