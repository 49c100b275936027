/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds what each host says of files and services that set tunables against the spec's tunables.
 * Sets nothing, prints nothing.
 */
#include "rivals.h"
#include <fnmatch.h>
#include <string.h>

/* The owner's words are names or patterns; a pattern in the middle of a sysctl name is one, too. */
static bool is_named(const json_t *sets, const char *name)
{
	json_t *one;
	size_t i;
	json_array_foreach((json_t *)sets, i, one)
	{
		if (!fnmatch(json_string_value(one), name, 0)) {
			return true;
		}
	}
	return false;
}

/* The spec's tunables of one host that this owner sets, each name once. */
static json_t *shared_names(const struct hosts *h, size_t host, const json_t *owner)
{
	json_t *names = json_array();
	for (size_t i = 0; i < h->spec->n_tunables; i++) {
		const struct spec_tunable *t = &h->spec->tunables[i];
		const char *name = t->target.setting.name;
		bool here = t->host >= 0 && h->agents[t->host] == h->agents[host];
		if (here && t->target.setting.tunable->scope == SCOPE_HOST &&
		    !is_named(names, name) && is_named(json_object_get(owner, "sets"), name)) {
			json_array_append_new(names, json_string(name));
		}
	}
	return names;
}

static void ask_host(const struct hosts *h, size_t host, json_t *out)
{
	json_t *owners = NULL, *owner;
	struct err ignored = {0};
	size_t i;
	if (agent_owners(h->agents[host], &owners, &ignored)) {
		return;
	}
	json_array_foreach(owners, i, owner)
	{
		json_t *names = shared_names(h, host, owner);
		if (json_array_size(names)) {
			json_array_append_new(out, json_pack("{s:s, s:O, s:O}", "host",
							     h->spec->hosts[host].name, "who",
							     json_object_get(owner, "who"), "sets",
							     names));
		}
		json_decref(names);
	}
	json_decref(owners);
}

json_t *rivals_of(const struct hosts *h)
{
	json_t *out = json_array();
	for (size_t i = 0; i < h->spec->n_hosts; i++) {
		bool seen = false;
		for (size_t k = 0; k < i; k++) {
			seen |= h->agents[k] == h->agents[i];
		}
		if (h->agents[i] && !seen) {
			ask_host(h, i, out);
		}
	}
	return out;
}
