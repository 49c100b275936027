/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The head that every request of generic netlink "ethtool" begins with. Called by the parts of the
 * ethtool back end.
 */
#include "ethtool.h"
#include <linux/ethtool_netlink.h>

struct nl_msg *ethtool_request(const struct netlink *n, int command, int header, int ifindex)
{
	struct nl_msg *msg = netlink_genl(n, command, 0);
	struct nlattr *nest = msg ? nla_nest_start(msg, header | NLA_F_NESTED) : NULL;
	if (!nest || nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)ifindex)) {
		nlmsg_free(msg);
		return NULL;
	}
	nla_nest_end(msg, nest);
	return msg;
}
