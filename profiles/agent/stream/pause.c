/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many pause frames an interface has received and sent: flow control that holds a link back
 * without a loss. From ethtool's pause statistics (netlink), or from the driver's own under a name
 * that is known. What the driver does not count is not told. Called by read.c.
 */
#include "pause.h"
#include "cleanup.h"
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <math.h>
#include <net/if.h>
#include <string.h>

static struct nl_msg *request(const struct netlink *n, unsigned ifindex)
{
	struct nl_msg *msg = netlink_genl(n, ETHTOOL_MSG_PAUSE_GET, 0);
	struct nlattr *head = msg ? nla_nest_start(msg, ETHTOOL_A_PAUSE_HEADER | NLA_F_NESTED)
				  : NULL;
	if (!head || nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, ifindex) ||
	    nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_STATS)) {
		nlmsg_free(msg);
		return NULL;
	}
	nla_nest_end(msg, head);
	return msg;
}

static double count_of(const struct nlattr *a)
{
	uint64_t n;
	if (!a || nla_len(a) < (int)sizeof(n)) {
		return NAN;
	}
	memcpy(&n, nla_data(a), sizeof(n)); /* not aligned to eight bytes */
	return (double)n;
}

static void take(struct nlmsghdr *answer, void *ctx)
{
	struct pause_count *out = ctx;
	struct nlattr *a[ETHTOOL_A_PAUSE_MAX + 1], *s[ETHTOOL_A_PAUSE_STAT_MAX + 1];
	if (nlmsg_parse(answer, GENL_HDRLEN, a, ETHTOOL_A_PAUSE_MAX, NULL) ||
	    !a[ETHTOOL_A_PAUSE_STATS] ||
	    nla_parse_nested(s, ETHTOOL_A_PAUSE_STAT_MAX, a[ETHTOOL_A_PAUSE_STATS], NULL)) {
		return;
	}
	out->rx = count_of(s[ETHTOOL_A_PAUSE_STAT_RX_FRAMES]);
	out->tx = count_of(s[ETHTOOL_A_PAUSE_STAT_TX_FRAMES]);
}

static bool ask_kernel(struct pause_meter *p, struct pause_count *out)
{
	struct err e;
	unsigned ifindex = if_nametoindex(p->device);
	return ifindex &&
	       !netlink_ask(&p->netlink, request(&p->netlink, ifindex), take, out, "pause frames",
			    &e) &&
	       pause_known(out);
}

/* The first look decides who is asked from then on: a count that comes and goes, or begins anew
 * with another source, would pass for growth. */
static void settle(struct pause_meter *p, const char *device, struct pause_count *out)
{
	struct err e;
	snprintf(p->device, sizeof(p->device), "%s", device);
	p->from = PAUSE_NOBODY;
	if (!netlink_open(&p->netlink, ETHTOOL_GENL_NAME, &e) && ask_kernel(p, out)) {
		p->from = PAUSE_KERNEL;
		return;
	}
	netlink_close(&p->netlink);
	if (pause_stats_read(p->device, out)) {
		p->from = PAUSE_DRIVER;
	}
}

static bool read_again(struct pause_meter *p, bool ends, struct pause_count *out)
{
	return p->from == PAUSE_KERNEL ? ask_kernel(p, out)
				       : !ends || pause_stats_read(p->device, out);
}

struct pause_count pause_read(struct pause_meter *p, const char *device, bool ends)
{
	struct pause_count c = {NAN, NAN};
	if (!*device || (p->from != PAUSE_UNASKED && strcmp(p->device, device) != 0)) {
		pause_close(p);
	}
	if (*device && p->from == PAUSE_UNASKED) {
		settle(p, device, &c);
	} else if (p->from > PAUSE_NOBODY && !read_again(p, ends, &c)) {
		pause_close(p);
		p->from = PAUSE_NOBODY;
		snprintf(p->device, sizeof(p->device), "%s", device);
		c = (struct pause_count){NAN, NAN};
	}
	return c;
}

void pause_close(struct pause_meter *p)
{
	netlink_close(&p->netlink);
	*p = (struct pause_meter){0};
}
