/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Name, MTU, addresses and routes of an interface, read and given to the one that takes its place,
 * by rtnetlink. It binds no driver; msix.c does, and is its only caller.
 */
#include "link_state.h"
#include "cleanup.h"
#include "sysfile.h"
#include <errno.h>
#include <net/if.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/route.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 128, WORD_SIZE = 160, CARRIER_MS = 5000 };

struct words {
	size_t n;
	char (*word)[WORD_SIZE];
};

static void words_clear(struct words *w)
{
	free(w->word);
}

static void words_add(struct words *w, const char *text)
{
	if (w->n < WORDS_MAX) {
		snprintf(w->word[w->n++], WORD_SIZE, "%.159s", text);
	}
}

static void sock_clear(struct nl_sock **s)
{
	nl_socket_free(*s);
}

static void cache_clear(struct nl_cache **c)
{
	nl_cache_free(*c);
}

#define auto_words __attribute__((cleanup(words_clear)))
#define auto_sock  __attribute__((cleanup(sock_clear)))
#define auto_cache __attribute__((cleanup(cache_clear)))

static int failed(const char *device, const char *what, int code, struct err *e)
{
	return err_set(e, -EIO, "%s: %s: %s", device, what, nl_geterror(code));
}

static int open_sock(struct nl_sock **out, struct err *e)
{
	*out = nl_socket_alloc();
	int r = *out ? nl_connect(*out, NETLINK_ROUTE) : -NLE_NOMEM;
	return r < 0 ? err_set(e, -EIO, "rtnetlink: %s", nl_geterror(r)) : 0;
}

static int add_link(struct nl_sock *s, unsigned index, struct words *w)
{
	char word[64];
	struct rtnl_link *link = NULL;
	int r = rtnl_link_get_kernel(s, (int)index, NULL, &link);
	if (r < 0) {
		return r;
	}
	words_add(w, rtnl_link_get_flags(link) & IFF_UP ? "up" : "down");
	snprintf(word, sizeof(word), "mtu=%u", rtnl_link_get_mtu(link));
	words_add(w, word);
	rtnl_link_put(link);
	return 0;
}

static int add_addresses(struct nl_sock *s, unsigned index, struct words *w)
{
	auto_cache struct nl_cache *cache = NULL;
	int r = rtnl_addr_alloc_cache(s, &cache);
	if (r < 0) {
		return r;
	}
	for (struct nl_object *o = nl_cache_get_first(cache); o; o = nl_cache_get_next(o)) {
		struct rtnl_addr *a = (struct rtnl_addr *)o;
		char text[96], word[WORD_SIZE];
		if (rtnl_addr_get_ifindex(a) != (int)index ||
		    rtnl_addr_get_scope(a) == RT_SCOPE_LINK) {
			continue;
		}
		nl_addr2str(rtnl_addr_get_local(a), text, sizeof(text));
		snprintf(word, sizeof(word), "addr=%s%s", text, strchr(text, '/') ? "" : "/32");
		words_add(w, word);
	}
	return 0;
}

static bool is_ours(struct rtnl_route *r, unsigned index)
{
	struct rtnl_nexthop *hop = rtnl_route_get_nnexthops(r) == 1 ? rtnl_route_nexthop_n(r, 0)
								    : NULL;
	return hop && rtnl_route_nh_get_ifindex(hop) == (int)index &&
	       rtnl_route_get_table(r) == RT_TABLE_MAIN &&
	       rtnl_route_get_protocol(r) != RTPROT_KERNEL &&
	       rtnl_route_get_protocol(r) != RTPROT_RA;
}

static int add_routes(struct nl_sock *s, unsigned index, struct words *w)
{
	auto_cache struct nl_cache *cache = NULL;
	int r = rtnl_route_alloc_cache(s, AF_UNSPEC, 0, &cache);
	if (r < 0) {
		return r;
	}
	for (struct nl_object *o = nl_cache_get_first(cache); o; o = nl_cache_get_next(o)) {
		struct rtnl_route *route = (struct rtnl_route *)o;
		char to[64], via[64] = "-", word[WORD_SIZE];
		if (!is_ours(route, index)) {
			continue;
		}
		struct nl_addr *gateway = rtnl_route_nh_get_gateway(rtnl_route_nexthop_n(route, 0));
		nl_addr2str(rtnl_route_get_dst(route), to, sizeof(to));
		if (nl_addr_iszero(rtnl_route_get_dst(route))) {
			snprintf(to, sizeof(to), "%s/0",
				 rtnl_route_get_family(route) == AF_INET ? "0.0.0.0" : "::");
		}
		if (gateway) {
			nl_addr2str(gateway, via, sizeof(via));
		}
		snprintf(word, sizeof(word), "route=%s,%s,%u", to, via,
			 rtnl_route_get_priority(route));
		words_add(w, word);
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

int link_state_append(const char *device, char *text, size_t size, struct err *e)
{
	auto_words struct words w = {.word = calloc(WORDS_MAX, WORD_SIZE)};
	auto_sock struct nl_sock *s = NULL;
	unsigned index = if_nametoindex(device);
	if (!index || !w.word) {
		return err_set(e, -ENODEV, "there is no device %s", device);
	}
	if (open_sock(&s, e)) {
		return -EIO;
	}
	int r = add_link(s, index, &w);
	r = r < 0 ? r : add_addresses(s, index, &w);
	r = r < 0 ? r : add_routes(s, index, &w);
	if (r < 0) {
		return failed(device, "its addresses and routes cannot be read", r, e);
	}
	qsort(w.word, w.n, WORD_SIZE, by_text);
	for (size_t i = 0; i < w.n; i++) {
		size_t used = strlen(text);
		if ((size_t)snprintf(text + used, size - used, " %s", w.word[i]) >= size - used) {
			return err_set(e, -ENAMETOOLONG, "%s has too many addresses and routes",
				       device);
		}
	}
	return 0;
}

/* The value of "key=value" among words; "" if it is not there. Returns what follows, or NULL. */
static const char *next_word(const char *words, const char *key, char value[WORD_SIZE])
{
	size_t len = strlen(key);
	for (const char *p = words; *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		if (!strncmp(p, key, len)) {
			size_t n = strcspn(p + len, " ");
			snprintf(value, WORD_SIZE, "%.*s", (int)n, p + len);
			return p + len + n;
		}
	}
	*value = 0;
	return NULL;
}

/* Name and MTU while it is down, then up. */
static int change_link(struct nl_sock *s, unsigned index, const char *device, const char *words)
{
	char mtu[WORD_SIZE], up[WORD_SIZE];
	struct rtnl_link *link = NULL, *want = rtnl_link_alloc();
	int r = want ? rtnl_link_get_kernel(s, (int)index, NULL, &link) : -NLE_NOMEM;
	if (r >= 0 && strcmp(rtnl_link_get_name(link), device) != 0) {
		rtnl_link_unset_flags(want, IFF_UP);
		r = rtnl_link_change(s, link, want, 0);
		rtnl_link_set_name(want, device);
		r = r < 0 ? r : rtnl_link_change(s, link, want, 0);
	}
	if (r >= 0 && next_word(words, "mtu=", mtu)) {
		rtnl_link_set_mtu(want, (unsigned)strtoul(mtu, NULL, 10));
		r = rtnl_link_change(s, link, want, 0);
	}
	if (r >= 0 && next_word(words, "up", up)) {
		rtnl_link_set_flags(want, IFF_UP);
		r = rtnl_link_change(s, link, want, 0);
	}
	rtnl_link_put(link);
	rtnl_link_put(want);
	return r;
}

static int give_addresses(struct nl_sock *s, unsigned index, const char *words)
{
	char text[WORD_SIZE];
	int r = 0;
	for (const char *p = words; r >= 0 && (p = next_word(p, "addr=", text));) {
		struct nl_addr *local = NULL;
		struct rtnl_addr *a = rtnl_addr_alloc();
		r = a ? nl_addr_parse(text, AF_UNSPEC, &local) : -NLE_NOMEM;
		if (r >= 0) {
			rtnl_addr_set_ifindex(a, (int)index);
			rtnl_addr_set_local(a, local);
			r = rtnl_addr_add(s, a, 0);
			r = r == -NLE_EXIST ? 0 : r;
		}
		nl_addr_put(local);
		rtnl_addr_put(a);
	}
	return r;
}

static int give_route(struct nl_sock *s, unsigned index, const char *to, const char *via,
		      unsigned metric)
{
	struct nl_addr *dst = NULL, *gateway = NULL;
	struct rtnl_route *route = rtnl_route_alloc();
	struct rtnl_nexthop *hop = rtnl_route_nh_alloc();
	int r = route && hop ? nl_addr_parse(to, AF_UNSPEC, &dst) : -NLE_NOMEM;
	if (r >= 0 && strcmp(via, "-") != 0) {
		r = nl_addr_parse(via, AF_UNSPEC, &gateway);
	}
	if (r >= 0) {
		rtnl_route_nh_set_ifindex(hop, (int)index);
		if (gateway) {
			rtnl_route_nh_set_gateway(hop, gateway);
		}
		rtnl_route_add_nexthop(route, hop);
		hop = NULL;
		rtnl_route_set_dst(route, dst);
		rtnl_route_set_family(route, (uint8_t)nl_addr_get_family(dst));
		rtnl_route_set_scope(route, gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK);
		rtnl_route_set_priority(route, metric);
		r = rtnl_route_add(s, route, NLM_F_CREATE);
		r = r == -NLE_EXIST ? 0 : r;
	}
	if (hop) {
		rtnl_route_nh_free(hop);
	}
	nl_addr_put(gateway);
	nl_addr_put(dst);
	rtnl_route_put(route);
	return r;
}

static int give_routes(struct nl_sock *s, unsigned index, const char *words)
{
	char text[WORD_SIZE], to[WORD_SIZE], via[WORD_SIZE];
	unsigned metric;
	int r = 0;
	for (const char *p = words; r >= 0 && (p = next_word(p, "route=", text));) {
		if (sscanf(text, "%100[^,],%100[^,],%u", to, via, &metric) == 3) {
			r = give_route(s, index, to, via, metric);
		}
	}
	return r;
}

static void await_carrier(const char *device)
{
	const struct sysroot real = {""};
	char path[96], text[16];
	snprintf(path, sizeof(path), "/sys/class/net/%s/carrier", device);
	for (int ms = 0; ms < CARRIER_MS; ms += 20) {
		if (!sysfile_read(&real, path, text, sizeof(text), NULL) && *text == '1') {
			return;
		}
		poll(NULL, 0, 20);
	}
}

int link_state_restore(const char *now, const char *device, const char *words, struct err *e)
{
	auto_sock struct nl_sock *s = NULL;
	char up[WORD_SIZE];
	unsigned index = if_nametoindex(now);
	if (!index) {
		return err_set(e, -ENODEV, "there is no device %s", now);
	}
	if (open_sock(&s, e)) {
		return -EIO;
	}
	int r = change_link(s, index, device, words);
	r = r < 0 ? r : give_addresses(s, index, words);
	if (r >= 0 && next_word(words, "up", up)) {
		await_carrier(device);
	}
	r = r < 0 ? r : give_routes(s, index, words);
	return r < 0 ? failed(device, "its addresses and routes cannot be given back", r, e) : 0;
}
