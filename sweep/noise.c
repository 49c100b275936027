/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures one configuration, the machine as it is, a number of times by the spec's own test. It
 * judges nothing but the spread. Called by the doctor command.
 */
#include "noise.h"
#include "cleanup.h"
#include "engine.h"
#include "monotonic.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#define PING_S 1.0

struct repeated {
	const struct hosts *hosts;
	const struct engine_ops *engine;
	void *state;
	int interrupt_fd;
	double next_ping;
};

/* An agent that hears nothing for long leaves. */
static int keep_agents(struct repeated *r, struct err *e)
{
	int rc = 0;
	if (monotonic_seconds() < r->next_ping) {
		return 0;
	}
	r->next_ping = monotonic_seconds() + PING_S;
	for (size_t i = 0; rc == 0 && i < r->hosts->spec->n_hosts; i++) {
		rc = agent_ping(r->hosts->agents[i], e);
	}
	return rc;
}

static int measure_once(struct repeated *r, int number, struct sample *out, struct err *e)
{
	struct engine_run run = {
		.number = number, .duration = r->hosts->spec->test.duration, .path = 1};
	int rc = r->engine->start(r->state, &run, e);
	while (rc == 0) {
		int ms = 50;
		rc = r->engine->poll(r->state, out, &ms, e);
		struct pollfd p = {.fd = r->interrupt_fd, .events = POLLIN};
		if (rc == 0 && poll(&p, 1, ms) > 0) {
			rc = err_set(e, -EINTR, "interrupted");
		} else if (rc == 0) {
			rc = keep_agents(r, e);
		}
	}
	r->engine->stop(r->state);
	return rc < 0 ? rc : 0;
}

/* 1.4826 makes the median absolute deviation a standard deviation of normal values. */
static double spread(const double *x, size_t n)
{
	return n >= 3 ? 1.4826 * stats_mad(x, n) : NAN;
}

struct columns {
	double *throughput, *log_throughput, *log_demand, *log_score;
	size_t n, n_demand, n_score;
};

static void take_sample(struct columns *c, const struct spec *spec, const struct sample *s)
{
	double demand = s->m[METRIC_SERVICE_DEMAND], score = score_of(&spec->objective, s);
	if (s->m[METRIC_THROUGHPUT] > 0) {
		c->throughput[c->n] = s->m[METRIC_THROUGHPUT];
		c->log_throughput[c->n++] = log(s->m[METRIC_THROUGHPUT]);
	}
	if (demand > 0) {
		c->log_demand[c->n_demand++] = log(demand);
	}
	if (isfinite(score) && score != 0) {
		c->log_score[c->n_score++] = log(fabs(score));
	}
}

static int measure_all(struct repeated *r, int samples, struct columns *c, struct noise *out,
		       struct err *e)
{
	for (int i = 0; i < samples; i++) {
		struct sample s;
		sample_init(&s);
		int rc = measure_once(r, i + 1, &s, e);
		if (rc == 0 && s.ok) {
			take_sample(c, r->hosts->spec, &s);
		} else {
			out->failed++;
			snprintf(out->failure, sizeof(out->failure), "%.199s",
				 rc < 0 ? e->text : s.reason);
		}
		sample_clear(&s);
		out->samples++;
		if (rc == -EINTR || rc == -EHOSTDOWN) {
			return rc;
		}
	}
	return 0;
}

static void judge(const struct columns *c, const struct spec *spec, struct noise *out)
{
	out->throughput = stats_median(c->throughput, c->n);
	out->throughput_sigma = spread(c->log_throughput, c->n);
	out->demand_sigma = spread(c->log_demand, c->n_demand);
	out->score_sigma = spread(c->log_score, c->n_score);
	out->pairs = spec->proof_pairs > 0 ? spec->proof_pairs : 30;
	out->smallest_gain = 100 * expm1((1.96 + 0.84) * out->score_sigma * sqrt(2.0 / out->pairs));
}

static int create_engine(struct repeated *r, struct err *e)
{
	const struct spec *spec = r->hosts->spec;
	struct engine_env env = {
		.spec = spec,
		.launcher = r->hosts->launcher,
		.sender = r->hosts->agents[spec->test.from],
		.receiver = r->hosts->agents[spec->test.to],
		.receiver_address = r->hosts->receiver_address,
		.seed = spec->seed,
	};
	r->engine = engine_find(spec->test.engine, e);
	return r->engine ? r->engine->create(&env, &r->state, e) : -EINVAL;
}

int noise_measure(const struct hosts *hosts, int samples, int interrupt_fd, struct noise *out,
		  struct err *e)
{
	size_t n = (size_t)samples;
	auto_free double *x = calloc(4 * n, sizeof(*x));
	struct repeated r = {.hosts = hosts, .interrupt_fd = interrupt_fd};
	memset(out, 0, sizeof(*out));
	if (!x) {
		return err_set(e, -ENOMEM, "no memory");
	}
	struct columns c = {x, x + n, x + 2 * n, x + 3 * n, 0, 0, 0};
	int rc = create_engine(&r, e);
	if (rc == 0) {
		rc = measure_all(&r, samples, &c, out, e);
		judge(&c, hosts->spec, out);
		r.engine->destroy(r.state);
	}
	return rc;
}
