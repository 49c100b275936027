/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The routes of one interface: kept as the kernel's own messages, so that one that is changed keeps
 * everything that this program does not know of. Called by route.c.
 */
#include "cleanup.h"
#include "route.h"
#include <errno.h>
#include <string.h>

struct nlattr *route_attr(const struct route *r, int type)
{
	return nlmsg_find_attr((struct nlmsghdr *)r->message, sizeof(struct rtmsg), type);
}

static const struct rtmsg *head_of(const struct route *r)
{
	return nlmsg_data(r->message);
}

static uint32_t number_of(const struct route *r, int type, uint32_t none)
{
	struct nlattr *a = route_attr(r, type);
	return a ? nla_get_u32(a) : none;
}

static bool is_link_local(const struct route *r)
{
	static const unsigned char fe80[2] = {0xfe, 0x80};
	struct nlattr *dst = route_attr(r, RTA_DST);
	return head_of(r)->rtm_family == AF_INET6 && dst && !memcmp(nla_data(dst), fe80, 2);
}

static bool concerns_us(const struct route *r)
{
	const struct rtmsg *rt = head_of(r);
	return rt->rtm_type == RTN_UNICAST && !(rt->rtm_flags & RTM_F_CLONED) &&
	       number_of(r, RTA_TABLE, rt->rtm_table) == RT_TABLE_MAIN &&
	       rt->rtm_protocol != RTPROT_RA && rt->rtm_protocol != RTPROT_REDIRECT &&
	       route_attr(r, RTA_OIF) && !is_link_local(r);
}

static bool add(struct route ***list, size_t *n, const struct nlmsghdr *h)
{
	struct route **bigger = realloc(*list, (*n + 1) * sizeof(struct route *));
	struct route *r = malloc(h->nlmsg_len);
	if (bigger) {
		*list = bigger;
	}
	if (!bigger || !r) {
		free(r);
		return false;
	}
	memcpy(r, h, h->nlmsg_len);
	(*list)[(*n)++] = r;
	return true;
}

static void take(struct nlmsghdr *h, void *ctx)
{
	struct routes *list = ctx;
	const struct route *r = (const struct route *)h;
	if (h->nlmsg_type != RTM_NEWROUTE || !concerns_us(r)) {
		return;
	}
	bool ours = number_of(r, RTA_OIF, 0) == (uint32_t)list->ifindex;
	if (!add(ours ? &list->item : &list->others, ours ? &list->n : &list->n_others, h)) {
		list->failed = true;
	}
}

static bool same_key(const struct route *a, const struct route *b)
{
	const struct rtmsg *x = head_of(a), *y = head_of(b);
	struct nlattr *p = route_attr(a, RTA_DST), *q = route_attr(b, RTA_DST);
	bool same_dst = p && q ? nla_len(p) == nla_len(q) &&
					 !memcmp(nla_data(p), nla_data(q), (size_t)nla_len(p))
			       : !p && !q;
	return x->rtm_family == y->rtm_family && x->rtm_dst_len == y->rtm_dst_len &&
	       x->rtm_tos == y->rtm_tos && same_dst &&
	       number_of(a, RTA_PRIORITY, 0) == number_of(b, RTA_PRIORITY, 0);
}

/* The kernel replaces the first route of a key, which may then be somebody else's. */
static bool any_shared(const struct routes *list)
{
	for (size_t i = 0; i < list->n; i++) {
		for (size_t k = 0; k < list->n_others; k++) {
			if (same_key(list->item[i], list->others[k])) {
				return true;
			}
		}
		for (size_t k = 0; k < i; k++) {
			if (same_key(list->item[i], list->item[k])) {
				return true;
			}
		}
	}
	return false;
}

int routes_load(struct netlink *n, int ifindex, struct routes *out, struct err *e)
{
	static const unsigned char families[] = {AF_INET, AF_INET6};
	int rc = 0;
	out->ifindex = ifindex;
	for (size_t i = 0; !rc && i < ARRAY_SIZE(families); i++) {
		struct rtmsg rt = {.rtm_family = families[i]};
		rc = netlink_ask(n, netlink_rtnl(RTM_GETROUTE, NLM_F_DUMP, &rt, sizeof(rt)), take,
				 out, "routes", e);
		rc = rc == -EOPNOTSUPP || rc == -EAFNOSUPPORT ? 0 : rc; /* no IPv6 here */
	}
	if (!rc && out->failed) {
		rc = err_set(e, -ENOMEM, "out of memory");
	}
	out->shared = !rc && any_shared(out);
	return rc;
}

static void free_list(struct route **list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i]);
	}
	free(list);
}

void routes_clear(struct routes *r)
{
	free_list(r->item, r->n);
	free_list(r->others, r->n_others);
	*r = (struct routes){0};
}

/* What the kernel tells and does not take, and what a next hop object stands for. */
static bool is_kept(const struct route *r, const struct nlattr *a)
{
	switch (nla_type(a)) {
	case RTA_METRICS:
	case RTA_CACHEINFO:
	case RTA_IIF:
		return false;
	case RTA_OIF:
	case RTA_GATEWAY:
	case RTA_VIA:
	case RTA_MULTIPATH:
		return !route_attr(r, RTA_NH_ID);
	default:
		return true;
	}
}

struct nl_msg *route_change(const struct route *r)
{
	struct rtmsg rt = *head_of(r);
	struct nlattr *a;
	int left;
	rt.rtm_flags &= RTNH_F_ONLINK;
	struct nl_msg *msg = netlink_rtnl(RTM_NEWROUTE, NLM_F_REPLACE, &rt, sizeof(rt));
	nlmsg_for_each_attr(a, (struct nlmsghdr *)r->message, sizeof(struct rtmsg), left)
	{
		if (msg && is_kept(r, a) && nla_put(msg, nla_type(a), nla_len(a), nla_data(a))) {
			nlmsg_free(msg);
			return NULL;
		}
	}
	return msg;
}
