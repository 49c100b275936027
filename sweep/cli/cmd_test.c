/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep test: one configuration measured, as the machine is, once or until the interval is
 * narrow enough. It sets nothing on any host.
 */
#include "cleanup.h"
#include "cli_test.h"
#include "engine.h"
#include "monotonic.h"
#include "short_slice.h"
#include <errno.h>
#include <math.h>
#include <poll.h>

#define PING_S 1.0

struct test_run {
	struct cli *c;
	struct test_options *o;
	struct hosts hosts;
	const struct engine_ops *engine;
	void *state;
	double ping_at; /* s, this machine's clock */
};

static const enum metric compared[] = {METRIC_THROUGHPUT, METRIC_SERVICE_DEMAND};

/* Both ends on this machine have one agent. */
static bool is_again(const struct test_run *t, size_t i)
{
	return i > 0 && t->hosts.agents[i] == t->hosts.agents[0];
}

/* An agent that hears nothing for long leaves. */
static int agents_keep(struct test_run *t, struct err *e)
{
	int rc = 0;
	if (monotonic_seconds() < t->ping_at) {
		return 0;
	}
	t->ping_at = monotonic_seconds() + PING_S;
	for (size_t i = 0; rc == 0 && i < t->o->spec.n_hosts; i++) {
		rc = is_again(t, i) ? 0 : agent_ping(t->hosts.agents[i], e);
	}
	return rc;
}

/* What one sample would hand to the next (the tcp_metrics cache). */
static int caches_clear(struct test_run *t, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->o->spec.n_hosts; i++) {
		rc = is_again(t, i) ? 0 : agent_settle(t->hosts.agents[i], e);
	}
	return rc;
}

static int sample_run(struct test_run *t, int number, struct sample *out, struct err *e)
{
	struct engine_run run = {.number = number, .duration = t->o->spec.test.duration, .path = 1};
	sample_init(out);
	int rc = caches_clear(t, e);
	rc = rc < 0 ? rc : t->engine->start(t->state, &run, e);
	while (rc == 0) {
		int ms = 50;
		rc = t->engine->poll(t->state, out, &ms, e);
		struct pollfd p = {.fd = t->c->interrupt_fd, .events = POLLIN};
		if (rc == 0 && poll(&p, 1, ms) > 0) {
			rc = err_set(e, -EINTR, "interrupted");
		} else if (rc == 0) {
			rc = agents_keep(t, e);
		}
	}
	t->engine->stop(t->state);
	return rc < 0 ? rc : 0;
}

static struct test_figure figure_of(const struct test_result *r, enum metric m, double level)
{
	double x[1000];
	size_t n = 0;
	for (int i = 0; i < r->n && n < ARRAY_SIZE(x); i++) {
		if (r->samples[i].ok && isfinite(r->samples[i].m[m])) {
			x[n++] = r->samples[i].m[m];
		}
	}
	struct test_figure f = {.median = stats_median(x, n),
				.interval = stats_confidence_sequence(x, n, level)};
	f.width = (f.interval.hi - f.interval.lo) / fabs(f.interval.estimate);
	f.width = isfinite(f.width) ? f.width : INFINITY;
	return f;
}

static struct modes modes_of(const struct test_result *r)
{
	double x[1000];
	size_t n = 0;
	for (int i = 0; i < r->n && n < ARRAY_SIZE(x); i++) {
		if (r->samples[i].ok && r->samples[i].m[METRIC_THROUGHPUT] > 0) {
			x[n++] = r->samples[i].m[METRIC_THROUGHPUT];
		}
	}
	return modes_find(x, n);
}

/* All that is known of throughput and service demand is narrow enough. */
static bool is_reached(const struct test_result *r, const struct test_options *o)
{
	bool some = false;
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		const struct test_figure *f = &r->figure[compared[i]];
		if (isfinite(f->median)) {
			some = true;
			if (f->width > o->width) {
				return false;
			}
		}
	}
	return some;
}

static int repeat(struct test_run *t, struct test_result *r, struct err *e)
{
	const struct test_options *o = t->o;
	int rc = 0;
	for (r->n = 0; r->n < o->repeats_max && !r->reached;) {
		struct sample *s = &r->samples[r->n];
		rc = sample_run(t, r->n + 1, s, e);
		if (rc < 0 && (rc == -EINTR || rc == -EHOSTDOWN || o->repeats_max == 1)) {
			return rc;
		}
		if (rc < 0) {
			sample_fail(s, "%s", e->text);
			r->failed++;
		}
		r->n++;
		for (size_t i = 0; r->n >= o->repeats_min && i < ARRAY_SIZE(compared); i++) {
			r->figure[compared[i]] = figure_of(r, compared[i], o->level);
		}
		r->reached = r->n >= o->repeats_min && o->repeats_max > 1 && is_reached(r, o);
	}
	for (int m = 0; m < METRIC_COUNT; m++) {
		r->figure[m] = figure_of(r, (enum metric)m, o->level);
	}
	r->modes = modes_of(r);
	r->reached |= o->repeats_max == 1;
	return r->failed == r->n ? rc : 0;
}

static int open_all(struct test_run *t, struct err *e)
{
	const struct spec *spec = &t->o->spec;
	t->engine = engine_find(spec->test.engine, e);
	if (!t->engine) {
		return -EINVAL;
	}
	int rc = hosts_open(spec, t->c->launcher, &t->hosts, e);
	if (rc < 0) {
		return rc;
	}
	struct engine_env env = {
		.spec = spec,
		.launcher = t->c->launcher,
		.sender = t->hosts.agents[0],
		.receiver = t->hosts.agents[1],
		.receiver_address = t->hosts.receiver_address,
	};
	return t->engine->create(&env, &t->state, e);
}

static int close_all(struct test_run *t, int rc, struct err *e)
{
	struct err closing = {0};
	if (t->state) {
		t->engine->destroy(t->state);
	}
	if (!t->hosts.spec) {
		return rc;
	}
	int rc_close = hosts_close(&t->hosts, NULL, &closing);
	if (rc == 0 && rc_close < 0) {
		*e = closing;
		return rc_close;
	}
	return rc;
}

static void result_clear(struct test_result *r)
{
	for (int i = 0; r->samples && i < r->n; i++) {
		sample_clear(&r->samples[i]);
	}
	free(r->samples);
}

static int finish(struct cli *c, struct test_options *o, struct test_result *r, int rc,
		  struct err *e)
{
	if (rc == -EINTR || (rc < 0 && cli_interrupted(c))) {
		return CLI_INTERRUPTED;
	}
	if (rc < 0) {
		return cli_fail(c, e);
	}
	test_print(c, o, r);
	return r->reached ? CLI_DONE : CLI_NO;
}

static int run(struct cli *c)
{
	auto_free struct test_options *o = calloc(1, sizeof(*o));
	struct test_run t = {.c = c, .o = o};
	struct test_result r = {0};
	struct err e = {0};
	if (!o) {
		err_set(&e, -ENOMEM, "no memory");
		return cli_fail(c, &e);
	}
	int rc = test_options_read(c, o, &e);
	if (rc == 0) {
		r.samples = calloc((size_t)o->repeats_max, sizeof(*r.samples));
		rc = r.samples ? open_all(&t, &e) : err_set(&e, -ENOMEM, "no memory");
	}
	short_slice();
	rc = rc < 0 ? rc : repeat(&t, &r, &e);
	rc = close_all(&t, rc, &e);
	int status = finish(c, o, &r, rc, &e);
	result_clear(&r);
	test_options_clear(o);
	return status;
}

const struct command command_test = {
	.name = "test",
	.arguments = "",
	.min_args = 0,
	.max_args = 0,
	.summary = "One measurement, with netperf's letters and meanings",
	.options = test_option_table,
	.needs_launcher = true,
	.run = run,
};
