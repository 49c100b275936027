/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The embedded lab: two named network namespaces joined by a link with delay, rate, queue and loss.
 * lab_net.h's functions do the netlink part. Called by the launcher only.
 */
#ifndef TUNESWEEP_LAB_H
#define TUNESWEEP_LAB_H

#include "launcher.h"
#include "link_queue.h"

struct lab {
	pid_t owner;
	struct lab_info info;
	pid_t holder; /* keeps the link's namespace; the link itself if user-space */
	struct link_counters *counters; /* [2], shared with the link; of the user-space link */
};

/* Namespaces ts-OWNER-a and -b. run_dir gets a file lab-OWNER first, by which a later run finds
 * what a dead one left. On an error nothing is left. */
int lab_create(struct lab *lab, pid_t owner, const char *run_dir, const struct lab_link *link,
	       struct err *e);
/* For an ordinary user, before the lab: makes the calling process root in a user namespace of its
 * own, with a private /run. What really wants root (RPS, XPS, threaded NAPI, core buffer maxima)
 * is told by the agents there as what cannot be set. -EPERM where that is not allowed. */
int lab_enter_user_namespace(struct err *e);
void lab_destroy(struct lab *lab, const char *run_dir);

/* Removes the namespaces of owners that are dead. Returns how many labs were removed. */
int lab_remove_dead(const char *run_dir);

/* The part over netlink. Both act on the calling process's namespace. */

/* Two veth pairs whose near ends are port0 and port1 here, up, and whose far ends are "eth0" in the
 * namespaces of those descriptors. */
int lab_net_ports(const int netns[2], struct err *e);
/* Loopback up, eth0 with these addresses ("ADDRESS/LENGTH", NULL-terminated) up. */
int lab_net_end(const char *const addresses[], struct err *e);
/* Joins the ports by a bridge with netem and tbf. -EOPNOTSUPP if this kernel has not all of them;
 * nothing is left then. */
int lab_net_netem(const struct lab_link *link, struct err *e);

#endif
