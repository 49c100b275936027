/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The family of engines by name: the only file that knows all of them. A new engine is one file in
 * engine/ and one line here. Called by the commands that measure.
 */
#include "engine.h"

#include "cleanup.h"
#include <string.h>

extern const struct engine_ops engine_builtin, engine_command, engine_iperf3, engine_netperf,
	engine_simulated;

static const struct engine_ops *const engines[] = {
	&engine_builtin, &engine_netperf, &engine_iperf3, &engine_command, &engine_simulated,
};

const struct engine_ops *engine_find(const char *name, struct err *e)
{
	const char *names[ARRAY_SIZE(engines)];
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		names[i] = engines[i]->name;
		if (strcmp(name, names[i]) == 0) {
			return engines[i];
		}
	}
	const char *near = nearest_word(name, names, ARRAY_SIZE(names));
	err_usage(e,
		  "there is no engine '%.40s'%s%s%s (builtin, netperf, iperf3, command, simulated)",
		  name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}
