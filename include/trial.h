/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measurement from start to end: set the configuration on the hosts (host scope), settle, run
 * the engine, read the sample, compute its score. A trial that cannot be set or measured is a
 * failed sample, not an error; an error ends the sweep.
 */
#ifndef TUNESWEEP_TRIAL_H
#define TUNESWEEP_TRIAL_H

#include "engine.h"
#include "replay.h"

struct fleet;

struct trial_env {
	const struct spec *spec;
	const struct space *space;
	struct agent *agents[SPEC_HOSTS_MAX]; /* by the spec's index; NULL where there is none */
	const struct engine_ops *engine;
	void *engine_state;
	int interrupt_fd;  /* readable when the user wants to stop; -1 if never */
	double deadline;   /* CLOCK_MONOTONIC seconds; INFINITY if none */
	double stop_below; /* bit/s: as engine_run's; 0: no sample ends early */
	int path;	   /* as engine_run's: the pair that this sample belongs to, 0 for none */
	struct replay *replay; /* of a resumed run; NULL: everything is measured */
	int64_t replayed;      /* trial of the store that answered the last sample; 0: measured */
	int number;	       /* counts the samples */
	struct fleet *fleet;   /* of a pool; NULL: one pair of hosts (fleet.h) */
};

/* -EINTR when interrupted, -EHOSTDOWN when an agent is gone; else 0, also for failed samples.
 * effective gets what the kernel took. */
int trial_run(struct trial_env *env, const struct configuration *config, struct sample *out,
	      struct configuration *effective, struct err *e);

/* True if the replay has the next sample of this configuration: then it is the answer. */
bool trial_replayed(struct trial_env *env, const struct configuration *config, struct sample *out,
		    struct configuration *effective);

/* Sets a configuration without measuring; effective gets what the kernel took. */
int trial_set(const struct trial_env *env, const struct configuration *config,
	      struct configuration *effective, struct err *e);

/* The user wants to stop. */
bool trial_interrupted(const struct trial_env *env);

#endif
