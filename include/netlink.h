/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Generic netlink requests that are not tunables: one libnl socket a call, one send-and-wait.
 * Called by the agent.
 */
#ifndef TUNESWEEP_NETLINK_H
#define TUNESWEEP_NETLINK_H

#include "err.h"

/* Empties the tcp_metrics cache of this network namespace. -ENOENT where the kernel has none. */
int netlink_flush_tcp_metrics(struct err *e);

#endif
