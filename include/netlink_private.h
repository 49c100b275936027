/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One libnl socket, one send-and-wait: the kernel's own errno and sentence, each answer handed to a
 * visitor. For the back ends of devices, their counters and the caches between trials; it knows no
 * tunable.
 */
#ifndef TUNESWEEP_NETLINK_PRIVATE_H
#define TUNESWEEP_NETLINK_PRIVATE_H

#include "err.h"
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

struct netlink {
	struct nl_sock *sk;
	int family; /* of generic netlink; 0: rtnetlink */
};

/* genl: the name of a generic family, or NULL for rtnetlink. -ENOENT: the kernel lacks the family.
 */
int netlink_open(struct netlink *n, const char *genl, struct err *e);
void netlink_close(struct netlink *n);
#define auto_netlink __attribute__((cleanup(netlink_close)))

/* A message with the family's header in front; NULL: out of memory. */
struct nl_msg *netlink_rtnl(int type, int flags, const void *header, size_t size);
struct nl_msg *netlink_genl(const struct netlink *n, int command, int flags);

/* Sends, waits for the acknowledgement (or the end of a dump), frees the message. visit (may be
 * NULL) is called with each answer. -errno of the kernel, and its own words if it has any. */
int netlink_ask(struct netlink *n, struct nl_msg *msg,
		void (*visit)(struct nlmsghdr *answer, void *ctx), void *ctx, const char *what,
		struct err *e);

#endif
