/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * By which of its addresses the receiving host is reached, where the spec does not say: hosts have
 * several, and the first one may belong to a bridge that every host has. The sender's routing is
 * asked; nothing is sent. Called by hosts.c.
 */
#include "hosts.h"
#include <stdio.h>
#include <string.h>

static bool same_namespace(const struct agent *a, const struct agent *b)
{
	const struct agent_info *x = agent_info(a), *y = agent_info(b);
	return strcmp(x->boot_id, y->boot_id) == 0 && x->netns_cookie == y->netns_cookie;
}

/* The first one to which no router leads, else the first one with a route at all, else the first.
 * What the sender has itself is no way to the receiver. */
static const char *by_route(struct agent *sender, const struct agent *receiver)
{
	const char *routed = NULL;
	json_t *one;
	size_t i;
	json_array_foreach(agent_info(receiver)->addresses, i, one)
	{
		struct device_way way;
		struct err none = {0};
		const char *address = json_string_value(one);
		if (!address || agent_way(sender, address, &way, &none) < 0 || way.own) {
			continue;
		}
		if (way.direct) {
			return address;
		}
		routed = routed ? routed : address;
	}
	return routed ? routed : agent_info(receiver)->address;
}

void hosts_choose_address(struct hosts *h)
{
	const struct spec *spec = h->spec;
	if (spec->test.to < 0 || spec->test.from < 0) {
		return;
	}
	const struct spec_host *to = &spec->hosts[spec->test.to];
	struct agent *sender = h->agents[spec->test.from], *receiver = h->agents[spec->test.to];
	const char *address = to->address;
	if (!*address && to->via.kind == VIA_LAB) {
		address = h->lab.address[to->via.lab_end];
	}
	if (!*address) {
		address = same_namespace(sender, receiver) ? "127.0.0.1"
							   : by_route(sender, receiver);
	}
	snprintf(h->receiver_address, sizeof(h->receiver_address), "%s", address);
}
