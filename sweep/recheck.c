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
	struct configuration config, baseline;
};

void recheck_clear(struct recheck_result *r)
{
	for (size_t i = 0; i < r->n; i++) {
		sample_clear(&r->sample[i]);
	}
	for (size_t i = 0; i < r->n_baseline; i++) {
		sample_clear(&r->baseline[i]);
	}
	free(r->sample);
	free(r->baseline);
	json_decref(r->baseline_values);
	json_decref(r->hosts);
	json_decref(r->use);
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

/* One more sample of a configuration at the end of a list. */
static int measure_one(struct work *w, struct trial_env *env, const struct configuration *c,
		       struct sample *list, size_t *n, json_t **values, struct err *e)
{
	struct configuration effective;
	int rc = trial_run(env, c, &list[*n], &effective, e);
	if (rc < 0) {
		sample_clear(&list[*n]);
		w->out->interrupted = rc == -EINTR;
		return rc == -EINTR ? 0 : rc;
	}
	++*n;
	json_decref(*values);
	*values = space_values(w->space, &effective);
	return 0;
}

static int measure_config(struct work *w, struct trial_env *env, struct err *e)
{
	struct recheck_result *r = w->out;
	return measure_one(w, env, &w->config, r->sample, &r->n, &r->values, e);
}

static int measure_baseline(struct work *w, struct trial_env *env, struct err *e)
{
	struct recheck_result *r = w->out;
	return measure_one(w, env, &w->baseline, r->baseline, &r->n_baseline, &r->baseline_values,
			   e);
}

/* Both, in an order that cancels drift: ABBA. */
static int measure_turn(struct work *w, struct trial_env *env, int turn, struct err *e)
{
	env->path = w->o->paired ? turn + 1 : 0;
	int rc = turn % 2 && w->o->paired ? measure_baseline(w, env, e) : 0;
	rc = rc || w->out->interrupted ? rc : measure_config(w, env, e);
	return rc || w->out->interrupted || turn % 2 || !w->o->paired ? rc
								      : measure_baseline(w, env, e);
}

static void set_half(struct pair *p, int half, const struct sample *s)
{
	p->score[half] = s->m[METRIC_SCORE];
	p->throughput[half] = s->m[METRIC_THROUGHPUT];
	p->service_demand[half] = s->m[METRIC_SERVICE_DEMAND];
}

static void take_gain(struct recheck_result *r)
{
	auto_free struct pair *pairs = calloc(r->n + 1, sizeof(*pairs));
	size_t n = 0;
	for (size_t i = 0; pairs && i < r->n && i < r->n_baseline; i++) {
		if (r->sample[i].ok && r->baseline[i].ok) {
			set_half(&pairs[n], 0, &r->sample[i]);
			set_half(&pairs[n++], 1, &r->baseline[i]);
		}
	}
	if (pairs) {
		validate_gain(pairs, n, &r->gain);
	}
}

static int measure(struct work *w, struct err *e)
{
	struct recheck_result *r = w->out;
	struct trial_env env = {
		.spec = w->o->spec,
		.space = w->space,
		.engine = w->engine,
		.engine_state = w->engine_state,
		.interrupt_fd = w->o->interrupt_fd,
		.deadline = INFINITY,
	};
	memcpy(env.agents, w->hosts.agents, sizeof(env.agents));
	r->sample = calloc((size_t)w->o->samples + 1, sizeof(*r->sample));
	r->baseline = calloc((size_t)w->o->samples + 1, sizeof(*r->baseline));
	int rc = r->sample && r->baseline ? 0 : err_set(e, -ENOMEM, "out of memory");
	for (int i = 0; !rc && i < w->o->samples && !r->interrupted; i++) {
		rc = measure_turn(w, &env, i, e);
	}
	for (size_t i = 0; i < r->n; i++) {
		r->failed += !r->sample[i].ok;
	}
	take_gain(r);
	return rc;
}

static int choose(struct work *w, struct err *e)
{
	space_baseline(w->space, &w->baseline);
	if (w->o->values) {
		return space_values_parse(w->space, w->o->values, &w->config, e);
	}
	w->config = w->baseline;
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

/* This machine's own use is the night's to look at. */
static int ask_use(struct work *w, struct err *e)
{
	const struct spec *spec = w->o->spec;
	int rc = 0;
	w->out->use = json_object();
	for (size_t i = 0; rc == 0 && i < spec->n_hosts; i++) {
		json_t *one = NULL;
		if (spec->hosts[i].via.kind == VIA_COMMAND) {
			rc = agent_use(w->hosts.agents[i], &one, e);
		}
		if (one) {
			json_object_set_new(w->out->use, spec->hosts[i].name, one);
		}
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
	rc = o->samples ? work(&w, e) : ask_use(&w, e);
	int closed = hosts_close(&w.hosts, NULL, &closing);
	space_destroy(w.space);
	if (closed < 0 && (rc == 0 || closing.class == ERR_RESTORE)) {
		*e = closing;
		return closed;
	}
	return rc;
}
