/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of the command engine: one over a small shell program, with a space of four
 * parameters, and a sample of it.
 */
#ifndef TUNESWEEP_COMMAND_FIXTURE_H
#define TUNESWEEP_COMMAND_FIXTURE_H

#include "cleanup.h"
#include "engine.h"
#include "spec.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

extern const struct engine_ops engine_command;

#define SCORE "objective: {maximize: score}\n"

struct rig {
	struct spec *spec;
	struct space *space;
	void *engine;
	int number;
};

/* script: what sh runs; it goes into YAML in single quotes. extra: more keys of test. */
static inline void rig_make(struct rig *r, const char *script, const char *extra,
			    const char *objective)
{
	char text[4096];
	struct err e;
	*r = (struct rig){.number = 0};
	snprintf(text, sizeof(text),
		 "tunesweep: 1\n"
		 "test: {engine: command, command: [sh, -c, '%s'], timeout: 10s%s}\n"
		 "%s"
		 "tunables:\n"
		 "  - {set: param.size, range: [1, 100], default: 42}\n"
		 "  - {set: param.mode, choices: [fast, slow], default: fast}\n"
		 "  - {set: param.flag, choices: [off, on], default: on}\n"
		 "  - {set: param.rate, range: [0.5, 1.5], default: 0.75}\n",
		 script, extra, objective);
	if (spec_parse("s.yaml", text, strlen(text), &r->spec, &e) ||
	    space_create(r->spec, NULL, &r->space, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	struct engine_env env = {.spec = r->spec, .space = r->space};
	if (engine_command.create(&env, &r->engine, &e)) {
		fail_msg("%s", e.text);
	}
}

static inline void rig_clear(struct rig *r)
{
	engine_command.destroy(r->engine);
	space_destroy(r->space);
	spec_free(r->spec);
}

/* One sample at the baseline; the engine's own code if it gives up. */
static inline int measure(struct rig *r, struct sample *s, struct err *e)
{
	struct configuration c;
	struct engine_run run = {.number = ++r->number, .space = r->space, .config = &c};
	space_baseline(r->space, &c);
	sample_init(s);
	int rc = engine_command.start(r->engine, &run, e);
	while (rc == 0) {
		int ms = 0;
		rc = engine_command.poll(r->engine, s, &ms, e);
		if (rc == 0) {
			nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
		}
	}
	engine_command.stop(r->engine);
	return rc;
}

static inline double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
