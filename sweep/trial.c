/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measurement from start to end. It decides nothing: the loop and the proof say what to
 * measure, the agents set it, the engine measures it. Called by loop.c, validate.c and the test
 * command.
 */
#include "trial.h"
#include "cleanup.h"
#include "monotonic.h"
#include "protocol.h"
#include "settle.h"
#include "standing.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS_DEFAULT 50

static bool host_is_gone(int code)
{
	return code == -EPIPE || code == -ETIMEDOUT || code == -EHOSTDOWN;
}

static const struct value *value_of(const struct trial_env *env, int host, const char *name,
				    const struct configuration *config)
{
	for (size_t i = 0; i < env->space->n; i++) {
		const struct dimension *d = &env->space->dims[i];
		if (d->tunable->host == host && strcmp(d->target.setting.name, name) == 0) {
			return &config->v[i];
		}
	}
	return NULL;
}

/* Only this side knows where the endpoint will be: the host is told the CPUs. */
static int follow_endpoint(const struct trial_env *env, int host,
			   const struct configuration *config, struct value *v, struct err *e)
{
	static const char *const words[][2] = {{"nic-node", "local-node"}, {"all", "spread"}};
	const struct spec_test *test = &env->spec->test;
	const struct value *cpu = value_of(env, host, "numa.cpu", config);
	int end = host == test->to;
	char list[VALUE_TEXT_MAX] = "";
	for (int i = 0; !cpu && i < test->n_cpus[end]; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%d", i ? "," : "",
			 test->cpus[end][i]);
	}
	*v = cpu ? *cpu : value_text(list);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(v->text, words[i][0]) == 0) {
			*v = value_text(words[i][1]);
		}
	}
	return strcmp(v->text, "other-node") != 0
		       ? 0
		       : err_set(e, -EINVAL,
				 "irq.affinity: " SPEC_SAME_AS_RECEIVER
				 " cannot follow numa.cpu other-node: name its CPUs");
}

static int value_to_set(const struct trial_env *env, int host, const struct dimension *d,
			const struct configuration *config, const struct value *asked,
			struct value *out, struct err *e)
{
	*out = *asked;
	bool follows = strcmp(d->target.setting.name, "irq.affinity") == 0 &&
		       strcmp(asked->text, SPEC_SAME_AS_RECEIVER) == 0;
	return follows ? follow_endpoint(env, host, config, out, e) : 0;
}

/* Sets the host-scope part of a configuration on one host and reads back what the kernel took. */
static int set_on_host(const struct trial_env *env, int host, const struct configuration *config,
		       struct configuration *effective, struct err *e)
{
	struct assignment wanted[SPEC_TUNABLES_MAX];
	struct value took[SPEC_TUNABLES_MAX];
	size_t from[SPEC_TUNABLES_MAX], n = 0;

	for (size_t i = 0; i < env->space->n; i++) {
		const struct dimension *d = &env->space->dims[i];
		if (d->tunable->host == host && d->target.setting.tunable->scope == SCOPE_HOST) {
			wanted[n] = d->target;
			int bad = value_to_set(env, host, d, config, &config->v[i],
					       &wanted[n].value, e);
			if (bad) {
				return bad;
			}
			from[n++] = i;
		}
	}
	if (n == 0) {
		return 0;
	}
	agent_wait_with(env->agents[host], env->agents, env->spec->n_hosts);
	int rc = agent_set(env->agents[host], wanted, n, took, e);
	agent_wait_with(env->agents[host], NULL, 0);
	for (size_t k = 0; rc == 0 && k < n; k++) {
		effective->v[from[k]] = took[k];
	}
	return rc;
}

int trial_set(const struct trial_env *env, const struct configuration *config,
	      struct configuration *effective, struct err *e)
{
	*effective = *config;
	for (int h = 0; h < (int)env->spec->n_hosts; h++) {
		if (!env->agents[h]) {
			continue;
		}
		int rc = set_on_host(env, h, config, effective, e);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

bool trial_interrupted(const struct trial_env *env)
{
	struct pollfd p = {.fd = env->interrupt_fd, .events = POLLIN};
	return env->interrupt_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Sleeps until the engine wants to be asked again or the user wants to stop. */
static bool wait_or_interrupt(const struct trial_env *env, int ms)
{
	struct pollfd p = {.fd = env->interrupt_fd, .events = POLLIN};
	return poll(&p, env->interrupt_fd >= 0 ? 1 : 0, ms) > 0;
}

/* Every wait has a limit, also that for an engine that never says it is done. */
static double sample_limit(const struct spec_test *t)
{
	double limit = t->timeout > 0 ? t->timeout : 10 * t->duration + 60;
	return monotonic_seconds() + limit + 15;
}

/* An agent that hears nothing for long rolls back, so a long sample must not look like silence. */
static int keep_agents_alive(const struct trial_env *env, double *next, struct err *e)
{
	if (monotonic_seconds() < *next) {
		return 0;
	}
	*next = monotonic_seconds() + PROTOCOL_HEARTBEAT_MS * 1e-3;
	for (size_t h = 0; h < env->spec->n_hosts; h++) {
		int rc = env->agents[h] ? agent_ping(env->agents[h], e) : 0;
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static int measure(struct trial_env *env, const struct configuration *effective, struct sample *out,
		   struct err *e)
{
	struct engine_run run = {
		.number = ++env->number,
		.space = env->space,
		.config = effective,
		.duration = env->spec->test.duration,
		.stop_below = env->stop_below,
		.path = env->path,
	};
	double limit = sample_limit(&env->spec->test), heartbeat = 0;
	int rc = env->engine->start(env->engine_state, &run, e);

	while (rc == 0) {
		int ms = POLL_MS_DEFAULT;
		rc = env->engine->poll(env->engine_state, out, &ms, e);
		if (rc == 0 && wait_or_interrupt(env, ms)) {
			rc = err_set(e, -EINTR, "interrupted");
		} else if (rc == 0 && monotonic_seconds() > limit) {
			rc = err_set(e, -ETIME, "the engine did not end within its limit");
		} else if (rc == 0) {
			rc = keep_agents_alive(env, &heartbeat, e);
		}
	}
	env->engine->stop(env->engine_state);
	return rc < 0 ? rc : 0;
}

/* True if the sample is there already. Numbers go on as if it had been measured. */
bool trial_replayed(struct trial_env *env, const struct configuration *config, struct sample *out,
		    struct configuration *effective)
{
	const struct replay_sample *old = env->replay ? replay_take(env->replay, config) : NULL;
	env->replayed = old ? old->trial : 0;
	if (!old) {
		return false;
	}
	sample_copy(out, &old->sample);
	packed_unpack(old->effective, effective);
	env->number++;
	return true;
}

/* What was undone under the measurement was not measured: once more, with a word on who it was. */
static int set_and_measure(struct trial_env *env, const struct configuration *config,
			   struct configuration *effective, struct sample *out, struct err *e)
{
	auto_json json_t *undone = json_array();
	for (int tries = 0;; tries++) {
		char why[256];
		int rc = trial_set(env, config, effective, e);
		rc = rc ? rc : settle_hosts(env, e);
		rc = rc ? rc : measure(env, effective, out, e);
		if (rc || !out->ok) {
			return rc;
		}
		rc = standing_check(env, out, why, sizeof(why), e);
		if (rc > 0 && tries < STANDING_TRIES) {
			json_array_append_new(undone, json_string(why));
			sample_clear(out);
			sample_init(out);
			continue;
		}
		if (rc > 0) {
			sample_fail(out, "%s", why);
		} else if (rc == 0 && json_array_size(undone) && out->detail) {
			json_object_set(out->detail, "undone", undone);
		}
		return rc < 0 ? rc : 0;
	}
}

int trial_run(struct trial_env *env, const struct configuration *config, struct sample *out,
	      struct configuration *effective, struct err *e)
{
	sample_init(out);
	if (trial_interrupted(env)) {
		return err_set(e, -EINTR, "interrupted");
	}
	if (trial_replayed(env, config, out, effective)) {
		return 0;
	}
	int rc = set_and_measure(env, config, effective, out, e);
	if (host_is_gone(rc)) {
		e->code = -EHOSTDOWN;
		return -EHOSTDOWN;
	}
	if (rc == -EINTR) {
		return rc;
	}
	if (rc < 0) {
		sample_fail(out, "%s", e->text);
		out->cut_link = rc == -ENETDOWN; /* it did not come back, and was rolled back */
	}
	if (out->ok) {
		out->m[METRIC_SCORE] = score_of(&env->spec->objective, out);
		if (!isfinite(out->m[METRIC_SCORE])) {
			sample_fail(out, "a metric that the objective needs is not known");
		}
	}
	return 0;
}
