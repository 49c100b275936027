/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between setting and measuring: clear what one trial would hand to the next. Called by trial.c.
 */
#include "settle.h"

int settle_hosts(const struct trial_env *env, struct err *e)
{
	for (size_t h = 0; h < env->spec->n_hosts; h++) {
		int rc = env->agents[h] ? agent_settle(env->agents[h], e) : 0;
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}
