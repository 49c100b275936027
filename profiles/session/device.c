/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Devices in a session: a setting is bound to the interface that stood under its name when it was
 * first seen, also over a crash, and a write that may drop the link waits for it. Called by the
 * other files of the session.
 */
#include "protocol.h"
#include "session_private.h"
#include <errno.h>
#include <string.h>

int session_bind(struct session *s, struct setting *setting, struct device_binding *b,
		 struct err *e)
{
	if (!setting->tunable->device || setting->ifindex) {
		return 0;
	}
	if (!*setting->device) {
		return err_usage(e, "%s belongs to a device, and none is named", setting->name);
	}
	int r = device_bind(&s->root, setting->device, b, e);
	setting->ifindex = r ? 0 : b->ifindex;
	return r;
}

void session_find_device(struct session *s, struct tracked *t, const json_t *record)
{
	const char *bus, *address;
	int ifindex;
	if (!t->setting.tunable->device ||
	    json_unpack((json_t *)record, "{s:i, s:s, s:s}", "ifindex", &ifindex, "bus", &bus,
			"address", &address)) {
		return;
	}
	t->device.ifindex = ifindex;
	snprintf(t->device.bus, sizeof(t->device.bus), "%s", bus);
	snprintf(t->device.address, sizeof(t->device.address), "%s", address);
	if (device_find(&s->root, &t->device, &t->setting.ifindex, NULL)) {
		t->setting.ifindex = -1;
	}
}

/* A driver that was bound anew has made another interface of the same device. */
static void find_again(struct session *s, const char *device)
{
	for (size_t i = 0; i < s->n; i++) {
		struct tracked *t = s->tracked[i];
		if (!strcmp(t->setting.device, device) && t->setting.ifindex > 0) {
			device_find(&s->root, &t->device, &t->setting.ifindex, NULL);
		}
	}
}

int session_write(struct session *s, const struct setting *setting, const char *text, struct err *e)
{
	bool carried = setting->tunable->cost != COST_CALL && setting->ifindex > 0 &&
		       device_carries(&s->root, setting->ifindex);
	int r = tunable_write(&s->root, setting, text, e);
	if (setting->tunable->cost == COST_REBIND) {
		find_again(s, setting->device);
		return r; /* its back end has waited */
	}
	return r || !carried
		       ? r
		       : device_wait_carrier(&s->root, setting->ifindex, PROTOCOL_CARRIER_MS, e);
}
