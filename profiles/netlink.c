/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Netlink by libnl: one socket, one send-and-wait, and the clearing of caches between trials.
 * Nothing is kept over a change of namespace. Called by the back ends of devices and by the agent.
 */
#include "netlink.h"
#include "netlink_private.h"
#include <errno.h>
#include <linux/netlink.h>
#include <linux/tcp_metrics.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_SECONDS = 10, BUFFER_BYTES = 64 << 10 };

static int nl_code(int rc)
{
	return rc == -NLE_NOMEM		 ? -ENOMEM
	       : rc == -NLE_PERM	 ? -EPERM
	       : rc == -NLE_OBJ_NOTFOUND ? -ENOENT
	       : rc == -NLE_AGAIN	 ? -ETIMEDOUT
					 : -EIO;
}

int netlink_open(struct netlink *n, const char *genl, struct err *e)
{
	int on = 1;
	struct timeval limit = {.tv_sec = ANSWER_SECONDS};
	*n = (struct netlink){.sk = nl_socket_alloc()};
	if (!n->sk) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = nl_connect(n->sk, genl ? NETLINK_GENERIC : NETLINK_ROUTE);
	if (rc < 0) {
		return err_set(e, nl_code(rc), "netlink: %s", nl_geterror(rc));
	}
	int fd = nl_socket_get_fd(n->sk);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	nl_socket_set_msg_buf_size(n->sk, BUFFER_BYTES);
	if (genl) {
		n->family = genl_ctrl_resolve(n->sk, genl);
		if (n->family < 0) {
			return err_set(e, -ENOENT, "this kernel has no %s", genl);
		}
	}
	return 0;
}

void netlink_close(struct netlink *n)
{
	if (n->sk) {
		nl_socket_free(n->sk);
	}
	n->sk = NULL;
}

struct nl_msg *netlink_rtnl(int type, int flags, const void *header, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
	if (msg && nlmsg_append(msg, (void *)header, size, NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

struct nl_msg *netlink_genl(const struct netlink *n, int command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();
	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, n->family, 0, NLM_F_REQUEST | flags,
				(uint8_t)command, 1)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

struct conversation {
	void (*visit)(struct nlmsghdr *answer, void *ctx);
	void *ctx;
	int code; /* -errno of the kernel */
	char words[160];
	bool done;
};

/* The kernel's own sentence follows its errno, and the head of the message that it refuses. */
static void keep_words(struct conversation *c, const struct nlmsghdr *h, size_t offset)
{
	int left = (int)h->nlmsg_len - (int)(NLMSG_HDRLEN + offset);
	const struct nlattr *attr = (const struct nlattr *)((const char *)h + NLMSG_HDRLEN +
							    NLMSG_ALIGN(offset));
	const struct nlattr *said = (h->nlmsg_flags & NLM_F_ACK_TLVS) && left > 0
					    ? nla_find(attr, left, NLMSGERR_ATTR_MSG)
					    : NULL;
	if (said) {
		snprintf(c->words, sizeof(c->words), "%.*s", nla_len(said),
			 (const char *)nla_data(said));
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct conversation *c = arg;
	(void)from;
	c->code = err->error;
	c->done = true;
	keep_words(c, (struct nlmsghdr *)((char *)err - NLMSG_HDRLEN), sizeof(*err));
	return NL_STOP;
}

static int on_end(struct nl_msg *msg, void *arg)
{
	struct conversation *c = arg;
	struct nlmsghdr *h = nlmsg_hdr(msg);
	c->done = true;
	if (h->nlmsg_type == NLMSG_DONE && nlmsg_datalen(h) >= (int)sizeof(int)) {
		int code;
		memcpy(&code, nlmsg_data(h), sizeof(code));
		c->code = code < 0 ? code : 0;
	}
	return NL_STOP;
}

static int on_answer(struct nl_msg *msg, void *arg)
{
	struct conversation *c = arg;
	if (c->visit) {
		c->visit(nlmsg_hdr(msg), c->ctx);
	}
	return NL_OK;
}

static int converse(struct netlink *n, struct nl_msg *msg, struct conversation *c)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!cb) {
		return -NLE_NOMEM;
	}
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, c);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_end, c);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_end, c);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_answer, c);
	int rc = nl_send_auto(n->sk, msg);
	while (rc >= 0 && !c->done) {
		rc = nl_recvmsgs(n->sk, cb);
	}
	nl_cb_put(cb);
	return rc < 0 && !c->done ? rc : 0;
}

int netlink_ask(struct netlink *n, struct nl_msg *msg,
		void (*visit)(struct nlmsghdr *answer, void *ctx), void *ctx, const char *what,
		struct err *e)
{
	struct conversation c = {.visit = visit, .ctx = ctx};
	if (!msg) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP)) {
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_ACK;
	}
	int rc = converse(n, msg, &c);
	nlmsg_free(msg);
	if (rc < 0) {
		return err_set(e, nl_code(rc), "%s: netlink: %s", what, nl_geterror(rc));
	}
	if (c.code) {
		return err_set(e, c.code, "%s: %s%s%s%s", what, strerror(-c.code),
			       *c.words ? " (" : "", c.words, *c.words ? ")" : "");
	}
	return 0;
}

int netlink_flush_tcp_metrics(struct err *e)
{
	auto_netlink struct netlink n = {0};
	int rc = netlink_open(&n, TCP_METRICS_GENL_NAME, e);
	/* A delete without an address empties the cache. */
	return rc ? rc
		  : netlink_ask(&n, netlink_genl(&n, TCP_METRICS_CMD_DEL, 0), NULL, NULL,
				"flush of tcp_metrics", e);
}
