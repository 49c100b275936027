/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no machine of the tests has, and kernels before 6.8 cannot set: nic.rings.tcp_data_split, by
 * the exchange with a kernel as linux/ethtool_netlink.h describes it. The kernel is played: each
 * request is looked at byte for byte, and each answer is what such a kernel sends.
 */
#include "setting_fixture.h"
#include "sysroot_fixture.h"

#include "netlink_private.h"
#include "tunable.h"
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#define FAMILY 21

static struct sysroot root;

static struct {	       /* the kernel that is played */
	uint8_t split; /* ETHTOOL_TCP_DATA_SPLIT_* */
	int refuses;   /* -errno of every request to set */
	int sets;      /* how many came */
	uint8_t sent[256];
	size_t n_sent; /* of the last request, from the generic header on */
} kernel;

int __wrap_netlink_open(struct netlink *n, const char *genl, struct err *e);
int __wrap_netlink_ask(struct netlink *n, struct nl_msg *msg,
		       void (*visit)(struct nlmsghdr *answer, void *ctx), void *ctx,
		       const char *what, struct err *e);

int __wrap_netlink_open(struct netlink *n, const char *genl, struct err *e)
{
	(void)e;
	assert_string_equal(genl, "ethtool");
	*n = (struct netlink){.family = FAMILY};
	return 0;
}

/* The sizes of the rings, and how headers are split where the driver knows it. */
static void answer_get(const struct netlink *n, void (*visit)(struct nlmsghdr *, void *), void *ctx)
{
	struct nl_msg *answer = netlink_genl(n, ETHTOOL_MSG_RINGS_GET_REPLY, 0);
	struct nlattr *head = nla_nest_start(answer, ETHTOOL_A_RINGS_HEADER | NLA_F_NESTED);
	nla_put_u32(answer, ETHTOOL_A_HEADER_DEV_INDEX, 2);
	nla_put_string(answer, ETHTOOL_A_HEADER_DEV_NAME, "eth0");
	nla_nest_end(answer, head);
	nla_put_u32(answer, ETHTOOL_A_RINGS_RX_MAX, 8191);
	nla_put_u32(answer, ETHTOOL_A_RINGS_RX, 511);
	if (kernel.split != ETHTOOL_TCP_DATA_SPLIT_UNKNOWN) {
		nla_put_u8(answer, ETHTOOL_A_RINGS_TCP_DATA_SPLIT, kernel.split);
	}
	visit(nlmsg_hdr(answer), ctx);
	nlmsg_free(answer);
}

int __wrap_netlink_ask(struct netlink *n, struct nl_msg *msg,
		       void (*visit)(struct nlmsghdr *answer, void *ctx), void *ctx,
		       const char *what, struct err *e)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct genlmsghdr *g = nlmsg_data(h);
	assert_int_equal(h->nlmsg_type, FAMILY);
	kernel.n_sent = (size_t)nlmsg_datalen(h);
	assert_true(kernel.n_sent <= sizeof(kernel.sent));
	memcpy(kernel.sent, g, kernel.n_sent);
	int code = 0;
	if (g->cmd == ETHTOOL_MSG_RINGS_GET) {
		answer_get(n, visit, ctx);
	} else {
		assert_int_equal(g->cmd, ETHTOOL_MSG_RINGS_SET);
		kernel.sets++;
		code = kernel.refuses;
	}
	if (g->cmd == ETHTOOL_MSG_RINGS_SET && !code) {
		struct nlattr *a = nlmsg_find_attr(h, GENL_HDRLEN, ETHTOOL_A_RINGS_TCP_DATA_SPLIT);
		kernel.split = nla_get_u8(a);
	}
	nlmsg_free(msg);
	return code ? err_set(e, code, "%s: %s", what, strerror(-code)) : 0;
}

static const char *read_it(void)
{
	static char text[64];
	struct setting s = setting_of("nic.rings.tcp_data_split", "eth0");
	struct err e = {0};
	if (tunable_read(&root, &s, text, sizeof(text), &e)) {
		fail_msg("%s", e.text);
	}
	return text;
}

static int start(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.split = ETHTOOL_TCP_DATA_SPLIT_DISABLED;
	root = sysroot_make("guest");
	sysroot_put("/sys/class/net/eth0/ifindex", "2");
	return 0;
}

static void it_is_asked_for_by_the_device(void **state)
{
	(void)state;
	static const uint8_t get[] = {ETHTOOL_MSG_RINGS_GET,
				      1,
				      0,
				      0, /* generic header */
				      12,
				      0,
				      ETHTOOL_A_RINGS_HEADER,
				      0x80,
				      8,
				      0,
				      ETHTOOL_A_HEADER_DEV_INDEX,
				      0,
				      2,
				      0,
				      0,
				      0};
	assert_string_equal(read_it(), "0");
	assert_int_equal(kernel.n_sent, sizeof(get));
	assert_memory_equal(kernel.sent, get, sizeof(get));
	kernel.split = ETHTOOL_TCP_DATA_SPLIT_ENABLED;
	assert_string_equal(read_it(), "1");
}

/* One attribute beside the head: nothing that was not named is set along. */
static void it_alone_is_sent(void **state)
{
	(void)state;
	static const uint8_t set[] = {ETHTOOL_MSG_RINGS_SET,
				      1,
				      0,
				      0,
				      12,
				      0,
				      ETHTOOL_A_RINGS_HEADER,
				      0x80,
				      8,
				      0,
				      ETHTOOL_A_HEADER_DEV_INDEX,
				      0,
				      2,
				      0,
				      0,
				      0,
				      5,
				      0,
				      ETHTOOL_A_RINGS_TCP_DATA_SPLIT,
				      0,
				      ETHTOOL_TCP_DATA_SPLIT_ENABLED,
				      0,
				      0,
				      0};
	struct setting s = setting_of("nic.rings.tcp_data_split", "eth0");
	struct err e = {0};
	assert_int_equal(tunable_write(&root, &s, "1", &e), 0);
	assert_int_equal(kernel.n_sent, sizeof(set));
	assert_memory_equal(kernel.sent, set, sizeof(set));
	assert_string_equal(read_it(), "1");
	assert_int_equal(tunable_write(&root, &s, "0", &e), 0);
	assert_int_equal(kernel.split, ETHTOOL_TCP_DATA_SPLIT_DISABLED);
	assert_string_equal(read_it(), "0");
	assert_int_equal(tunable_write(&root, &s, "2", &e), -EINVAL);
	assert_int_equal(kernel.sets, 2);
}

static void a_driver_that_does_not_tell_has_none(void **state)
{
	(void)state;
	struct setting s = setting_of("nic.rings.tcp_data_split", "eth0");
	struct tunable_range range;
	struct err e = {0};
	kernel.split = ETHTOOL_TCP_DATA_SPLIT_UNKNOWN;
	assert_int_equal(tunable_probe(&root, &s, "", &range, &e), 0);
	assert_false(range.settable);
	assert_non_null(strstr(range.why_not, "eth0 has no nic.rings.tcp_data_split"));
}

static void a_kernel_that_refuses_is_believed(void **state)
{
	(void)state;
	struct setting s = setting_of("nic.rings.tcp_data_split", "eth0");
	struct err e = {0};
	kernel.refuses = -EINVAL;
	assert_int_equal(tunable_write(&root, &s, "1", &e), -EINVAL);
	assert_non_null(strstr(e.text, "Invalid argument"));
	assert_string_equal(read_it(), "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_asked_for_by_the_device, start,
						sysroot_teardown),
		cmocka_unit_test_setup_teardown(it_alone_is_sent, start, sysroot_teardown),
		cmocka_unit_test_setup_teardown(a_driver_that_does_not_tell_has_none, start,
						sysroot_teardown),
		cmocka_unit_test_setup_teardown(a_kernel_that_refuses_is_believed, start,
						sysroot_teardown),
	};
	return cmocka_run_group_tests_name("ethtool_exchange", tests, NULL, NULL);
}
