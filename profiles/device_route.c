/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which interface leads to an address, as the kernel's own routing says. Called by the agent: for
 * the device of a test, and to spare the one that carries the control connection.
 */
#include "cleanup.h"
#include "device.h"
#include "netlink_private.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <string.h>

struct address {
	int family;
	unsigned char bytes[16];
	size_t size;
};

static int parse(const char *text, struct address *a, struct err *e)
{
	char plain[INET6_ADDRSTRLEN];
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "%"), text);
	a->family = strchr(plain, ':') ? AF_INET6 : AF_INET;
	a->size = a->family == AF_INET6 ? 16 : 4;
	return inet_pton(a->family, plain, a->bytes) == 1
		       ? 0
		       : err_set(e, -EINVAL, "'%.60s' is no address", text);
}

static const void *bytes_of(const struct sockaddr *s)
{
	return s->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)s)->sin6_addr
					: (const void *)&((const struct sockaddr_in *)s)->sin_addr;
}

/* Routes to own addresses go by the loopback; the device is the one that has the address. */
static bool owner_of(const struct address *a, char name[IF_NAMESIZE])
{
	struct ifaddrs *all = NULL;
	bool found = false;
	if (getifaddrs(&all)) {
		return false;
	}
	for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		found = i->ifa_addr && i->ifa_addr->sa_family == a->family &&
			!memcmp(bytes_of(i->ifa_addr), a->bytes, a->size);
		if (found) {
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
		}
	}
	freeifaddrs(all);
	return found;
}

struct route { /* as the kernel answers */
	unsigned index;
	bool routed;
};

static void take_route(struct nlmsghdr *h, void *ctx)
{
	struct route *r = ctx;
	struct nlattr *a = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_OIF);
	if (h->nlmsg_type == RTM_NEWROUTE && a) {
		r->index = nla_get_u32(a);
		r->routed = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_GATEWAY) ||
			    nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_VIA);
	}
}

int device_way_to(const char *address, struct device_way *out, struct err *e)
{
	struct address a = {0};
	struct route r = {0};
	*out = (struct device_way){0};
	int rc = parse(address, &a, e);
	if (rc) {
		return rc;
	}
	out->own = out->direct = owner_of(&a, out->device);
	if (out->own) {
		return 0;
	}
	auto_netlink struct netlink n = {0};
	struct rtmsg rt = {.rtm_family = (unsigned char)a.family,
			   .rtm_dst_len = (unsigned char)(8 * a.size)};
	rc = netlink_open(&n, NULL, e);
	if (rc) {
		return rc;
	}
	struct nl_msg *msg = netlink_rtnl(RTM_GETROUTE, 0, &rt, sizeof(rt));
	if (msg && nla_put(msg, RTA_DST, (int)a.size, a.bytes)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	rc = netlink_ask(&n, msg, take_route, &r, "route", e);
	if (rc || !r.index || !if_indextoname(r.index, out->device)) {
		return err_set(e, -ENETUNREACH, "no route leads to %.60s", address);
	}
	out->direct = !r.routed;
	return 0;
}

int device_toward(const char *address, char name[IF_NAMESIZE], struct err *e)
{
	struct device_way way;
	int rc = device_way_to(address, &way, e);
	if (rc == 0) {
		memcpy(name, way.device, IF_NAMESIZE);
	}
	return rc;
}
