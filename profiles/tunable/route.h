/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The routes of one interface as the kernel has told them, and the message that changes one in
 * place. Seen by the route back end only.
 */
#ifndef TUNESWEEP_TUNABLE_ROUTE_H
#define TUNESWEEP_TUNABLE_ROUTE_H

#include "netlink_private.h"
#include "tunable_private.h"
#include <linux/rtnetlink.h>

struct route {
	struct nlmsghdr message[1]; /* and its attributes behind */
};

struct routes {
	int ifindex;
	size_t n, n_others;
	struct route **item;   /* by this interface */
	struct route **others; /* unicast, main table, by other interfaces */
	bool shared;	       /* one of them has the same key as another interface's */
	bool failed;
};

int routes_load(struct netlink *n, int ifindex, struct routes *out, struct err *e);
void routes_clear(struct routes *r);
#define auto_routes __attribute__((cleanup(routes_clear)))

struct nlattr *route_attr(const struct route *r, int type); /* NULL: it has none */

/* The route again, to be replaced in place, without its metrics; NULL: out of memory. */
struct nl_msg *route_change(const struct route *r);

#endif
