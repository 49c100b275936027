/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a trial's values stood to its end, asked of each host that had any. What to do about it
 * is trial.c's.
 */
#include "standing.h"
#include "cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has_values(const struct trial_env *env, int host)
{
	for (size_t i = 0; i < env->space->n; i++) {
		const struct dimension *d = &env->space->dims[i];
		if (d->tunable->host == host && d->target.setting.tunable->scope == SCOPE_HOST) {
			return true;
		}
	}
	return false;
}

static void say_why(const char *host, const json_t *told, char *why, size_t size)
{
	const json_t *first = json_array_get(json_object_get(told, "drifted"), 0);
	const json_t *suspects = json_object_get(told, "suspects");
	const char *set = "?", *device = "", *meant = "?", *found = "?";
	json_unpack((json_t *)first, "{s:s, s:s, s:s, s:s}", "set", &set, "device", &device,
		    "meant", &meant, "found", &found);
	int n = snprintf(why, size,
			 "%s of %s%s%s was changed under the test (set '%.40s', found "
			 "'%.40s')",
			 set, host, *device ? " " : "", device, meant, found);
	for (size_t i = 0; n > 0 && (size_t)n < size && i < json_array_size(suspects); i++) {
		n += snprintf(why + n, size - (size_t)n, "%s %s", i ? "," : "; there runs",
			      json_string_value(json_array_get(suspects, i)));
	}
}

static void keep_interrupts(const char *host, const json_t *told, struct sample *out)
{
	json_t *interrupts = json_object_get(told, "interrupts");
	if (json_object_size(interrupts) == 0 || !out->detail) {
		return;
	}
	json_t *all = json_object_get(out->detail, "interrupts");
	if (!all) {
		all = json_object();
		json_object_set_new(out->detail, "interrupts", all);
	}
	json_object_set(all, host, interrupts);
}

int standing_check(const struct trial_env *env, struct sample *out, char *why, size_t size,
		   struct err *e)
{
	int undone = 0;
	for (int h = 0; h < (int)env->spec->n_hosts; h++) {
		auto_json json_t *told = NULL;
		const char *name = env->spec->hosts[h].name;
		if (!env->agents[h] || !has_values(env, h)) {
			continue;
		}
		int rc = agent_check(env->agents[h], &told, e);
		if (rc < 0) {
			return rc;
		}
		keep_interrupts(name, told, out);
		if (!undone && json_array_size(json_object_get(told, "drifted"))) {
			say_why(name, told, why, size);
			undone = 1;
		}
	}
	return undone;
}
