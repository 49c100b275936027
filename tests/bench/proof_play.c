/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proofs and whole sweeps where the truth is known. Included by proof.c and by test_proof.c.
 */
#include "proof_play.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void proof_machine_start(struct proof_machine *m, uint64_t seed)
{
	stats_rng_seed(&m->rng, seed);
	m->period = 60 + 120 * stats_rng_uniform(&m->rng);
	m->phase = 2 * M_PI * stats_rng_uniform(&m->rng);
	m->slope = m->drift / 100 * (2 * stats_rng_uniform(&m->rng) - 1);
	m->last = stats_rng_normal(&m->rng);
	m->samples = 0;
}

double proof_measure(struct proof_machine *m, bool best)
{
	double t = (double)m->samples++, fresh = stats_rng_normal(&m->rng);
	m->last = m->carry * m->last + sqrt(1 - m->carry * m->carry) * fresh;
	double y = (best ? 1 + m->gain : 1) * exp(m->noise * m->last);
	y *= 1 + m->drift * sin(2 * M_PI * t / m->period + m->phase) + m->slope * t;
	if (stats_rng_uniform(&m->rng) < m->outliers) {
		y *= 1 - (0.05 + 0.35 * stats_rng_uniform(&m->rng));
	}
	return y;
}

static int machine_start(void *state, const struct engine_run *run, struct err *e)
{
	(void)e;
	((struct proof_machine *)state)->is_best = run->config->v[0].i == 1;
	return 0;
}

static int machine_poll(void *state, struct sample *out, int *ms, struct err *e)
{
	struct proof_machine *m = state;
	(void)ms;
	(void)e;
	out->ok = true;
	out->m[METRIC_THROUGHPUT] = proof_measure(m, m->is_best);
	out->m[METRIC_SERVICE_DEMAND] = 1;
	return 1;
}

static void machine_stop(void *state)
{
	(void)state;
}

int proof_play_pairs(struct proof_machine *m, int pairs, uint64_t seed, struct gain *out,
		     struct err *e)
{
	static const struct engine_ops engine = {.name = "machine",
						 .start = machine_start,
						 .poll = machine_poll,
						 .stop = machine_stop};
	static const struct tunable row = {.name = "param.x", .scope = SCOPE_RUN};
	struct spec *spec = calloc(1, sizeof(*spec));
	struct spec_tunable tunable = {.host = -1, .when = {.tunable = -1}};
	struct dimension d = {.tunable = &tunable, .above = -1, .below = -1, .when = -1};
	struct space space = {.spec = spec, .n = 1, .dims = &d};
	struct configuration best = {.n = 1, .v = {value_int(1)}},
			     base = {.n = 1, .v = {value_int(0)}};
	struct trial_env env = {.spec = spec,
				.space = &space,
				.engine = &engine,
				.engine_state = m,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct validate_options o = {.pairs = pairs, .time = 3600, .seed = seed};
	if (!spec) {
		return err_set(e, -12, "out of memory");
	}
	objective_init(&spec->objective);
	d.target.setting.tunable = &row;
	proof_machine_start(m, seed);
	int rc = validate_run(&env, &best, &base, &o, out, e);
	free(spec);
	return rc;
}

struct interval proof_play_fixed(struct proof_machine *m, int pairs, uint64_t seed)
{
	double ratio[256];
	struct stats_rng order;
	bool first = true;
	proof_machine_start(m, seed);
	stats_rng_seed(&order, seed + 7);
	pairs = pairs < 256 ? pairs : 256;
	for (int i = 0; i < pairs; i++) {
		first = i % 2 ? !first : stats_rng_uniform(&order) < 0.5;
		double a = proof_measure(m, first), b = proof_measure(m, !first);
		ratio[i] = log(first ? a / b : b / a);
	}
	return stats_hodges_lehmann(ratio, (size_t)pairs, VALIDATE_LEVEL);
}

static const char spec_text[] =
	"tunesweep: 1\nname: nothing\n"
	"test: {engine: simulated, surface: flat, noise: 3%%}\n"
	"tunables:\n"
	"  - {set: param.wmem, range: [1, 65536], type: int, scale: log, default: 64}\n"
	"  - {set: param.rmem, range: [1, 65536], type: int, scale: log, default: 64}\n"
	"  - {set: param.queues, range: [1, 16], type: int, default: 4}\n"
	"  - {set: param.coalesce, range: [0, 256], type: int, default: 8}\n"
	"  - {set: param.policy, choices: [spread, one, node], default: spread}\n"
	"  - {set: param.memory, choices: [default, local, interleave], default: default}\n"
	"search: {samples: %d, seed: %llu}\nproof: {pairs: %d}\n";

static int run_sweep(struct spec *spec, struct space *space, struct loop_result *r, struct err *e)
{
	struct engine_env ee = {.spec = spec, .space = space, .seed = spec->seed};
	const struct engine_ops *engine = engine_find(spec->test.engine, e);
	void *state = NULL;
	int rc = engine ? engine->create(&ee, &state, e) : -1;
	if (rc < 0) {
		return rc;
	}
	struct trial_env env = {.spec = spec,
				.space = space,
				.engine = engine,
				.engine_state = state,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct loop_options o = {0};
	rc = loop_run(&env, &o, r, e);
	engine->destroy(state);
	return rc;
}

int proof_play_sweep(int samples, int pairs, uint64_t seed, struct loop_result *r, struct err *e)
{
	char text[2048];
	struct spec *spec = NULL;
	struct space *space = NULL;
	loop_result_init(r);
	snprintf(text, sizeof(text), spec_text, samples, (unsigned long long)seed, pairs);
	int rc = spec_parse("nothing.yaml", text, strlen(text), &spec, e);
	rc = rc ? rc : space_create(spec, NULL, &space, NULL, e);
	rc = rc ? rc : run_sweep(spec, space, r, e);
	space_destroy(space);
	spec_free(spec);
	return rc;
}
