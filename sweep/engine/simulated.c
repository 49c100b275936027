/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples from a seeded surface instead of a machine, so that the whole loop can be tested in
 * milliseconds: log-normal noise, some low outliers, a slow drift. A sample depends on the seed,
 * its number and the configuration only. Called by the loop like any engine.
 */
#include "simulated.h"
#include "engine.h"

#include "cleanup.h"
#include "monotonic.h"
#include "score.h"
#include "spec.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define OUTLIER_SHARE 0.03 /* of all samples, 5 to 40 % too low */
#define DRIFT	      0.015

struct simulated {
	const struct spec *spec;
	const struct space *space;
	uint64_t seed;
	int first, second;	     /* dimensions whose values are sizes; -1 if there are none */
	double period, phase, slope; /* of the drift, in samples */
	bool running;
	double ready; /* CLOCK_MONOTONIC: when the sample is there */
	int number;
	struct surface_value truth;
};

static bool is_size(const struct dimension *d)
{
	return !d->category && d->lo > 0;
}

/* Sizes by name where they have one (wmem and rmem of the table), else the first two numbers. */
static int find_size(const struct space *s, const char *word, int not_this)
{
	int found = -1;
	for (size_t i = 0; i < s->n; i++) {
		if ((int)i == not_this || !is_size(&s->dims[i])) {
			continue;
		}
		if (strstr(s->dims[i].key, word)) {
			return (int)i;
		}
		found = found < 0 ? (int)i : found;
	}
	return found;
}

static void choose_drift(struct simulated *m)
{
	struct stats_rng rng;
	stats_rng_seed(&rng, m->seed ^ 0x64726966);
	m->period = 60 + 120 * stats_rng_uniform(&rng);
	m->phase = 2 * M_PI * stats_rng_uniform(&rng);
	m->slope = DRIFT / 100 * (2 * stats_rng_uniform(&rng) - 1);
}

static int simulated_create(const struct engine_env *env, void **state, struct err *e)
{
	const char *surface = env->spec->test.surface;
	if (!env->space) {
		return err_usage(e,
				 "engine simulated wants a space: it has nothing else to measure");
	}
	int second = find_size(env->space, "rmem", find_size(env->space, "wmem", -1));
	if (surface_needs_sizes(surface) && second < 0) {
		return spec_error(env->spec, env->spec->test.place, e,
				  "surface '%s' wants two tunables that are sizes, e.g. param.wmem "
				  "and param.rmem with 'range'",
				  surface);
	}
	struct simulated *m = calloc(1, sizeof(*m));
	if (!m) {
		return err_set(e, -ENOMEM, "out of memory for the engine");
	}
	m->spec = env->spec;
	m->space = env->space;
	m->seed = env->seed;
	m->first = find_size(env->space, "wmem", -1);
	m->second = second;
	choose_drift(m);
	*state = m;
	return 0;
}

static double log2_of(const struct configuration *c, int i)
{
	if (i < 0) {
		return 0;
	}
	double v = c->v[i].type == VALUE_REAL ? c->v[i].r : (double)c->v[i].i;
	return log2(fmax(v, 1));
}

static struct surface_value true_value(const struct simulated *m, const struct configuration *c)
{
	double z[SPEC_TUNABLES_MAX];
	bool category[SPEC_TUNABLES_MAX];
	int levels[SPEC_TUNABLES_MAX];
	space_encode(m->space, c, z);
	for (size_t i = 0; i < m->space->n; i++) {
		const struct dimension *d = &m->space->dims[i];
		category[i] = d->category;
		levels[i] = (int)d->n_choices;
		z[i] = d->category ? floor(z[i] * levels[i]) : z[i];
	}
	struct surface_point p = {.n = m->space->n,
				  .z = z,
				  .category = category,
				  .levels = levels,
				  .log2_a = log2_of(c, m->first),
				  .log2_b = log2_of(c, m->second),
				  .seed = m->seed};
	return surface_at(m->spec->test.surface, &p);
}

static int simulated_start(void *state, const struct engine_run *run, struct err *e)
{
	struct simulated *m = state;
	(void)e;
	m->truth = true_value(m, run->config);
	m->number = run->number;
	m->running = true;
	m->ready = m->spec->test.sample_time > 0 ? monotonic_seconds() + m->spec->test.sample_time
						 : 0;
	return 0;
}

/* The throughput's factor: noise, outliers and drift, around 1. */
static double disturbance(const struct simulated *m, struct stats_rng *rng)
{
	double noise = m->spec->test.noise;
	if (noise == 0) {
		return 1;
	}
	double t = m->number;
	double factor = exp(noise * stats_rng_normal(rng));
	factor *= 1 + DRIFT * sin(2 * M_PI * t / m->period + m->phase) + m->slope * t;
	if (stats_rng_uniform(rng) < OUTLIER_SHARE) {
		factor *= 1 - (0.05 + 0.35 * stats_rng_uniform(rng));
	}
	return factor;
}

static int simulated_poll(void *state, struct sample *out, int *poll_ms, struct err *e)
{
	struct simulated *m = state;
	struct stats_rng rng;
	(void)e;
	*poll_ms = m->ready > 0 ? 1 : 0;
	sample_init(out);
	if (m->ready > 0 && monotonic_seconds() < m->ready) {
		return 0;
	}
	m->running = false;
	if (m->truth.fails) {
		sample_fail(out, "the simulated test fails with this configuration");
		return 1;
	}
	stats_rng_seed(&rng, m->seed * 0x9e3779b97f4a7c15u + (uint64_t)m->number);
	double factor = disturbance(m, &rng);
	out->m[METRIC_THROUGHPUT] = m->truth.throughput * factor;
	/* the CPU's own noise is smaller than the network's */
	double cpu = exp(0.3 * m->spec->test.noise * stats_rng_normal(&rng));
	out->m[METRIC_SERVICE_DEMAND] = m->truth.service_demand * cpu;
	out->m[METRIC_SECONDS] = 0;
	out->steady = true;
	out->ok = true;
	return 1;
}

static void simulated_stop(void *state)
{
	struct simulated *m = state;
	m->running = false;
}

const struct engine_ops engine_simulated = {
	.name = "simulated",
	.help = "draws samples from a seeded surface: for trying tunesweep itself",
	.create = simulated_create,
	.start = simulated_start,
	.poll = simulated_poll,
	.stop = simulated_stop,
	.destroy = free,
};
