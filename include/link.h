/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lab's user-space link: joins two interfaces of the calling process's namespace with a fixed
 * delay, rate, queue and loss each way, for kernels without netem. Called by the lab in a process
 * of its own.
 */
#ifndef TUNESWEEP_LINK_H
#define TUNESWEEP_LINK_H

#include "launcher.h"
#include "link_queue.h"

/* Opens a raw socket on an interface that exists. Needs CAP_NET_RAW in this namespace. Descriptor
 * or -errno. */
int link_open_port(const char *device, struct err *e);

/* Forwards between the two for ever; wants no privilege any more. Returns only on an error.
 * counters[0] is of port 0 to port 1; they may lie in shared memory. */
int link_forward(const int port[2], const struct lab_link *link, struct link_counters counters[2],
		 struct err *e);

#endif
