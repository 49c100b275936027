/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only the driver can say of a NIC: ethtool's generic netlink (linux/ethtool_netlink.h), and
 * one ioctl for the firmware's version. Asks only; what a driver does not answer stays unknown. The
 * doctor's source on a running kernel.
 */
#include "doctor_private.h"
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <unistd.h>

struct conversation {
	struct nl_sock *sk;
	int family;
	const char *device;
	struct doctor_nic *out;
};

typedef void reader(struct conversation *c, struct nlattr **a);

struct answer {
	struct conversation *c;
	reader *read;
	bool done;
};

enum { ATTRS_MAX = 31 }; /* more than any of these replies has */

static int take_answer(struct nl_msg *msg, void *arg)
{
	struct answer *w = arg;
	struct nlattr *a[ATTRS_MAX + 1];
	if (genlmsg_parse(nlmsg_hdr(msg), 0, a, ATTRS_MAX, NULL) == 0) {
		w->read(w->c, a);
	}
	return NL_OK;
}

static int take_end(struct nl_msg *msg, void *arg)
{
	struct answer *w = arg;
	(void)msg;
	w->done = true;
	return NL_STOP;
}

/* One request with its header, and for STATS_GET the group that is wanted. */
static struct nl_msg *compose(const struct conversation *c, uint8_t command, uint32_t flags)
{
	struct nl_msg *msg = nlmsg_alloc();
	/* The header is attribute 1 of every message of this family. */
	enum { HEADER = ETHTOOL_A_LINKMODES_HEADER };
	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, c->family, 0, 0, command,
				 ETHTOOL_GENL_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	bool stats = command == ETHTOOL_MSG_STATS_GET;
	struct nlattr *h = nla_nest_start(msg, stats ? ETHTOOL_A_STATS_HEADER : HEADER);
	nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, c->device);
	nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, flags);
	nla_nest_end(msg, h);
	if (stats) {
		uint32_t group = 1 << ETHTOOL_STATS_ETH_PHY;
		struct nlattr *set = nla_nest_start(msg, ETHTOOL_A_STATS_GROUPS);
		nla_put_flag(msg, ETHTOOL_A_BITSET_NOMASK);
		nla_put_u32(msg, ETHTOOL_A_BITSET_SIZE, ETHTOOL_STATS_ETH_PHY + 1);
		nla_put(msg, ETHTOOL_A_BITSET_VALUE, sizeof(group), &group);
		nla_nest_end(msg, set);
	}
	return msg;
}

/* An error answer only means that nothing is known. */
static void ask(struct conversation *c, uint8_t command, uint32_t flags, reader *read)
{
	struct answer w = {c, read, false};
	int rc;
	struct nl_msg *msg = compose(c, command, flags);
	if (!msg) {
		return;
	}
	nl_socket_modify_cb(c->sk, NL_CB_VALID, NL_CB_CUSTOM, take_answer, &w);
	nl_socket_modify_cb(c->sk, NL_CB_ACK, NL_CB_CUSTOM, take_end, &w);
	rc = nl_send_auto(c->sk, msg);
	while (rc >= 0 && !w.done) { /* the reply, then its end; or an error */
		rc = nl_recvmsgs_default(c->sk);
	}
	nlmsg_free(msg);
}

/* Calls visit for each named bit of a verbose bit set; on: its value, or in a set without mask that
 * it is there. */
static void each_bit(struct nlattr *set, void *ctx,
		     void (*visit)(void *ctx, const char *name, bool on))
{
	struct nlattr *s[ETHTOOL_A_BITSET_MAX + 1], *bit;
	int rest;
	if (!set || nla_parse_nested(s, ETHTOOL_A_BITSET_MAX, set, NULL) ||
	    !s[ETHTOOL_A_BITSET_BITS]) {
		return;
	}
	bool list = s[ETHTOOL_A_BITSET_NOMASK] != NULL;
	nla_for_each_nested(bit, s[ETHTOOL_A_BITSET_BITS], rest)
	{
		struct nlattr *b[ETHTOOL_A_BITSET_BIT_MAX + 1];
		if (!nla_parse_nested(b, ETHTOOL_A_BITSET_BIT_MAX, bit, NULL) &&
		    b[ETHTOOL_A_BITSET_BIT_NAME]) {
			visit(ctx, nla_get_string(b[ETHTOOL_A_BITSET_BIT_NAME]),
			      list || b[ETHTOOL_A_BITSET_BIT_VALUE]);
		}
	}
}

/* "10000baseT/Full" is a mode of 10000 Mbit/s; "Autoneg" and "FIBRE" are none. */
static void take_mode(void *ctx, const char *name, bool on)
{
	struct doctor_nic *nic = ctx;
	char *end;
	long long speed = strtoll(name, &end, 10);
	(void)on; /* supported is what counts, whether advertised or not */
	if (end > name && !strncmp(end, "base", 4) && speed > nic->speed_max) {
		nic->speed_max = speed;
	}
}

static void read_modes(struct conversation *c, struct nlattr **a)
{
	each_bit(a[ETHTOOL_A_LINKMODES_OURS], c->out, take_mode);
}

static void read_pause(struct conversation *c, struct nlattr **a)
{
	if (a[ETHTOOL_A_PAUSE_RX] && a[ETHTOOL_A_PAUSE_TX]) {
		c->out->pause_rx = nla_get_u8(a[ETHTOOL_A_PAUSE_RX]);
		c->out->pause_tx = nla_get_u8(a[ETHTOOL_A_PAUSE_TX]);
	}
}

struct offloads {
	struct doctor_nic *out;
	unsigned can, on; /* bits by index of NAMES */
};

static const char *const NAMES[DOCTOR_OFFLOADS] = {"rx-checksum",	  "tx-checksum-ip-generic",
						   "tx-scatter-gather",	  "tx-generic-segmentation",
						   "tx-tcp-segmentation", "rx-gro"};

static unsigned bit_of(const char *name)
{
	for (unsigned i = 0; i < DOCTOR_OFFLOADS; i++) {
		if (!strcmp(name, NAMES[i])) {
			return 1u << i;
		}
	}
	return 0;
}

static void take_can(void *ctx, const char *name, bool on)
{
	struct offloads *o = ctx;
	o->can |= on ? bit_of(name) : 0;
}

static void take_active(void *ctx, const char *name, bool on)
{
	struct offloads *o = ctx;
	o->on |= on ? bit_of(name) : 0;
}

static void read_features(struct conversation *c, struct nlattr **a)
{
	struct offloads o = {c->out, 0, 0};
	each_bit(a[ETHTOOL_A_FEATURES_HW], &o, take_can);
	each_bit(a[ETHTOOL_A_FEATURES_ACTIVE], &o, take_active);
	for (unsigned i = 0; i < DOCTOR_OFFLOADS; i++) {
		if (o.can & ~o.on & (1u << i)) {
			snprintf(c->out->off[c->out->n_off++], sizeof(c->out->off[0]), "%s",
				 NAMES[i]);
		}
	}
}

/* Arrays of u64 whose first entry is the sum over the lanes. */
static int64_t first_count(struct nlattr *a)
{
	uint64_t n;
	if (!a || nla_len(a) < (int)sizeof(n)) {
		return -1;
	}
	memcpy(&n, nla_data(a), sizeof(n));
	return n <= INT64_MAX ? (int64_t)n : -1;
}

static void read_fec(struct conversation *c, struct nlattr **a)
{
	struct nlattr *s[ETHTOOL_A_FEC_STAT_MAX + 1];
	if (a[ETHTOOL_A_FEC_STATS] &&
	    !nla_parse_nested(s, ETHTOOL_A_FEC_STAT_MAX, a[ETHTOOL_A_FEC_STATS], NULL)) {
		c->out->fec_corrected = first_count(s[ETHTOOL_A_FEC_STAT_CORRECTED]);
		c->out->fec_uncorrectable = first_count(s[ETHTOOL_A_FEC_STAT_UNCORR]);
	}
}

static void read_phy(struct conversation *c, struct nlattr **a)
{
	struct nlattr *part, *count;
	int rest, inner;
	if (!a[ETHTOOL_A_STATS_GRP]) {
		return;
	}
	nla_for_each_nested(part, a[ETHTOOL_A_STATS_GRP], rest)
	{
		if (nla_type(part) != ETHTOOL_A_STATS_GRP_STAT) {
			continue;
		}
		nla_for_each_nested(count, part, inner)
		{
			if (nla_type(count) == ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR) {
				c->out->symbol_errors = first_count(count);
			}
		}
	}
}

static void read_firmware(const char *device, struct doctor_nic *out)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq r = {.ifr_data = (char *)&info};
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	if (fd >= 0 && !ioctl(fd, SIOCETHTOOL, &r)) {
		info.fw_version[sizeof(info.fw_version) - 1] = '\0';
		bool told = info.fw_version[0] && strcmp(info.fw_version, "N/A");
		snprintf(out->firmware, sizeof(out->firmware), "%s", told ? info.fw_version : "");
	}
}

static void ask_all(struct conversation *c)
{
	ask(c, ETHTOOL_MSG_LINKMODES_GET, 0, read_modes);
	ask(c, ETHTOOL_MSG_PAUSE_GET, 0, read_pause);
	ask(c, ETHTOOL_MSG_FEATURES_GET, 0, read_features);
	ask(c, ETHTOOL_MSG_FEC_GET, ETHTOOL_FLAG_STATS, read_fec);
	ask(c, ETHTOOL_MSG_STATS_GET, 0, read_phy);
}

static void nic_calls(const char *device, struct doctor_nic *out)
{
	struct conversation c = {.sk = nl_socket_alloc(), .device = device, .out = out};
	read_firmware(device, out);
	if (!c.sk) {
		return;
	}
	struct timeval limit = {.tv_sec = 2};
	if (genl_connect(c.sk) == 0 &&
	    !setsockopt(nl_socket_get_fd(c.sk), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit))) {
		c.family = genl_ctrl_resolve(c.sk, ETHTOOL_GENL_NAME);
		if (c.family >= 0) {
			ask_all(&c);
		}
	}
	nl_socket_free(c.sk);
}

static int clock_calls(void)
{
	struct timex t = {0};
	return adjtimex(&t) < 0 ? -1 : !(t.status & STA_UNSYNC);
}

struct doctor_source doctor_kernel(const struct sysroot *root)
{
	struct doctor_source s = {
		.root = root,
		.watch = 1,
		.now = (int64_t)time(NULL),
		.nic = nic_calls,
		.clock_synced = clock_calls,
	};
	return s;
}
