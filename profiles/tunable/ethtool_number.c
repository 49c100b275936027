/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Channels, rings, coalescing and pause: one attribute an entry, and only the one that is named is
 * ever sent. Called by ethtool.c.
 */
#include "cleanup.h"
#include "ethtool.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool_netlink.h>
#include <string.h>

struct family { /* a pair of commands */
	int get, set, header;
};

static const struct family channels = {ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET,
				       ETHTOOL_A_CHANNELS_HEADER};
static const struct family rings = {ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET,
				    ETHTOOL_A_RINGS_HEADER};
static const struct family coalesce = {ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_COALESCE_SET,
				       ETHTOOL_A_COALESCE_HEADER};
static const struct family pauses = {ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET,
				     ETHTOOL_A_PAUSE_HEADER};

enum kind { NUMBER, SWITCH /* u8: 0 or 1 */, SPLIT /* u8: unknown, off, on */ };

static const struct entry {
	const char *name; /* after "nic." */
	const struct family *family;
	int attr, most; /* most: the attribute of its maximum, or 0 */
	enum kind kind;
} entries[] = {
	{"channels.rx", &channels, ETHTOOL_A_CHANNELS_RX_COUNT, ETHTOOL_A_CHANNELS_RX_MAX, NUMBER},
	{"channels.tx", &channels, ETHTOOL_A_CHANNELS_TX_COUNT, ETHTOOL_A_CHANNELS_TX_MAX, NUMBER},
	{"channels.combined", &channels, ETHTOOL_A_CHANNELS_COMBINED_COUNT,
	 ETHTOOL_A_CHANNELS_COMBINED_MAX, NUMBER},
	{"channels.other", &channels, ETHTOOL_A_CHANNELS_OTHER_COUNT, ETHTOOL_A_CHANNELS_OTHER_MAX,
	 NUMBER},
	{"rings.rx", &rings, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX, NUMBER},
	{"rings.rx_mini", &rings, ETHTOOL_A_RINGS_RX_MINI, ETHTOOL_A_RINGS_RX_MINI_MAX, NUMBER},
	{"rings.rx_jumbo", &rings, ETHTOOL_A_RINGS_RX_JUMBO, ETHTOOL_A_RINGS_RX_JUMBO_MAX, NUMBER},
	{"rings.tx", &rings, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX, NUMBER},
	{"rings.rx_buf_len", &rings, ETHTOOL_A_RINGS_RX_BUF_LEN, 0, NUMBER},
	{"rings.tcp_data_split", &rings, ETHTOOL_A_RINGS_TCP_DATA_SPLIT, 0, SPLIT},
	{"coalesce.rx_usecs", &coalesce, ETHTOOL_A_COALESCE_RX_USECS, 0, NUMBER},
	{"coalesce.rx_frames", &coalesce, ETHTOOL_A_COALESCE_RX_MAX_FRAMES, 0, NUMBER},
	{"coalesce.tx_usecs", &coalesce, ETHTOOL_A_COALESCE_TX_USECS, 0, NUMBER},
	{"coalesce.tx_frames", &coalesce, ETHTOOL_A_COALESCE_TX_MAX_FRAMES, 0, NUMBER},
	{"coalesce.adaptive_rx", &coalesce, ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 0, SWITCH},
	{"coalesce.adaptive_tx", &coalesce, ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, 0, SWITCH},
	{"coalesce.cqe_mode_rx", &coalesce, ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, 0, SWITCH},
	{"coalesce.cqe_mode_tx", &coalesce, ETHTOOL_A_COALESCE_USE_CQE_MODE_TX, 0, SWITCH},
	{"pause.autoneg", &pauses, ETHTOOL_A_PAUSE_AUTONEG, 0, SWITCH},
	{"pause.rx", &pauses, ETHTOOL_A_PAUSE_RX, 0, SWITCH},
	{"pause.tx", &pauses, ETHTOOL_A_PAUSE_TX, 0, SWITCH},
};

enum { ATTRS_MAX = 40 };

struct answer {
	bool there[ATTRS_MAX];
	uint32_t value[ATTRS_MAX];
};

static const struct entry *entry_of(const struct setting *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (!strcmp(entries[i].name, s->name + strlen("nic."))) {
			return &entries[i];
		}
	}
	return NULL;
}

static void take(struct nlmsghdr *h, void *ctx)
{
	struct answer *answer = ctx;
	struct nlattr *a;
	int left;
	nlmsg_for_each_attr(a, h, 4 /* genlmsghdr */, left)
	{
		int type = nla_type(a);
		if (type < ATTRS_MAX && (nla_len(a) == 4 || nla_len(a) == 1)) {
			answer->there[type] = true;
			answer->value[type] = nla_len(a) == 4 ? nla_get_u32(a) : nla_get_u8(a);
		}
	}
}

static int ask(const struct sysroot *root, const struct setting *s, const struct entry *entry,
	       struct answer *answer, struct err *e)
{
	auto_netlink struct netlink n = {0};
	char name[IF_NAMESIZE];
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	memset(answer, 0, sizeof(*answer));
	rc = rc ? rc : netlink_open(&n, "ethtool", e);
	if (rc) {
		return rc;
	}
	const struct family *f = entry->family;
	rc = netlink_ask(&n, ethtool_request(&n, f->get, f->header, ifindex), take, answer, s->name,
			 e);
	if (rc == -EOPNOTSUPP) {
		return err_set(e, rc, "the driver of %s has no nic.%.*s", name,
			       (int)strcspn(entry->name, "."), entry->name);
	}
	if (rc) {
		return rc;
	}
	bool none = !answer->there[entry->attr] ||
		    (entry->most && answer->there[entry->most] && !answer->value[entry->most]);
	return none ? err_set(e, -EOPNOTSUPP, "the driver of %s has no %s", name, s->name) : 0;
}

static int number_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		       struct err *e)
{
	const struct entry *entry = entry_of(s);
	struct answer answer;
	int rc = ask(root, s, entry, &answer, e);
	if (rc) {
		return rc;
	}
	uint32_t value = answer.value[entry->attr];
	if (entry->kind == SPLIT) {
		value = value == ETHTOOL_TCP_DATA_SPLIT_ENABLED;
	}
	snprintf(text, size, "%" PRIu32, value);
	return 0;
}

static int send_value(struct netlink *n, const struct entry *entry, int ifindex, uint32_t value,
		      const char *what, struct err *e)
{
	const struct family *f = entry->family;
	struct nl_msg *msg = ethtool_request(n, f->set, f->header, ifindex);
	uint8_t small = (uint8_t)(entry->kind == SPLIT ? ETHTOOL_TCP_DATA_SPLIT_DISABLED + value
						       : value);
	int bad = !msg			  ? 0
		  : entry->kind == NUMBER ? nla_put_u32(msg, entry->attr, value)
					  : nla_put_u8(msg, entry->attr, small);
	if (bad) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return netlink_ask(n, msg, NULL, NULL, what, e);
}

/* A table of RSS that somebody has set holds the number of queues up: it goes first. The session
 * has it on record, since channels affect it. */
static int spare_rss(const struct entry *entry, int ifindex, uint32_t queues, struct err *e)
{
	bool receives = entry->attr == ETHTOOL_A_CHANNELS_COMBINED_COUNT ||
			entry->attr == ETHTOOL_A_CHANNELS_RX_COUNT;
	return entry->family == &channels && receives ? ethtool_rss_spare(ifindex, queues, e) : 0;
}

static int number_write(const struct sysroot *root, const struct setting *s, const char *text,
			struct err *e)
{
	auto_netlink struct netlink n = {0};
	const struct entry *entry = entry_of(s);
	char name[IF_NAMESIZE];
	int64_t value;
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	rc = rc ? rc : scalar_int(text, &value, e);
	if (rc || value < 0 || value > UINT32_MAX || (entry->kind != NUMBER && value > 1)) {
		return rc ? rc : err_usage(e, "%s: '%s' does not fit", s->name, text);
	}
	rc = netlink_open(&n, "ethtool", e);
	rc = rc ? rc : spare_rss(entry, ifindex, (uint32_t)value, e);
	return rc ? rc : send_value(&n, entry, ifindex, (uint32_t)value, s->name, e);
}

static int number_probe(const struct sysroot *root, const struct setting *s, const char *field,
			struct tunable_range *range, struct err *e)
{
	const struct entry *entry = entry_of(s);
	struct answer answer;
	if (!setting_present(root, s, field, &ethtool_number_ops, range)) {
		return 0;
	}
	int rc = ask(root, s, entry, &answer, e);
	if (!rc && entry->most && answer.there[entry->most] &&
	    answer.value[entry->most] < range->max) {
		range->max = answer.value[entry->most];
	}
	return rc;
}

const struct tunable_ops ethtool_number_ops = {
	.probe = number_probe,
	.read = number_read,
	.write = number_write,
};
