/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures one configuration again. The same way up and down as a sweep's: hosts, space, sessions,
 * engine; and whatever happens, back. Called by the check command.
 */
#include "recheck.h"
#include "cleanup.h"
#include "engine.h"
#include "trial.h"
#include <errno.h>
#include <math.h>
#include <string.h>

struct work { /* one recheck_run */
	const struct recheck *o;
	struct recheck_result *out;
	struct hosts hosts;
	struct space *space;
	const struct engine_ops *engine;
	void *engine_state;
	struct configuration config;
};

void recheck_clear(struct recheck_result *r)
{
	for (size_t i = 0; i < r->n; i++) {
		sample_clear(&r->sample[i]);
	}
	free(r->sample);
	json_decref(r->hosts);
	json_decref(r->values);
	memset(r, 0, sizeof(*r));
}

static struct agent *agent_of(const struct work *w, int host)
{
	return host < 0 ? NULL : w->hosts.agents[host];
}

static int create_engine(struct work *w, struct err *e)
{
	const struct spec *spec = w->o->spec;
	struct engine_env env = {
		.spec = spec,
		.space = w->space,
		.launcher = w->o->launcher,
		.sender = agent_of(w, spec->test.from),
		.receiver = agent_of(w, spec->test.to),
		.receiver_address = w->hosts.receiver_address,
		.seed = spec->seed,
	};
	return w->engine->create(&env, &w->engine_state, e);
}

static int measure_one(struct work *w, struct trial_env *env, struct err *e)
{
	struct configuration effective;
	struct sample *s = &w->out->sample[w->out->n];
	int rc = trial_run(env, &w->config, s, &effective, e);
	if (rc < 0) {
		sample_clear(s);
		w->out->interrupted = rc == -EINTR;
		return rc == -EINTR ? 0 : rc;
	}
	w->out->n++;
	w->out->failed += !s->ok;
	json_decref(w->out->values);
	w->out->values = space_values(w->space, &effective);
	return 0;
}

static int measure(struct work *w, struct err *e)
{
	struct trial_env env = {
		.spec = w->o->spec,
		.space = w->space,
		.engine = w->engine,
		.engine_state = w->engine_state,
		.interrupt_fd = w->o->interrupt_fd,
		.deadline = INFINITY,
	};
	memcpy(env.agents, w->hosts.agents, sizeof(env.agents));
	w->out->sample = calloc((size_t)w->o->samples, sizeof(*w->out->sample));
	int rc = w->out->sample ? 0 : err_set(e, -ENOMEM, "out of memory");
	for (int i = 0; !rc && i < w->o->samples && !w->out->interrupted; i++) {
		rc = measure_one(w, &env, e);
	}
	return rc;
}

static int choose(struct work *w, struct err *e)
{
	if (w->o->values) {
		return space_values_parse(w->space, w->o->values, &w->config, e);
	}
	space_baseline(w->space, &w->config);
	return 0;
}

static int work(struct work *w, struct err *e)
{
	struct space_source source = {hosts_probe, &w->hosts};
	auto_json json_t *restored = NULL;
	int rc = space_create(w->o->spec, &source, &w->space, NULL, e);
	rc = rc ? rc : choose(w, e);
	rc = rc ? rc : hosts_open_sessions(&w->hosts, w->space, &restored, e);
	rc = rc ? rc : create_engine(w, e);
	rc = rc ? rc : measure(w, e);
	if (w->engine_state) {
		w->engine->destroy(w->engine_state);
	}
	return rc;
}

int recheck_run(const struct recheck *o, struct recheck_result *out, struct err *e)
{
	struct work w = {.o = o, .out = out};
	struct err closing = {0};
	memset(out, 0, sizeof(*out));
	w.engine = engine_find(o->spec->test.engine, e);
	if (!w.engine) {
		return -EINVAL;
	}
	int rc = hosts_open(o->spec, o->launcher, &w.hosts, e);
	if (rc < 0) {
		return rc;
	}
	out->hosts = hosts_fingerprints(&w.hosts);
	rc = work(&w, e);
	int closed = hosts_close(&w.hosts, NULL, &closing);
	space_destroy(w.space);
	if (closed < 0 && (rc == 0 || closing.class == ERR_RESTORE)) {
		*e = closing;
		return closed;
	}
	return rc;
}
