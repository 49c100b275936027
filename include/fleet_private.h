/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What fleet.c and fleet/judge.c share. Nobody else includes this.
 */
#ifndef TUNESWEEP_FLEET_PRIVATE_H
#define TUNESWEEP_FLEET_PRIVATE_H

#include "fleet.h"
#include <fcntl.h>
#include <pthread.h>

struct fleet_factor { /* from this pair's numbers to the first one's */
	double throughput, service_demand, score;
};

struct fleet_pair {	  /* [0] is the sweep's own: only its factor and spec are used */
	struct spec spec; /* with this pair's hosts; shares all else with the sweep's */
	struct hosts hosts;
	bool up, off;
	_Atomic bool lost;
	struct space *space;
	struct trial_env env;
	struct fleet_factor factor;
	pthread_mutex_t busy; /* who speaks with its agents */
};

struct fleet {
	size_t n;
	int end[2]; /* closed when the heartbeat is to stop */
	bool beats;
	pthread_t heart;
	struct fleet_pair pair[];
};

#endif
