/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of links: sizes by rtnetlink, and what the interface keeps in files of its own
 * (NAPI). It works by the interface's index, so that a renamed one is still the same. Called by
 * tunable.c through link_ops.
 */
#include "cleanup.h"
#include "device.h"
#include "netlink_private.h"
#include "tunable_private.h"
#include "uapi_compat.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/rtnetlink.h>
#include <string.h>

static const struct entry {
	const char *name;
	int attr;	  /* of rtnetlink; 0: a file */
	int least, most;  /* attributes that limit it; 0: none */
	const char *file; /* below /sys/class/net/DEVICE */
} entries[] = {
	{"link.mtu", IFLA_MTU, IFLA_MIN_MTU, IFLA_MAX_MTU, NULL},
	{"link.txqueuelen", IFLA_TXQLEN, 0, 0, NULL},
	{"link.gso_max_size", IFLA_GSO_MAX_SIZE, 0, IFLA_TSO_MAX_SIZE, NULL},
	{"link.gso_max_segs", IFLA_GSO_MAX_SEGS, 0, IFLA_TSO_MAX_SEGS, NULL},
	{"link.gro_max_size", IFLA_GRO_MAX_SIZE, 0, 0, NULL},
	{"link.gso_ipv4_max_size", COMPAT_IFLA_GSO_IPV4_MAX_SIZE, 0, IFLA_TSO_MAX_SIZE, NULL},
	{"link.gro_ipv4_max_size", COMPAT_IFLA_GRO_IPV4_MAX_SIZE, 0, 0, NULL},
	{"link.gro_flush_timeout", 0, 0, 0, "gro_flush_timeout"},
	{"link.napi_defer_hard_irqs", 0, 0, 0, "napi_defer_hard_irqs"},
	{"link.threaded", 0, 0, 0, "threaded"},
};

enum { ATTRS_MAX = 80 };

struct answer {
	bool there[ATTRS_MAX];
	uint32_t value[ATTRS_MAX];
};

static const struct entry *entry_of(const struct setting *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (!strcmp(entries[i].name, s->name)) {
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
	nlmsg_for_each_attr(a, h, sizeof(struct ifinfomsg), left)
	{
		int type = nla_type(a);
		if (type < ATTRS_MAX && nla_len(a) == sizeof(uint32_t)) {
			answer->there[type] = true;
			answer->value[type] = nla_get_u32(a);
		}
	}
}

static int ask_link(int ifindex, const char *what, struct answer *answer, struct err *e)
{
	auto_netlink struct netlink n = {0};
	struct ifinfomsg link = {.ifi_index = ifindex};
	memset(answer, 0, sizeof(*answer));
	int rc = netlink_open(&n, NULL, e);
	return rc ? rc
		  : netlink_ask(&n, netlink_rtnl(RTM_GETLINK, 0, &link, sizeof(link)), take, answer,
				what, e);
}

static void file_path(const struct entry *entry, const char *device, char *path, size_t size)
{
	snprintf(path, size, "/sys/class/net/%s/%s", device, entry->file);
}

static int link_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		     struct err *e)
{
	const struct entry *entry = entry_of(s);
	char name[IF_NAMESIZE], path[128];
	struct answer answer;
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	if (rc) {
		return rc;
	}
	if (!entry->attr) {
		file_path(entry, name, path, sizeof(path));
		return sysfile_read(root, path, text, size, e);
	}
	rc = ask_link(ifindex, s->name, &answer, e);
	if (rc) {
		return rc;
	}
	if (!answer.there[entry->attr]) {
		return err_set(e, -EOPNOTSUPP, "this kernel has no %s", s->name);
	}
	snprintf(text, size, "%" PRIu32, answer.value[entry->attr]);
	return 0;
}

static int send_value(int ifindex, const struct setting *s, int attr, uint32_t value, struct err *e)
{
	auto_netlink struct netlink n = {0};
	struct ifinfomsg link = {.ifi_index = ifindex};
	int rc = netlink_open(&n, NULL, e);
	struct nl_msg *msg = rc ? NULL : netlink_rtnl(RTM_SETLINK, 0, &link, sizeof(link));
	if (msg && nla_put_u32(msg, attr, value)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return rc ? rc : netlink_ask(&n, msg, NULL, NULL, s->name, e);
}

static int link_write(const struct sysroot *root, const struct setting *s, const char *text,
		      struct err *e)
{
	const struct entry *entry = entry_of(s);
	char name[IF_NAMESIZE], path[128];
	int64_t value;
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	if (rc) {
		return rc;
	}
	if (!entry->attr) {
		file_path(entry, name, path, sizeof(path));
		return sysfile_write(root, path, text, e);
	}
	rc = scalar_int(text, &value, e);
	if (rc || value < 0 || value > UINT32_MAX) {
		return rc ? rc : err_usage(e, "%s: '%s' does not fit", s->name, text);
	}
	return send_value(ifindex, s, entry->attr, (uint32_t)value, e);
}

/* Without limits the driver takes all that fits into a packet's length. */
static void limits_of(const struct entry *entry, const struct answer *answer,
		      struct tunable_range *range)
{
	if (entry->least && answer->there[entry->least] &&
	    answer->value[entry->least] > range->min) {
		range->min = answer->value[entry->least];
	}
	if (entry->most && answer->there[entry->most] && answer->value[entry->most] > 0 &&
	    answer->value[entry->most] < range->max) {
		range->max = answer->value[entry->most];
	}
}

static int link_probe(const struct sysroot *root, const struct setting *s, const char *field,
		      struct tunable_range *range, struct err *e)
{
	const struct entry *entry = entry_of(s);
	char name[IF_NAMESIZE], path[128];
	struct answer answer;
	int ifindex;
	if (!setting_present(root, s, field, &link_ops, range)) {
		return 0;
	}
	int rc = setting_device(root, s, &ifindex, name, e);
	if (rc) {
		return rc;
	}
	if (entry->attr && !ask_link(ifindex, s->name, &answer, NULL)) {
		limits_of(entry, &answer, range);
	}
	if (entry->attr) {
		return 0;
	}
	file_path(entry, name, path, sizeof(path));
	range->settable = sysfile_settable(root, path, range->why_not, sizeof(range->why_not));
	return 0;
}

const struct tunable_ops link_ops = {
	.probe = link_probe,
	.read = link_read,
	.write = link_write,
};
