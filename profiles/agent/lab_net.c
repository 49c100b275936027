/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lab's devices, addresses and queueing disciplines by libnl-route, in the calling process's
 * network namespace. It makes no namespaces and no processes; lab.c does.
 */
#include "lab.h"
#include <errno.h>
#include <linux/if_addr.h>
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/bridge.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/netem.h>
#include <netlink/route/qdisc/tbf.h>
#include <netlink/route/tc.h>
#include <netlink/socket.h>

#define LAB_MTU	     1500
#define GSO_BURST    (256 << 10) /* tbf must let the largest frames through uncut */
#define NETEM_FRAMES 1000000	 /* netem counts frames; the byte queue is tbf's */

static int nl_fail(struct err *e, int rc, const char *what)
{
	return err_set(e, rc == -NLE_PERM ? -EPERM : -EIO, "lab: %s: %s", what, nl_geterror(rc));
}

static struct nl_sock *open_route(struct err *e)
{
	struct nl_sock *sk = nl_socket_alloc();
	int rc = sk ? nl_connect(sk, NETLINK_ROUTE) : -NLE_NOMEM;
	if (rc < 0) {
		nl_socket_free(sk);
		nl_fail(e, rc, "netlink");
		return NULL;
	}
	return sk;
}

static int change_link(struct nl_sock *sk, const char *device, struct rtnl_link *change)
{
	struct rtnl_link *link = NULL;
	int rc = rtnl_link_get_kernel(sk, 0, device, &link);
	if (rc == 0) {
		rc = rtnl_link_change(sk, link, change, 0);
	}
	rtnl_link_put(link);
	return rc;
}

static int set_up(struct nl_sock *sk, const char *device)
{
	struct rtnl_link *change = rtnl_link_alloc();
	rtnl_link_set_flags(change, IFF_UP);
	int rc = change_link(sk, device, change);
	rtnl_link_put(change);
	return rc;
}

static int add_veth(struct nl_sock *sk, const char *name, int netns)
{
	struct rtnl_link *near = rtnl_link_veth_alloc(), *far = rtnl_link_veth_get_peer(near);
	rtnl_link_set_name(near, name);
	rtnl_link_set_mtu(near, LAB_MTU);
	rtnl_link_set_name(far, "eth0");
	rtnl_link_set_mtu(far, LAB_MTU);
	rtnl_link_set_ns_fd(far, netns);
	int rc = rtnl_link_add(sk, near, NLM_F_CREATE | NLM_F_EXCL);
	rtnl_link_put(far);
	rtnl_link_put(near);
	return rc;
}

int lab_net_ports(const int netns[2], struct err *e)
{
	static const char *const NAMES[] = {"port0", "port1"};
	struct nl_sock *sk = open_route(e);
	if (!sk) {
		return -EIO;
	}
	int rc = 0;
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = add_veth(sk, NAMES[i], netns[i]);
		if (rc == 0) {
			rc = set_up(sk, NAMES[i]);
		}
	}
	nl_socket_free(sk);
	return rc < 0 ? nl_fail(e, rc, "cannot make the veth pairs") : 0;
}

static int add_address(struct nl_sock *sk, int ifindex, const char *text)
{
	struct nl_addr *local = NULL;
	struct rtnl_addr *addr = rtnl_addr_alloc();
	int rc = nl_addr_parse(text, AF_UNSPEC, &local);
	if (rc == 0) {
		rtnl_addr_set_ifindex(addr, ifindex);
		rc = rtnl_addr_set_local(addr, local);
		if (nl_addr_get_family(local) == AF_INET6) {
			rtnl_addr_set_flags(addr, IFA_F_NODAD); /* usable at once */
		}
	}
	if (rc == 0) {
		rc = rtnl_addr_add(sk, addr, 0);
	}
	nl_addr_put(local);
	rtnl_addr_put(addr);
	return rc;
}

int lab_net_end(const char *const addresses[], struct err *e)
{
	struct nl_sock *sk = open_route(e);
	if (!sk) {
		return -EIO;
	}
	int rc = set_up(sk, "lo");
	if (rc == 0) {
		rc = set_up(sk, "eth0");
	}
	for (size_t i = 0; rc == 0 && addresses[i]; i++) {
		rc = add_address(sk, (int)if_nametoindex("eth0"), addresses[i]);
		if (rc == -NLE_OPNOTSUPP || rc == -NLE_PERM || rc == -NLE_AF_NOSUPPORT) {
			rc = i == 0 ? rc : 0; /* a kernel without IPv6: the first is IPv4 */
		}
	}
	nl_socket_free(sk);
	return rc < 0 ? nl_fail(e, rc, "cannot set up an end") : 0;
}

static int add_bridge(struct nl_sock *sk)
{
	static const char *const PORTS[] = {"port0", "port1"};
	struct rtnl_link *br = rtnl_link_bridge_alloc();
	rtnl_link_set_name(br, "line");
	int rc = rtnl_link_add(sk, br, NLM_F_CREATE | NLM_F_EXCL);
	rtnl_link_put(br);
	for (int i = 0; i < 2 && rc == 0; i++) {
		struct rtnl_link *change = rtnl_link_alloc();
		rtnl_link_set_master(change, (int)if_nametoindex("line"));
		rc = change_link(sk, PORTS[i], change);
		rtnl_link_put(change);
	}
	return rc == 0 ? set_up(sk, "line") : rc;
}

static struct rtnl_qdisc *new_qdisc(int ifindex, const char *kind, uint32_t parent, uint32_t handle)
{
	struct rtnl_qdisc *q = rtnl_qdisc_alloc();
	rtnl_tc_set_ifindex(TC_CAST(q), ifindex);
	rtnl_tc_set_parent(TC_CAST(q), parent);
	rtnl_tc_set_handle(TC_CAST(q), handle);
	if (rtnl_tc_set_kind(TC_CAST(q), kind) < 0) {
		rtnl_qdisc_put(q);
		return NULL;
	}
	return q;
}

static int add_delay(struct nl_sock *sk, int ifindex, const struct lab_link *link)
{
	struct rtnl_qdisc *q = new_qdisc(ifindex, "netem", TC_H_ROOT, TC_HANDLE(1, 0));
	if (!q) {
		return -NLE_OPNOTSUPP;
	}
	rtnl_netem_set_delay(q, (int)(link->delay_s * 1e6));
	rtnl_netem_set_limit(q, NETEM_FRAMES);
	if (link->loss > 0) {
		rtnl_netem_set_loss(q, (int)(link->loss * 4294967295.0));
	}
	int rc = rtnl_qdisc_add(sk, q, NLM_F_CREATE | NLM_F_EXCL);
	rtnl_qdisc_put(q);
	return rc;
}

static int add_rate(struct nl_sock *sk, int ifindex, const struct lab_link *link)
{
	if (link->rate_bps <= 0) {
		return 0;
	}
	struct rtnl_qdisc *q = new_qdisc(ifindex, "tbf", TC_HANDLE(1, 1), TC_HANDLE(2, 0));
	if (!q) {
		return -NLE_OPNOTSUPP;
	}
	rtnl_qdisc_tbf_set_rate(q, (int)(link->rate_bps / 8), GSO_BURST, 0);
	rtnl_qdisc_tbf_set_limit(
		q, (int)(link->queue_bytes > 0 ? link->queue_bytes : LINK_QUEUE_BYTES));
	int rc = rtnl_qdisc_add(sk, q, NLM_F_CREATE | NLM_F_EXCL);
	rtnl_qdisc_put(q);
	return rc;
}

static void remove_all(struct nl_sock *sk)
{
	struct rtnl_link *br = NULL;
	for (int i = 0; i < 2; i++) {
		int ifindex = (int)if_nametoindex(i ? "port1" : "port0");
		struct rtnl_qdisc *q = new_qdisc(ifindex, "netem", TC_H_ROOT, TC_HANDLE(1, 0));
		if (q) {
			rtnl_qdisc_delete(sk, q);
			rtnl_qdisc_put(q);
		}
	}
	if (rtnl_link_get_kernel(sk, 0, "line", &br) == 0) {
		rtnl_link_delete(sk, br);
		rtnl_link_put(br);
	}
}

int lab_net_netem(const struct lab_link *link, struct err *e)
{
	struct nl_sock *sk = open_route(e);
	if (!sk) {
		return -EIO;
	}
	int rc = 0;
	for (int i = 0; i < 2 && rc == 0; i++) {
		int ifindex = (int)if_nametoindex(i ? "port1" : "port0");
		rc = add_delay(sk, ifindex, link);
		if (rc == 0) {
			rc = add_rate(sk, ifindex, link);
		}
	}
	if (rc == 0) {
		rc = add_bridge(sk);
	}
	if (rc < 0) {
		remove_all(sk);
	}
	nl_socket_free(sk);
	return rc < 0 ? err_set(e, -EOPNOTSUPP, "no netem here: %s", nl_geterror(rc)) : 0;
}
