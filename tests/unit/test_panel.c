/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panel of a winner over an engine that is worse under some tests: which tests are made, what
 * is called worse, and that nothing is begun that would not end in time.
 */
#include "monotonic.h"
#include "panel.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct tunable row = {.name = "socket.message_size", .scope = SCOPE_RUN};

struct fake {
	struct stats_rng rng;
	struct spec_test test; /* of this engine */
	bool best;
	int64_t message;
};

struct world {
	struct spec spec;
	struct spec_tunable tunable;
	struct dimension dim;
	struct space space;
	struct configuration winner, baseline;
	int engines, samples;
	char tests[256];
};

static int fake_start(void *state, const struct engine_run *run, struct err *e)
{
	struct fake *f = state;
	(void)e;
	f->message = run->config->v[0].i;
	f->best = run->config->v[1].i == 1;
	return 0;
}

static int fake_poll(void *state, struct sample *out, int *ms, struct err *e)
{
	struct fake *f = state;
	bool rr = strcmp(f->test.type, "tcp_rr") == 0;
	double factor = !f->best ? 1 : f->test.streams == 16 ? 0.8 : rr ? 1.3 : 1.1;
	(void)ms;
	(void)e;
	out->ok = true;
	out->m[METRIC_THROUGHPUT] = rr ? NAN : 1e9 * factor * exp(0.01 * stats_rng_normal(&f->rng));
	out->m[METRIC_SERVICE_DEMAND] = exp(0.01 * stats_rng_normal(&f->rng));
	out->m[METRIC_LATENCY_P99] = rr ? 50 * factor * exp(0.01 * stats_rng_normal(&f->rng)) : NAN;
	return 1;
}

static void fake_stop(void *state)
{
	(void)state;
}

static const struct engine_ops fake_engine = {
	.name = "fake", .start = fake_start, .poll = fake_poll, .stop = fake_stop, .destroy = free};

static int make_engine(void *ctx, const struct spec *variant, void **state, struct err *e)
{
	struct world *w = ctx;
	struct fake *f = calloc(1, sizeof(*f));
	char word[64];
	(void)e;
	assert_non_null(f);
	f->test = variant->test;
	stats_rng_seed(&f->rng, (uint64_t)++w->engines);
	snprintf(word, sizeof(word), "%s/%d/%d ", variant->test.type, variant->test.streams,
		 (int)variant->test.n_fixed);
	strncat(w->tests, word, sizeof(w->tests) - strlen(w->tests) - 1);
	*state = f;
	return 0;
}

static void run(struct world *w, const char *type, int streams, double seconds, struct panel *p)
{
	struct err e = {0};
	*w = (struct world){.space = {.spec = &w->spec, .n = 1, .dims = &w->dim}};
	objective_init(&w->spec.objective);
	strcpy(w->spec.test.type, type);
	w->spec.test.streams = streams;
	w->spec.test.duration = 0.5;
	w->tunable.host = -1;
	w->dim.tunable = &w->tunable;
	w->dim.target.setting.tunable = &row;
	strcpy(w->dim.target.setting.name, row.name);
	w->winner.n = w->baseline.n = 1;
	w->winner.v[0] = value_int(1 << 20);
	w->baseline.v[0] = value_int(1 << 17);
	w->winner.v[1] = value_int(1); /* how the engine knows them apart */
	struct trial_env env = {.spec = &w->spec,
				.space = &w->space,
				.engine = &fake_engine,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct panel_options o = {
		.end = monotonic_seconds() + seconds, .seed = 1, .engine = make_engine, .ctx = w};
	assert_int_equal(0, panel_run(&env, &w->winner, &w->baseline, &o, p, &e));
}

static void what_got_worse_is_said(void **state)
{
	(void)state;
	struct world w;
	struct panel p;
	run(&w, "tcp_stream", 1, 3600, &p);
	assert_string_equal("tcp_stream/4/0 tcp_stream/16/0 tcp_stream/1/1 tcp_maerts/1/0 "
			    "tcp_rr/1/0 ",
			    w.tests);
	assert_int_equal(0, p.item[PANEL_STREAMS_1].pairs); /* the run's own test */
	assert_true(p.item[PANEL_STREAMS_4].pairs == 6 && !p.item[PANEL_STREAMS_4].worse);
	assert_true(p.item[PANEL_STREAMS_16].worse && p.item[PANEL_STREAMS_16].throughput.hi < -15);
	assert_true(p.item[PANEL_REQUESTS].worse && p.item[PANEL_REQUESTS].latency_p99.lo > 20);
	assert_true(isnan(p.item[PANEL_REQUESTS].throughput.lo));
	assert_true(isnan(p.item[PANEL_STREAMS_4].latency_p99.hi));
	assert_false(p.item[PANEL_SMALL_MESSAGES].worse);
	assert_string_equal("16 streams", panel_name(PANEL_STREAMS_16));
}

static void other_types_have_fewer_tests(void **state)
{
	(void)state;
	struct world w;
	struct panel p;
	run(&w, "tcp_maerts", 4, 3600, &p);
	assert_non_null(strstr(w.tests, "tcp_stream/4/0 "));
	run(&w, "udp_stream", 1, 3600, &p);
	assert_string_equal("tcp_maerts/1/0 tcp_rr/1/0 ", w.tests);
	run(&w, "tcp_rr", 1, 3600, &p);
	assert_string_equal("", w.tests);
}

static void nothing_is_begun_that_would_not_end_in_time(void **state)
{
	(void)state;
	struct world w;
	struct panel p;
	run(&w, "tcp_stream", 1, 10, &p);
	assert_int_equal(0, w.engines);
	for (int k = 0; k < PANEL_KINDS; k++) {
		assert_int_equal(0, p.item[k].pairs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_got_worse_is_said),
		cmocka_unit_test(other_types_have_fewer_tests),
		cmocka_unit_test(nothing_is_begun_that_would_not_end_in_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
