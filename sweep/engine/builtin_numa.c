/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numa.policy and numa.cpu of one host, from a configuration to the endpoints' request. Called by
 * builtin_request.c alone.
 */
#include "builtin_private.h"
#include <string.h>

json_t *builtin_numa(const struct builtin_host *h, const struct engine_run *run)
{
	static const char prefix[] = "numa.";
	json_t *values = json_object();
	for (size_t i = 0; run->space && run->config && i < run->space->n; i++) {
		const struct dimension *d = &run->space->dims[i];
		const char *name = d->target.setting.name;
		if (d->tunable->host == h->index && strncmp(name, prefix, strlen(prefix)) == 0) {
			json_object_set_new(values, name + strlen(prefix),
					    value_to_json(&run->config->v[i]));
		}
	}
	if (json_object_size(values) == 0) {
		json_decref(values);
		return NULL;
	}
	return values;
}
