/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of the ethtool back end, which ethtool.c joins: numbers and switches of one attribute,
 * bits by name (features, private flags), and the RSS table. Seen by those files only.
 */
#ifndef TUNESWEEP_TUNABLE_ETHTOOL_H
#define TUNESWEEP_TUNABLE_ETHTOOL_H

#include "netlink_private.h"
#include "tunable_private.h"

/* A message of that command for one interface. header: the attribute that holds it. */
struct nl_msg *ethtool_request(const struct netlink *n, int command, int header, int ifindex);

extern const struct tunable_ops ethtool_number_ops;
extern const struct tunable_ops ethtool_bit_ops;
extern const struct tunable_ops ethtool_rss_ops;

/* Before there are fewer receive queues: a table of RSS that names more of them goes back to the
 * driver's own spread. -EBUSY if that would lose a table that somebody made by hand. */
int ethtool_rss_spare(int ifindex, uint32_t queues, struct err *e);

#endif
