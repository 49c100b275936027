/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pause frames of an interface, by the exchange with a kernel as linux/ethtool_netlink.h and
 * linux/ethtool.h describe it: no network of the tests pauses. The kernel is played: the request is
 * looked at byte for byte, and each answer is what such a kernel sends.
 */
#include "cleanup.h"
#include "err.h"
#include "pause.h"
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#define FAMILY 21

static struct { /* the kernel that is played */
	bool no_family, no_stats;
	int refuses; /* -errno */
	bool has_rx, has_tx;
	uint64_t rx, tx;
	int asked;  /* requests of netlink */
	int opened; /* sockets that were not closed */
	uint8_t sent[64];
	size_t n_sent;	    /* of the last request, from the generic header on */
	const char **names; /* the driver's own statistics; NULL: none */
	const uint64_t *values;
	uint32_t n_values;
	int dumps;
} kernel;

int __wrap_netlink_open(struct netlink *n, const char *genl, struct err *e);
void __wrap_netlink_close(struct netlink *n);
int __wrap_netlink_ask(struct netlink *n, struct nl_msg *msg,
		       void (*visit)(struct nlmsghdr *answer, void *ctx), void *ctx,
		       const char *what, struct err *e);
unsigned __wrap_if_nametoindex(const char *name);
int __wrap_ioctl(int fd, unsigned long request, void *data);

int __wrap_netlink_open(struct netlink *n, const char *genl, struct err *e)
{
	assert_string_equal(genl, "ethtool");
	if (kernel.no_family) {
		return err_set(e, -ENOENT, "this kernel has no %s", genl);
	}
	*n = (struct netlink){.family = FAMILY};
	kernel.opened++;
	return 0;
}

void __wrap_netlink_close(struct netlink *n)
{
	kernel.opened -= n->family != 0;
	*n = (struct netlink){0};
}

unsigned __wrap_if_nametoindex(const char *name)
{
	return strcmp(name, "gone") ? 7 : 0;
}

static void answer(const struct netlink *n, void (*visit)(struct nlmsghdr *, void *), void *ctx)
{
	struct nl_msg *msg = netlink_genl(n, ETHTOOL_MSG_PAUSE_GET_REPLY, 0);
	struct nlattr *head = nla_nest_start(msg, ETHTOOL_A_PAUSE_HEADER | NLA_F_NESTED);
	nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, 7);
	nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, "eth0");
	nla_nest_end(msg, head);
	nla_put_u8(msg, ETHTOOL_A_PAUSE_AUTONEG, 1);
	nla_put_u8(msg, ETHTOOL_A_PAUSE_RX, 1);
	nla_put_u8(msg, ETHTOOL_A_PAUSE_TX, 0);
	if (!kernel.no_stats) { /* what the driver has not set is left out of the nest */
		struct nlattr *stats = nla_nest_start(msg, ETHTOOL_A_PAUSE_STATS | NLA_F_NESTED);
		if (kernel.has_tx) {
			nla_put(msg, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 8, &kernel.tx);
		}
		if (kernel.has_rx) {
			nla_put(msg, ETHTOOL_A_PAUSE_STAT_PAD, 0, NULL);
			nla_put(msg, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 8, &kernel.rx);
		}
		nla_nest_end(msg, stats);
	}
	visit(nlmsg_hdr(msg), ctx);
	nlmsg_free(msg);
}

int __wrap_netlink_ask(struct netlink *n, struct nl_msg *msg,
		       void (*visit)(struct nlmsghdr *answer, void *ctx), void *ctx,
		       const char *what, struct err *e)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	assert_int_equal(h->nlmsg_type, FAMILY);
	kernel.n_sent = (size_t)nlmsg_datalen(h);
	assert_true(kernel.n_sent <= sizeof(kernel.sent));
	memcpy(kernel.sent, nlmsg_data(h), kernel.n_sent);
	nlmsg_free(msg);
	kernel.asked++;
	if (kernel.refuses) {
		return err_set(e, kernel.refuses, "%s: %s", what, strerror(-kernel.refuses));
	}
	answer(n, visit, ctx);
	return 0;
}

/* What the program asks for first, and for each answer it lays out the room itself. */
int __wrap_ioctl(int fd, unsigned long request, void *data)
{
	struct ifreq *r = data;
	uint32_t cmd = *(uint32_t *)(void *)r->ifr_data;
	(void)fd;
	(void)request;
	if (!kernel.names || !strcmp(r->ifr_name, "gone")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (cmd == ETHTOOL_GSSET_INFO) {
		struct ethtool_sset_info *q = (void *)r->ifr_data;
		assert_true(q->sset_mask == 1ULL << ETH_SS_STATS);
		memcpy(q->data, &kernel.n_values, sizeof(kernel.n_values));
	} else if (cmd == ETHTOOL_GSTRINGS) {
		struct ethtool_gstrings *q = (void *)r->ifr_data;
		assert_int_equal(q->string_set, ETH_SS_STATS);
		q->len = kernel.n_values;
		for (uint32_t i = 0; i < q->len; i++) {
			strncpy((char *)q->data + i * ETH_GSTRING_LEN, kernel.names[i],
				ETH_GSTRING_LEN);
		}
	} else {
		struct ethtool_stats *q = (void *)r->ifr_data;
		assert_int_equal(cmd, ETHTOOL_GSTATS);
		q->n_stats = kernel.n_values;
		memcpy(q->data, kernel.values, kernel.n_values * sizeof(uint64_t));
		kernel.dumps++;
	}
	return 0;
}

static int start(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.has_rx = kernel.has_tx = true;
	return 0;
}

/* The interface by its number, and the flag without which no statistics come. */
static void it_is_asked_with_statistics(void **state)
{
	(void)state;
	static const uint8_t get[] = {ETHTOOL_MSG_PAUSE_GET,
				      1,
				      0,
				      0, /* generic header */
				      20,
				      0,
				      ETHTOOL_A_PAUSE_HEADER,
				      0x80,
				      8,
				      0,
				      ETHTOOL_A_HEADER_DEV_INDEX,
				      0,
				      7,
				      0,
				      0,
				      0,
				      8,
				      0,
				      ETHTOOL_A_HEADER_FLAGS,
				      0,
				      ETHTOOL_FLAG_STATS,
				      0,
				      0,
				      0};
	struct pause_meter p = {0};
	kernel.rx = 5000000000; /* more than 32 bits */
	kernel.tx = 3;
	struct pause_count c = pause_read(&p, "eth0", true);
	assert_int_equal(kernel.n_sent, sizeof(get));
	assert_memory_equal(kernel.sent, get, sizeof(get));
	assert_true(c.rx == 5e9 && c.tx == 3);
	kernel.rx += 17;
	c = pause_read(&p, "eth0", false); /* between the ends, too */
	assert_true(c.rx == 5000000017.0 && c.tx == 3);
	assert_int_equal(kernel.opened, 1);
	pause_close(&p);
	assert_int_equal(kernel.opened, 0);
}

/* Unknown is not zero. */
static void what_is_not_counted_is_not_told(void **state)
{
	(void)state;
	struct pause_meter p = {0};
	kernel.has_tx = false;
	kernel.rx = 4;
	struct pause_count c = pause_read(&p, "eth0", true);
	assert_true(c.rx == 4 && isnan(c.tx));
	pause_close(&p);
	kernel.has_rx = false;
	c = pause_read(&p, "eth0", true);
	assert_false(pause_known(&c));
	kernel.no_stats = true;
	pause_close(&p);
	c = pause_read(&p, "eth0", true);
	assert_false(pause_known(&c));
	/* such a driver is not asked at each look */
	int asked = kernel.asked;
	c = pause_read(&p, "eth0", true);
	c = pause_read(&p, "eth0", false);
	assert_false(pause_known(&c));
	assert_int_equal(kernel.asked, asked);
	c = pause_read(&p, "", true);
	assert_false(pause_known(&c));
	assert_int_equal(kernel.opened, 0);
}

/* A source that fails once is not believed again: its next count might begin anew. */
static void a_failure_is_for_good(void **state)
{
	(void)state;
	struct pause_meter p = {0};
	struct pause_count c = pause_read(&p, "eth0", true);
	assert_true(pause_known(&c));
	kernel.refuses = -ENODEV;
	c = pause_read(&p, "eth0", true);
	assert_false(pause_known(&c));
	kernel.refuses = 0;
	c = pause_read(&p, "eth0", true);
	assert_false(pause_known(&c));
	assert_int_equal(kernel.opened, 0);
	/* another interface is another question */
	c = pause_read(&p, "eth1", true);
	assert_true(pause_known(&c));
	pause_close(&p);
	c = pause_read(&p, "gone", true);
	assert_false(pause_known(&c));
	assert_int_equal(kernel.opened, 0);
}

/* As e1000e counts them, XON and XOFF apart; names of others beside them. */
static void drivers_own_names(void **state)
{
	(void)state;
	static const char *names[] = {"rx_packets",	      "rx_flow_control_xon",
				      "rx_flow_control_xoff", "tx_flow_control_xon",
				      "tx_flow_control_xoff", "a_name_of_all_the_32_characters_"};
	static const char *unknown[] = {"rx_packets", "rx_pauses", "x", "y", "z", "tx_pauses"};
	uint64_t values[] = {9, 1, 20, 300, 4000, 5};
	struct pause_meter p = {0};
	kernel.refuses = -EOPNOTSUPP;
	kernel.names = names;
	kernel.values = values;
	kernel.n_values = 6;
	struct pause_count c = pause_read(&p, "eth0", true);
	assert_true(c.rx == 21 && c.tx == 4300);
	/* all must be read for these two, so not between the ends */
	c = pause_read(&p, "eth0", false);
	assert_false(pause_known(&c));
	assert_int_equal(kernel.dumps, 1);
	values[2]++;
	c = pause_read(&p, "eth0", true);
	assert_true(c.rx == 22 && c.tx == 4300);
	pause_close(&p);
	kernel.no_family = true; /* before 5.6 */
	c = pause_read(&p, "eth0", true);
	assert_true(c.rx == 22);
	pause_close(&p);
	kernel.names = unknown;
	c = pause_read(&p, "eth0", true);
	assert_false(pause_known(&c));
	pause_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_is_asked_with_statistics, start),
		cmocka_unit_test_setup(what_is_not_counted_is_not_told, start),
		cmocka_unit_test_setup(a_failure_is_for_good, start),
		cmocka_unit_test_setup(drivers_own_names, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
