/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Features and private flags: bits that the kernel or the driver names. A short name (tso) stands
 * for the features that it has always stood for. What a change drags along is on record, since each
 * feature affects all that can be changed. Called by ethtool.c.
 */
#include "cleanup.h"
#include "ethtool.h"
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <string.h>

enum { BITS_MAX = 128, GROUP_MAX = 5 };

static const struct group { /* after "nic.features." */
	const char *name, *members[GROUP_MAX + 1];
} groups[] = {
	{"rx", {"rx-checksum"}},
	{"tx",
	 {"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-fcoe-crc",
	  "tx-checksum-sctp"}},
	{"sg", {"tx-scatter-gather", "tx-scatter-gather-fraglist"}},
	{"tso",
	 {"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation",
	  "tx-tcp6-segmentation"}},
	{"gso", {"tx-generic-segmentation"}},
	{"gro", {"rx-gro"}},
	{"lro", {"rx-lro"}},
};

struct bit {
	char name[40];
	bool on, can; /* can: neither fixed nor out of reach */
};

struct bits {
	size_t n;
	struct bit item[BITS_MAX];
};

static struct bit *bit_of(struct bits *bits, const char *name, bool make)
{
	for (size_t i = 0; i < bits->n; i++) {
		if (!strcmp(bits->item[i].name, name)) {
			return &bits->item[i];
		}
	}
	if (!make || bits->n == BITS_MAX) {
		return NULL;
	}
	struct bit *b = &bits->item[bits->n++];
	*b = (struct bit){.can = false};
	snprintf(b->name, sizeof(b->name), "%s", name);
	return b;
}

enum what { IS_ON, IS_CHANGEABLE, IS_FIXED };

/* One bit of a set: ETHTOOL_A_BITSET_BIT_{INDEX,NAME,VALUE}. In a list without a mask each bit that
 * is there is set; in the others VALUE says so. */
static void take_bit(struct bits *bits, struct nlattr *one, enum what what, bool list)
{
	struct nlattr *name = nla_find(nla_data(one), nla_len(one), ETHTOOL_A_BITSET_BIT_NAME);
	bool value = list || nla_find(nla_data(one), nla_len(one), ETHTOOL_A_BITSET_BIT_VALUE);
	struct bit *b = name ? bit_of(bits, nla_get_string(name), true) : NULL;
	if (!b) {
		return;
	}
	if (what == IS_ON) {
		b->on = value;
	} else if (value) {
		b->can = what == IS_CHANGEABLE;
	}
}

static void take_set(struct bits *bits, struct nlattr *set, enum what what)
{
	bool list = nla_find(nla_data(set), nla_len(set), ETHTOOL_A_BITSET_NOMASK);
	struct nlattr *all = nla_find(nla_data(set), nla_len(set), ETHTOOL_A_BITSET_BITS), *one;
	int left;
	if (!all) {
		return;
	}
	nla_for_each_nested(one, all, left)
	{
		take_bit(bits, one, what, list);
	}
}

static struct nlattr *find(struct nlmsghdr *h, int type)
{
	return nlmsg_find_attr(h, 4 /* genlmsghdr */, type);
}

static void take_features(struct nlmsghdr *h, void *ctx)
{
	static const struct {
		int attr;
		enum what what;
	} sets[] = {{ETHTOOL_A_FEATURES_HW, IS_CHANGEABLE},
		    {ETHTOOL_A_FEATURES_NOCHANGE, IS_FIXED},
		    {ETHTOOL_A_FEATURES_ACTIVE, IS_ON}};
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		struct nlattr *set = find(h, sets[i].attr);
		if (set) {
			take_set(ctx, set, sets[i].what);
		}
	}
}

static void take_flags(struct nlmsghdr *h, void *ctx)
{
	struct bits *bits = ctx;
	struct nlattr *set = find(h, ETHTOOL_A_PRIVFLAGS_FLAGS);
	if (set) {
		take_set(bits, set, IS_ON);
	}
	for (size_t i = 0; i < bits->n; i++) {
		bits->item[i].can = true;
	}
}

static bool is_flag(const char *name)
{
	return !strncmp(name, "nic.flags.", strlen("nic.flags."));
}

static const char *word_of(const char *name)
{
	return name + (is_flag(name) ? strlen("nic.flags.") : strlen("nic.features."));
}

static int ask(struct netlink *n, const char *name, int ifindex, struct bits *bits, struct err *e)
{
	bits->n = 0;
	return is_flag(name) ? netlink_ask(n,
					   ethtool_request(n, ETHTOOL_MSG_PRIVFLAGS_GET,
							   ETHTOOL_A_PRIVFLAGS_HEADER, ifindex),
					   take_flags, bits, name, e)
			     : netlink_ask(n,
					   ethtool_request(n, ETHTOOL_MSG_FEATURES_GET,
							   ETHTOOL_A_FEATURES_HEADER, ifindex),
					   take_features, bits, name, e);
}

static const struct group *group_of(const char *name)
{
	for (size_t i = 0; !is_flag(name) && i < ARRAY_SIZE(groups); i++) {
		if (!strcmp(groups[i].name, word_of(name))) {
			return &groups[i];
		}
	}
	return NULL;
}

/* The bits that a name stands for and that can be changed. */
static size_t members(struct bits *bits, const char *name, struct bit *out[GROUP_MAX])
{
	const struct group *group = group_of(name);
	const char *alone[] = {word_of(name), NULL}, *const *list = group ? group->members : alone;
	size_t n = 0;
	for (; *list && n < GROUP_MAX; list++) {
		struct bit *b = bit_of(bits, *list, false);
		if (b && b->can) {
			out[n++] = b;
		}
	}
	return n;
}

static int find_bits(const struct sysroot *root, const struct setting *s, struct netlink *n,
		     int *ifindex, struct bits *bits, struct bit *out[GROUP_MAX], size_t *n_out,
		     struct err *e)
{
	char name[IF_NAMESIZE];
	int rc = setting_device(root, s, ifindex, name, e);
	rc = rc ? rc : netlink_open(n, "ethtool", e);
	rc = rc ? rc : ask(n, s->name, *ifindex, bits, e);
	if (rc) {
		return rc;
	}
	*n_out = members(bits, s->name, out);
	struct bit *b = bit_of(bits, word_of(s->name), false);
	if (*n_out) {
		return 0;
	}
	return b ? err_set(e, -EPERM, "%s is fixed %s on %s", s->name, b->on ? "on" : "off", name)
		 : err_set(e, -EOPNOTSUPP, "%s has no %s", name, s->name);
}

/* A group is on as soon as one of its members is, as everybody counts it. */
static int bit_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_netlink struct netlink n = {0};
	auto_free struct bits *bits = calloc(1, sizeof(*bits));
	struct bit *found[GROUP_MAX];
	size_t count;
	int ifindex;
	if (!bits) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = find_bits(root, s, &n, &ifindex, bits, found, &count, e);
	bool on = false;
	for (size_t i = 0; !rc && i < count; i++) {
		on = on || found[i]->on;
	}
	snprintf(text, size, "%d", on);
	return rc;
}

static int put_bits(struct nl_msg *msg, int attr, struct bit *const found[], size_t n, bool on)
{
	struct nlattr *set = nla_nest_start(msg, attr | NLA_F_NESTED), *all, *one;
	all = set ? nla_nest_start(msg, ETHTOOL_A_BITSET_BITS | NLA_F_NESTED) : NULL;
	for (size_t i = 0; all && i < n; i++) {
		one = nla_nest_start(msg, ETHTOOL_A_BITSET_BITS_BIT | NLA_F_NESTED);
		if (!one || nla_put_string(msg, ETHTOOL_A_BITSET_BIT_NAME, found[i]->name) ||
		    (on && nla_put_flag(msg, ETHTOOL_A_BITSET_BIT_VALUE))) {
			return -ENOMEM;
		}
		nla_nest_end(msg, one);
	}
	if (!all) {
		return -ENOMEM;
	}
	nla_nest_end(msg, all);
	nla_nest_end(msg, set);
	return 0;
}

static int bit_write(const struct sysroot *root, const struct setting *s, const char *text,
		     struct err *e)
{
	auto_netlink struct netlink n = {0};
	auto_free struct bits *bits = calloc(1, sizeof(*bits));
	struct bit *found[GROUP_MAX];
	size_t count;
	int ifindex;
	if (!bits) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = find_bits(root, s, &n, &ifindex, bits, found, &count, e);
	if (rc) {
		return rc;
	}
	bool flag = is_flag(s->name);
	struct nl_msg *msg = ethtool_request(
		&n, flag ? ETHTOOL_MSG_PRIVFLAGS_SET : ETHTOOL_MSG_FEATURES_SET,
		flag ? ETHTOOL_A_PRIVFLAGS_HEADER : ETHTOOL_A_FEATURES_HEADER, ifindex);
	int attr = flag ? ETHTOOL_A_PRIVFLAGS_FLAGS : ETHTOOL_A_FEATURES_WANTED;
	if (msg && put_bits(msg, attr, found, count, strcmp(text, "0") != 0)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return netlink_ask(&n, msg, NULL, NULL, s->name, e);
}

static int bit_probe(const struct sysroot *root, const struct setting *s, const char *field,
		     struct tunable_range *range, struct err *e)
{
	(void)e;
	setting_present(root, s, field, &ethtool_bit_ops, range);
	return 0;
}

/* "nic.features.*": all that can be changed on this device, by their full names. */
static size_t bit_expand(const struct sysroot *root, const struct setting *s, const char *pattern,
			 char (*names)[TUNABLE_NAME_MAX], size_t max)
{
	auto_netlink struct netlink n = {0};
	auto_free struct bits *bits = calloc(1, sizeof(*bits));
	char device[IF_NAMESIZE];
	int ifindex;
	size_t count = 0;
	if (!bits || setting_device(root, s, &ifindex, device, NULL) ||
	    netlink_open(&n, "ethtool", NULL) || ask(&n, pattern, ifindex, bits, NULL)) {
		return 0;
	}
	for (size_t i = 0; i < bits->n && count < max; i++) {
		const struct bit *b = &bits->item[i];
		if (b->can && strcmp(b->name, word_of(s->name))) {
			snprintf(names[count++], TUNABLE_NAME_MAX, "%.*s%s",
				 (int)strcspn(pattern, "*"), pattern, b->name);
		}
	}
	return count;
}

static bool bit_covers(const struct setting *a, const struct setting *b)
{
	const struct group *group = group_of(a->name);
	for (size_t i = 0; group && !is_flag(b->name) && group->members[i]; i++) {
		if (!strcmp(group->members[i], word_of(b->name))) {
			return true;
		}
	}
	return false;
}

const struct tunable_ops ethtool_bit_ops = {
	.probe = bit_probe,
	.read = bit_read,
	.write = bit_write,
	.expand = bit_expand,
	.covers = bit_covers,
};
