/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pairs of a pool: opened, run at the same time, closed. What is measured is loop.c's to say;
 * which pair is fit is fleet/judge.c's.
 */
#include "cleanup.h"
#include "fleet_private.h"
#include "monotonic.h"
#include "protocol.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static void ping_pair(struct fleet_pair *p)
{
	for (size_t h = 0; h < p->spec.n_hosts; h++) {
		struct err lost = {0};
		if (p->env.agents[h] && agent_ping(p->env.agents[h], &lost) < 0) {
			p->lost = true;
		}
	}
}

/* Idle pairs must not look as if nobody wanted them any more. */
static void *heartbeat(void *ctx)
{
	struct fleet *f = ctx;
	struct pollfd p = {.fd = f->end[0], .events = POLLIN};
	while (poll(&p, 1, PROTOCOL_HEARTBEAT_MS) == 0) {
		for (size_t i = 1; i < f->n; i++) {
			if (pthread_mutex_trylock(&f->pair[i].busy) == 0) {
				ping_pair(&f->pair[i]);
				pthread_mutex_unlock(&f->pair[i].busy);
			}
		}
	}
	return NULL;
}

static int create_engine(struct fleet_pair *p, struct launcher *l, struct err *e)
{
	const struct spec *s = &p->spec;
	struct engine_env env = {
		.spec = s,
		.space = p->space,
		.launcher = l,
		.sender = s->test.from < 0 ? NULL : p->hosts.agents[s->test.from],
		.receiver = s->test.to < 0 ? NULL : p->hosts.agents[s->test.to],
		.receiver_address = p->hosts.receiver_address,
		.seed = s->seed,
	};
	return p->env.engine->create(&env, &p->env.engine_state, e);
}

static int open_pair(struct fleet_pair *p, struct launcher *l, const struct trial_env *first,
		     struct err *e)
{
	struct space_source source = {hosts_probe, &p->hosts};
	int rc = hosts_open(&p->spec, l, &p->hosts, e);
	if (rc < 0) {
		return rc;
	}
	p->up = true;
	rc = space_create(&p->spec, &source, &p->space, NULL, e);
	if (rc == 0 && p->space->n != first->space->n) {
		rc = err_set(e, -EINVAL, "it has not the same tunables as the first one");
	}
	rc = rc < 0 ? rc : hosts_open_sessions(&p->hosts, p->space, NULL, e);
	p->env = *first;
	p->env.spec = &p->spec;
	p->env.space = p->space;
	p->env.engine_state = NULL;
	p->env.replay = NULL;
	p->env.fleet = NULL;
	memcpy(p->env.agents, p->hosts.agents, sizeof(p->env.agents));
	return rc < 0 ? rc : create_engine(p, l, e);
}

int fleet_open(const struct spec *spec, struct launcher *l, struct trial_env *first,
	       struct fleet **out, struct err *e)
{
	struct fleet *f = calloc(1, sizeof(*f) + (spec->n_pairs + 1) * sizeof(f->pair[0]));
	int rc = f ? 0 : err_set(e, -ENOMEM, "out of memory");
	if (rc < 0) {
		return rc;
	}
	f->n = 1;
	f->end[0] = f->end[1] = -1;
	f->pair[0].spec = *spec;
	for (size_t i = 0; rc == 0 && i < spec->n_pairs; i++) {
		struct fleet_pair *p = &f->pair[f->n++];
		p->spec = *spec;
		memcpy(p->spec.hosts, spec->pairs[i].hosts, sizeof(p->spec.hosts));
		pthread_mutex_init(&p->busy, NULL);
		rc = open_pair(p, l, first, e);
		if (rc < 0) {
			err_wrap(e, "pair %zu", i + 2);
		}
	}
	rc = rc < 0 ? rc : pipe2(f->end, O_CLOEXEC) ? err_set(e, -errno, "no pipe") : 0;
	if (rc == 0 && pthread_create(&f->heart, NULL, heartbeat, f) != 0) {
		rc = err_set(e, -EAGAIN, "no thread for the pool");
	}
	f->beats = rc == 0;
	if (rc < 0) {
		struct err ignored = {0};
		fleet_close(f, NULL, &ignored);
		return rc;
	}
	for (size_t i = 0; i < f->n; i++) {
		f->pair[i].factor = (struct fleet_factor){1, 1, 1};
	}
	*out = first->fleet = f;
	return 0;
}

static int close_pair(struct fleet_pair *p, json_t **items, struct err *e)
{
	if (p->env.engine_state) {
		p->env.engine->destroy(p->env.engine_state);
	}
	int rc = p->up ? hosts_close(&p->hosts, items, e) : 0;
	space_destroy(p->space);
	pthread_mutex_destroy(&p->busy);
	return rc;
}

int fleet_close(struct fleet *f, json_t *report, struct err *e)
{
	int all = 0;
	if (!f) {
		return 0;
	}
	cleanup_close(&f->end[1]);
	if (f->beats) {
		pthread_join(f->heart, NULL);
	}
	cleanup_close(&f->end[0]);
	for (size_t i = 1; i < f->n; i++) {
		struct err one = {0};
		json_t *items = NULL;
		char name[32];
		int rc = close_pair(&f->pair[i], &items, &one);
		snprintf(name, sizeof(name), "pair %zu", i + 1);
		if (items && report) {
			json_object_set(report, name, items);
		}
		json_decref(items);
		if (rc < 0 && (all == 0 || one.class == ERR_RESTORE)) {
			*e = one;
			err_wrap(e, "%s", name);
			all = rc;
		}
	}
	free(f);
	return all;
}

size_t fleet_width(const struct fleet *f)
{
	size_t n = 1;
	for (size_t i = 1; f && i < f->n; i++) {
		n += !f->pair[i].lost && !f->pair[i].off;
	}
	return n;
}

struct job { /* one trial under way */
	pthread_t thread;
	struct fleet_pair *pair;
	struct fleet_trial *t;
	struct err e;
	int rc;
	_Atomic bool done;
};

static void *run_job(void *ctx)
{
	struct job *j = ctx;
	pthread_mutex_lock(&j->pair->busy);
	j->rc = trial_run(&j->pair->env, j->t->asked, &j->t->sample, &j->t->effective, &j->e);
	pthread_mutex_unlock(&j->pair->busy);
	j->done = true;
	return NULL;
}

/* The next pair in use after this one. */
static size_t next_pair(const struct fleet *f, size_t i)
{
	for (i++; i < f->n && (f->pair[i].lost || f->pair[i].off); i++) {
	}
	return i;
}

static void start_job(struct trial_env *first, struct job *j, struct fleet_trial *t)
{
	struct trial_env *env = &first->fleet->pair[t->pair].env;
	*j = (struct job){.pair = &first->fleet->pair[t->pair], .t = t};
	env->stop_below = first->stop_below;
	env->path = first->path;
	env->number = first->number + (int)t->pair;
	if (pthread_create(&j->thread, NULL, run_job, j) != 0) {
		j->rc = err_set(&j->e, -EHOSTDOWN, "no thread");
		j->pair = NULL;
	}
}

/* The first pair's agents go on hearing of us while others are still at it. */
static void await_job(struct trial_env *first, struct job *j)
{
	double next = monotonic_seconds() + PROTOCOL_HEARTBEAT_MS * 1e-3;
	struct err lost = {0};
	while (j->pair && !j->done) {
		poll(NULL, 0, 2);
		if (monotonic_seconds() > next) {
			next = monotonic_seconds() + PROTOCOL_HEARTBEAT_MS * 1e-3;
			for (size_t h = 0; h < first->spec->n_hosts; h++) {
				if (first->agents[h]) {
					agent_ping(first->agents[h], &lost);
				}
			}
		}
	}
	if (j->pair) {
		pthread_join(j->thread, NULL);
	}
}

static void mark(struct sample *s, size_t pair)
{
	if (pair > 0 && s->n_extra < SAMPLE_EXTRA_MAX) {
		snprintf(s->extra[s->n_extra].name, sizeof(s->extra[0].name), "pair");
		s->extra[s->n_extra++].value = (double)pair + 1;
	}
}

/* A trial that a lost pair owes is made on the first one. */
static int finish_job(struct trial_env *first, struct job *j, struct err *e)
{
	await_job(first, j);
	if (j->rc == -EHOSTDOWN) {
		first->fleet->pair[j->t->pair].lost = true;
		sample_clear(&j->t->sample);
		j->t->pair = 0;
		return trial_run(first, j->t->asked, &j->t->sample, &j->t->effective, e);
	}
	if (j->rc < 0) {
		*e = j->e;
	}
	mark(&j->t->sample, j->t->pair);
	return j->rc;
}

int fleet_run(struct trial_env *first, struct fleet_trial *t, size_t n, struct err *e)
{
	struct job job[FLEET_MAX] = {0};
	size_t measured = n, pair = 0;
	int rc = 0;
	for (size_t i = 0; i < n; i++, pair = first->fleet ? next_pair(first->fleet, pair) : pair) {
		t[i].pair = pair;
		t[i].replayed = 0;
		if (measured == n &&
		    trial_replayed(first, t[i].asked, &t[i].sample, &t[i].effective)) {
			t[i].replayed = first->replayed;
			continue;
		}
		measured = measured == n ? i : measured;
		if (pair > 0) {
			start_job(first, &job[i], &t[i]);
		}
	}
	if (measured == 0) {
		rc = trial_run(first, t[0].asked, &t[0].sample, &t[0].effective, e);
	}
	first->replayed = 0;
	for (size_t i = measured; i < n; i++) {
		struct err one = {0};
		int got = t[i].pair > 0 ? finish_job(first, &job[i], &one) : 0;
		if (got < 0 && rc == 0) {
			*e = one;
			rc = got;
		}
	}
	first->number += (int)(first->fleet ? first->fleet->n : 1) - 1;
	return rc;
}
