/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The family of engines: what makes one sample of one configuration. builtin commands the agents'
 * endpoints; command runs any benchmark; simulated draws from a seeded surface; netperf and iperf3
 * run those. All fill the same struct sample; what one cannot know stays NaN. The calls do not
 * block for longer than a control exchange: the loop polls, so that Ctrl-C is seen at once.
 */
#ifndef TUNESWEEP_ENGINE_H
#define TUNESWEEP_ENGINE_H

#include "agent.h"
#include "sample.h"
#include "space.h"

struct engine_env { /* borrowed for the engine's life */
	const struct spec *spec;
	const struct space *space;	 /* simulated needs the dimensions; may be NULL for test */
	struct launcher *launcher;	 /* command */
	struct agent *sender, *receiver; /* NULL without hosts */
	const char *receiver_address;
	uint64_t seed;
};

struct engine_run {		   /* one sample */
	int number;		   /* counts up from 1 over the whole run */
	const struct space *space; /* NULL: no configuration */
	const struct configuration *config;
	double duration;   /* s */
	double stop_below; /* bit/s: a sample that is surely below may end early; 0: never */
	int path; /* both samples of a pair name the same, from 1 on: same addresses, same ports.
		     0: by number, two at a time */
};

struct engine_ops {
	const char *name;
	const char *help;
	int (*create)(const struct engine_env *env, void **state, struct err *e);
	/* Begins a sample. An error is a failed sample, not the end of the sweep, unless it is
	 * -EHOSTDOWN (an agent or a served command is gone). */
	int (*start)(void *state, const struct engine_run *run, struct err *e);
	/* 0: still running (poll again after about poll_ms); 1: done, out is filled; < 0 as start.
	 */
	int (*poll)(void *state, struct sample *out, int *poll_ms, struct err *e);
	/* Ends a sample that is under way, or cleans up after one; always allowed. */
	void (*stop)(void *state);
	void (*destroy)(void *state);
};

/* ERR_USAGE with the nearest name. */
const struct engine_ops *engine_find(const char *name, struct err *e);

#endif
