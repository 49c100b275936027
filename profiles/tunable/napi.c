/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of napi.*: what each NAPI instance of a device keeps for itself, by generic netlink
 * "netdev". A value is set for all of the device's instances; a text names it once where all are
 * alike, else one number for each in the order of their numbers, so that unlike ones come back as
 * they were. Called by tunable.c through napi_ops.
 */
#include "cleanup.h"
#include "netlink_private.h"
#include "tunable_private.h"
#include "uapi_compat.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INSTANCES_MAX = 512 };

static const struct entry {
	const char *name;
	int attr;
	const char *since; /* version of Linux */
} entries[] = {
	{"napi.defer_hard_irqs", COMPAT_NAPI_DEFER_HARD_IRQS, "6.13"},
	{"napi.gro_flush_timeout", COMPAT_NAPI_GRO_FLUSH_TIMEOUT, "6.13"},
	{"napi.irq_suspend_timeout", COMPAT_NAPI_IRQ_SUSPEND_TIMEOUT, "6.13"},
	{"napi.threaded", COMPAT_NAPI_THREADED, "6.17"},
};

struct instances {
	int attr;
	bool there; /* the kernel tells the attribute */
	size_t n;
	struct instance {
		uint32_t id;
		uint64_t value;
	} of[INSTANCES_MAX];
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

/* Numbers of this family are as long as they must be. */
static bool number_of(struct nlmsghdr *h, int type, uint64_t *out)
{
	struct nlattr *a = nlmsg_find_attr(h, 4 /* genlmsghdr */, type);
	if (a && nla_len(a) == 4) {
		*out = nla_get_u32(a);
	} else if (a && nla_len(a) == 8) {
		*out = nla_get_u64(a);
	} else {
		return false;
	}
	return true;
}

/* Kept in the order of their numbers; the kernel tells the youngest first. */
static void take(struct nlmsghdr *h, void *ctx)
{
	struct instances *all = ctx;
	struct instance one = {0};
	uint64_t id;
	if (!number_of(h, COMPAT_NAPI_ID, &id) || all->n == INSTANCES_MAX) {
		return;
	}
	one.id = (uint32_t)id;
	all->there |= number_of(h, all->attr, &one.value);
	size_t at = all->n++;
	for (; at && all->of[at - 1].id > one.id; at--) {
		all->of[at] = all->of[at - 1];
	}
	all->of[at] = one;
}

/* The socket stays open for who goes on to set. */
static int ask(const struct sysroot *root, const struct setting *s, struct netlink *n,
	       struct instances *all, struct err *e)
{
	const struct entry *entry = entry_of(s);
	char name[IF_NAMESIZE];
	int ifindex, r = setting_device(root, s, &ifindex, name, e);
	all->attr = entry->attr;
	if (r) {
		return r;
	}
	r = netlink_open(n, "netdev", e);
	struct nl_msg *msg = r ? NULL : netlink_genl(n, COMPAT_NETDEV_NAPI_GET, NLM_F_DUMP);
	if (msg && nla_put_u32(msg, COMPAT_NAPI_IFINDEX, (uint32_t)ifindex)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	r = r ? r : netlink_ask(n, msg, take, all, s->name, e);
	if (r == -ENOENT || r == -EOPNOTSUPP || (!r && all->n && !all->there)) {
		return err_set(e, -EOPNOTSUPP, "this kernel has no %s: it came with Linux %s",
			       s->name, entry->since);
	}
	return r || all->n
		       ? r
		       : err_set(e, -EOPNOTSUPP,
				 "%s has no NAPI now: it is down, or its driver uses none", name);
}

static int napi_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		     struct err *e)
{
	auto_netlink struct netlink n = {0};
	auto_free struct instances *all = calloc(1, sizeof(*all));
	size_t used = 0;
	bool alike = true;
	int r = all ? ask(root, s, &n, all, e) : err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < all->n; i++) {
		alike = alike && all->of[i].value == all->of[0].value;
	}
	for (size_t i = 0; !r && i < (alike ? 1 : all->n); i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? " " : "",
					 all->of[i].value);
		r = used < size ? 0 : err_set(e, -ENAMETOOLONG, "%s: too many NAPIs", s->name);
	}
	return r;
}

static int send_value(struct netlink *n, uint32_t id, int attr, uint32_t value, const char *what,
		      struct err *e)
{
	struct nl_msg *msg = netlink_genl(n, COMPAT_NETDEV_NAPI_SET, 0);
	if (msg && (nla_put_u32(msg, COMPAT_NAPI_ID, id) || nla_put_u32(msg, attr, value))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return netlink_ask(n, msg, NULL, NULL, what, e);
}

/* The last number is for all that follow. Goes on after an error: a rollback puts back what it can,
 * and the reading shows the rest. */
static int napi_write(const struct sysroot *root, const struct setting *s, const char *text,
		      struct err *e)
{
	auto_netlink struct netlink n = {0};
	auto_free struct instances *all = calloc(1, sizeof(*all));
	const char *p = text;
	uint64_t value = 0;
	int r = all ? ask(root, s, &n, all, e) : err_set(e, -ENOMEM, "out of memory"), bad = 0;
	for (size_t i = 0; !r && i < all->n; i++) {
		char *end;
		unsigned long long next = strtoull(p, &end, 10);
		value = end == p ? value : next;
		p = end;
		if (value > UINT32_MAX) {
			return err_usage(e, "%s: '%.60s' does not fit", s->name, text);
		}
		if (value != all->of[i].value) {
			int w = send_value(&n, all->of[i].id, all->attr, (uint32_t)value, s->name,
					   bad ? NULL : e);
			bad = bad ? bad : w;
		}
	}
	return r ? r : bad;
}

static int napi_probe(const struct sysroot *root, const struct setting *s, const char *field,
		      struct tunable_range *range, struct err *e)
{
	(void)e;
	setting_present(root, s, field, &napi_ops, range);
	return 0;
}

const struct tunable_ops napi_ops = {
	.probe = napi_probe,
	.read = napi_read,
	.write = napi_write,
};
