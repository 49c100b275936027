/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sweeps over bad input: metrics that cannot be, spaces of one point or of sixty dimensions, trials
 * that all fail, a stop during the first. Each ends by itself, with what there is and a reason.
 */
#include "loop.h"
#include "slow.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum oddity {
	FINE,
	NOT_A_NUMBER,
	INFINITE,
	MISSING,
	ZERO,
	HUGE_RATIO,
	NOTHING_WORKS,
	BASELINE_FAILS,
	FIRST_IS_LUCKY
};

struct odd { /* an engine: the first sample is fine unless it is the baseline that fails */
	enum oddity what;
	int samples, interrupt;
	double x;
};

static int odd_start(void *state, const struct engine_run *run, struct err *e)
{
	struct odd *o = state;
	(void)e;
	o->x = run->config->v[0].type == VALUE_INT ? (double)run->config->v[0].i : 1;
	if (o->interrupt >= 0) {
		assert_int_equal(1, write(o->interrupt, "x", 1));
	}
	return 0;
}

static int odd_poll(void *state, struct sample *out, int *ms, struct err *e)
{
	static const double values[] = {[NOT_A_NUMBER] = NAN,
					[INFINITE] = INFINITY,
					[ZERO] = 0,
					[MISSING] = NAN,
					[HUGE_RATIO] = 1e300};
	struct odd *o = state;
	bool first = o->samples++ == 0;
	(void)e;
	*ms = 1;
	if (o->interrupt >= 0) {
		return 0; /* never ends */
	}
	if (o->what == NOTHING_WORKS || (o->what == BASELINE_FAILS && first)) {
		sample_fail(out, "the peer hung up");
		return 1;
	}
	bool odd = o->what < NOTHING_WORKS && o->what != FINE && o->samples % 2 == 0;
	double luck = o->what == FIRST_IS_LUCKY && first ? 2 : 1;
	out->ok = true;
	out->m[METRIC_THROUGHPUT] = odd ? values[o->what] : luck * 1e9 + o->x;
	out->m[METRIC_SERVICE_DEMAND] = o->what == MISSING && odd ? NAN : 1;
	return 1;
}

static void odd_stop(void *state)
{
	(void)state;
}

static const struct engine_ops odd_engine = {
	.name = "odd", .start = odd_start, .poll = odd_poll, .stop = odd_stop};

static int sweep(const char *tunables, const char *search, struct odd *o, struct loop_result *r)
{
	static char text[16384];
	struct spec *spec = NULL;
	struct space *space = NULL;
	struct err e = {0};
	int stop[2];
	snprintf(text, sizeof(text),
		 "tunesweep: 1\nname: t\ntest: {engine: simulated, surface: flat}\ntunables:\n%s"
		 "search: {%s}\nproof: {pairs: 6, time: 20s}\n",
		 tunables, search);
	if (spec_parse("t.yaml", text, strlen(text), &spec, &e) ||
	    space_create(spec, NULL, &space, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(0, pipe(stop));
	o->interrupt = o->interrupt ? stop[1] : -1;
	struct trial_env env = {.spec = spec,
				.space = space,
				.engine = &odd_engine,
				.engine_state = o,
				.interrupt_fd = stop[0],
				.deadline = INFINITY};
	struct loop_options options = {0};
	loop_result_init(r);
	int rc = loop_run(&env, &options, r, &e);
	space_destroy(space);
	spec_free(spec);
	close(stop[0]);
	close(stop[1]);
	return rc;
}

#define ONE  "  - {set: param.x, range: [0, 1000], default: 1}\n"
#define SOME "samples: 14, seed: 2"

static void metrics_that_cannot_be_are_failed_samples(void **state)
{
	(void)state;
	for (int what = NOT_A_NUMBER; what <= ZERO; what++) {
		struct odd o = {.what = (enum oddity)what};
		struct loop_result r;
		assert_int_equal(0, sweep(ONE, SOME, &o, &r));
		assert_true(r.has_best && isfinite(r.best_score) && r.best_score > 0);
		assert_true(what == ZERO || r.failed > 0);
		assert_true(what == ZERO || *r.first_failure);
		loop_result_clear(&r);
	}
	struct odd o = {.what = HUGE_RATIO};
	struct loop_result r;
	assert_int_equal(0, sweep(ONE, SOME, &o, &r));
	assert_true(r.has_best && isfinite(r.best_score));
	loop_result_clear(&r);
}

static void a_space_of_one_point_keeps_the_baseline(void **state)
{
	(void)state;
	struct odd o = {FINE};
	struct loop_result r;
	assert_int_equal(0, sweep("  - {set: param.x, choices: [1], default: 1}\n"
				  "  - {set: param.y, range: [4, 4], default: 4}\n",
				  SOME, &o, &r));
	assert_true(r.has_best && r.best_is_baseline && !r.has_gain);
	assert_true(r.samples <= 14);
	loop_result_clear(&r);
}

static void if_nothing_works_the_reason_is_kept(void **state)
{
	(void)state;
	struct odd o = {.what = NOTHING_WORKS};
	struct loop_result r;
	assert_int_equal(0, sweep(ONE, SOME, &o, &r));
	assert_true(!r.has_best && !r.has_gain && isnan(r.best_score));
	assert_int_equal(r.samples, r.failed);
	assert_string_equal("the peer hung up", r.first_failure);
	loop_result_clear(&r);
}

/* Exit status 3 and no gain, but what worked is told. */
static void a_baseline_that_fails_leaves_no_gain(void **state)
{
	(void)state;
	struct odd o = {.what = BASELINE_FAILS};
	struct loop_result r;
	assert_int_equal(0, sweep(ONE, "samples: 4, seed: 2", &o, &r));
	assert_true(r.has_best && !r.baseline_sample.ok && !r.has_gain);
	loop_result_clear(&r);
}

/* Everything after it, the baseline itself included, is far below what the guards hold it against.
 */
static void a_baseline_that_was_lucky_once_stays(void **state)
{
	(void)state;
	struct loop_result r;
	struct odd o = {.what = FIRST_IS_LUCKY};
	assert_int_equal(0, sweep("  - {set: param.x, range: [0, 9], type: int, default: 5}\n",
				  "algorithm: random, samples: 60", &o, &r));
	assert_true(r.has_best && r.best_is_baseline && !r.has_gain);
	loop_result_clear(&r);
}

static void sixty_dimensions_are_searched(void **state)
{
	(void)state;
	static char tunables[8192];
	struct odd o = {FINE};
	struct loop_result r;
	for (int i = 0, at = 0; i < 60; i++) {
		at += snprintf(tunables + at, sizeof(tunables) - (size_t)at,
			       "  - {set: param.x%d, range: [0, 1000], default: 1}\n", i);
	}
	const int samples = is_slow() ? 4 : 16;
	char budget[40];
	snprintf(budget, sizeof(budget), "samples: %d, seed: 2", samples);
	assert_int_equal(0, sweep(tunables, budget, &o, &r));
	assert_true(r.has_best && r.samples == samples && r.failed == 0);
	loop_result_clear(&r);
}

static void a_budget_of_one_is_the_baseline(void **state)
{
	(void)state;
	struct odd o = {FINE};
	struct loop_result r;
	assert_int_equal(0, sweep(ONE, "samples: 1", &o, &r));
	assert_true(r.samples == 1 && r.best_is_baseline && !r.has_gain);
	loop_result_clear(&r);
}

static void a_stop_during_the_first_trial_is_no_error(void **state)
{
	(void)state;
	struct odd o = {.what = FINE, .interrupt = 1};
	struct loop_result r;
	assert_int_equal(0, sweep(ONE, SOME, &o, &r));
	assert_true(r.interrupted && r.samples == 0 && !r.has_best && !r.has_gain);
	loop_result_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_that_cannot_be_are_failed_samples),
		cmocka_unit_test(a_space_of_one_point_keeps_the_baseline),
		cmocka_unit_test(if_nothing_works_the_reason_is_kept),
		cmocka_unit_test(a_baseline_that_fails_leaves_no_gain),
		cmocka_unit_test(a_baseline_that_was_lucky_once_stays),
		cmocka_unit_test(sixty_dimensions_are_searched),
		cmocka_unit_test(a_budget_of_one_is_the_baseline),
		cmocka_unit_test(a_stop_during_the_first_trial_is_no_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
