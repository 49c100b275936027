/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Netlink for what is not a tunable: clearing caches between trials. It opens one libnl socket a
 * call, so that nothing is kept over a change of namespace. Called by the agent's serve.c.
 */
#include "netlink.h"
#include <errno.h>
#include <linux/tcp_metrics.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

static int flush(struct nl_sock *sk, struct err *e)
{
	int rc = genl_connect(sk);
	if (rc < 0) {
		return err_set(e, -EIO, "generic netlink: %s", nl_geterror(rc));
	}
	int family = genl_ctrl_resolve(sk, TCP_METRICS_GENL_NAME);
	if (family < 0) {
		return err_set(e, -ENOENT, "this kernel has no tcp_metrics");
	}
	/* A delete without an address empties the cache. */
	rc = genl_send_simple(sk, family, TCP_METRICS_CMD_DEL, TCP_METRICS_GENL_VERSION, NLM_F_ACK);
	if (rc >= 0) {
		rc = nl_wait_for_ack(sk);
	}
	if (rc < 0) {
		return err_set(e, rc == -NLE_PERM ? -EPERM : -EIO, "flush of tcp_metrics: %s",
			       nl_geterror(rc));
	}
	return 0;
}

int netlink_flush_tcp_metrics(struct err *e)
{
	struct nl_sock *sk = nl_socket_alloc();
	if (!sk) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = flush(sk, e);
	nl_socket_free(sk);
	return rc;
}
