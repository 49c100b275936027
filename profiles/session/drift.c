/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Do the values that a session has set still stand? It reads only; what follows from it is the
 * caller's. Called by the agent at the end of each trial.
 */
#include "session_private.h"
#include <errno.h>
#include <string.h>

static int add(json_t *list, const struct tracked *t, const char *found)
{
	return json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "set", t->setting.name,
						     "device", t->setting.device, "meant", t->last,
						     "found", found));
}

int session_drifted(struct session *s, json_t **out, struct err *e)
{
	json_t *list = json_array();
	int r = list ? 0 : -1;
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		const struct tracked *t = s->tracked[i];
		char now[SETTING_TEXT_MAX];
		if (!t->touched || t->pending) {
			continue;
		}
		int gone = tunable_read(&s->root, &t->setting, now, sizeof(now), NULL);
		if (gone || !same_text(now, t->last)) {
			r = add(list, t, gone ? "" : now);
		}
	}
	*out = list;
	return r ? err_set(e, -ENOMEM, "out of memory") : 0;
}

size_t session_devices(const struct session *s, const char *name, char (*devices)[IF_NAMESIZE],
		       size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n && n < max; i++) {
		const struct setting *setting = &s->tracked[i]->setting;
		if (!strcmp(setting->name, name)) {
			strcpy(devices[n++], setting->device);
		}
	}
	return n;
}

uint64_t session_capabilities(const struct session *s)
{
	uint64_t all = 0;
	for (size_t i = 0; i < s->n; i++) {
		all |= tunable_capabilities(&s->tracked[i]->setting);
	}
	return all;
}
