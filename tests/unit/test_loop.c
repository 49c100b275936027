/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole sweeps over the simulated engine: the order of things, budgets, failures, and that nothing
 * is claimed where nothing matters. Milliseconds each. */
#include "loop.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	double best; /* of all scores */
	int baseline, search, proof;
	int first_phase, stop_after;
	int interrupt[2];
};

static void progress(void *ctx, const struct loop_progress *p)
{
	struct seen *s = ctx;
	if (s->baseline + s->search + s->proof == 0) {
		s->first_phase = p->phase;
	}
	s->best = p->phase != LOOP_PROOF && p->sample->ok
			  ? fmax(s->best, p->sample->m[METRIC_SCORE])
			  : s->best;
	s->baseline += p->phase == LOOP_BASELINE;
	s->search += p->phase == LOOP_SEARCH;
	s->proof += p->phase == LOOP_PROOF;
	if (s->stop_after && s->baseline + s->search + s->proof == s->stop_after) {
		assert_int_equal(1, write(s->interrupt[1], "x", 1));
	}
}

/* Runs a spec; the caller clears r. Returns loop_run's value. */
static int sweep(const char *text, struct seen *seen, struct loop_result *r)
{
	struct spec *spec = NULL;
	struct space *space = NULL;
	struct err e = {0};
	void *state = NULL;
	assert_int_equal(0, spec_parse("test.yaml", text, strlen(text), &spec, &e));
	assert_int_equal(0, space_create(spec, NULL, &space, NULL, &e));
	struct engine_env ee = {.spec = spec, .space = space, .seed = spec->seed};
	const struct engine_ops *engine = engine_find(spec->test.engine, &e);
	assert_non_null(engine);
	assert_int_equal(0, engine->create(&ee, &state, &e));
	assert_int_equal(0, pipe(seen->interrupt));
	struct trial_env env = {.spec = spec,
				.space = space,
				.engine = engine,
				.engine_state = state,
				.interrupt_fd = seen->interrupt[0],
				.deadline = INFINITY};
	struct loop_options o = {.progress = progress, .ctx = seen};
	loop_result_init(r);
	int rc = loop_run(&env, &o, r, &e);
	engine->destroy(state);
	space_destroy(space);
	spec_free(spec);
	close(seen->interrupt[0]);
	close(seen->interrupt[1]);
	return rc;
}

#define SIZES                                                                                      \
	"tunables:\n"                                                                              \
	"  - {set: param.wmem, range: [1, 65536], type: int, scale: log, default: 64}\n"           \
	"  - {set: param.rmem, range: [1, 65536], type: int, scale: log, default: 64}\n"

static void a_gain_that_is_there_is_found_and_proved(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct loop_result r;
	assert_int_equal(0, sweep("tunesweep: 1\nname: t\n"
				  "test: {engine: simulated, surface: ridge, noise: 1%}\n" SIZES
				  "search: {samples: 40, seed: 3}\nproof: {pairs: 60}\n",
				  &seen, &r));
	assert_int_equal(LOOP_BASELINE, seen.first_phase);
	assert_true(r.samples <= 40 && r.samples == seen.baseline + seen.search);
	assert_true(r.has_best && !r.best_is_baseline && r.has_gain);
	assert_true(r.proof.gain.significant && r.proof.gain.score.lo > 5);
	assert_true(r.best_score > r.baseline_score);
	assert_false(r.interrupted);
	loop_result_clear(&r);
}

static void where_nothing_matters_nothing_is_claimed(void **state)
{
	(void)state;
	int claimed = 0;
	for (int seed = 1; seed <= 12; seed++) {
		char text[512];
		struct seen seen = {0};
		struct loop_result r;
		snprintf(text, sizeof(text),
			 "tunesweep: 1\nname: t\ntest: {engine: simulated, surface: flat, noise: "
			 "3%%}\n" SIZES "search: {samples: 30, seed: %d}\nproof: {pairs: 30}\n",
			 seed);
		assert_int_equal(0, sweep(text, &seen, &r));
		claimed += r.has_gain && r.proof.gain.significant && r.proof.gain.score.lo > 0;
		loop_result_clear(&r);
	}
	/* at most 5 % are expected: two of twelve have a chance of 12 % */
	assert_in_range(claimed, 0, 2);
}

static void an_interrupt_keeps_what_there_is(void **state)
{
	(void)state;
	struct seen seen = {.stop_after = 7};
	struct loop_result r;
	assert_int_equal(0, sweep("tunesweep: 1\nname: t\n"
				  "test: {engine: simulated, surface: ridge, noise: 1%}\n" SIZES
				  "search: {samples: 40}\n",
				  &seen, &r));
	assert_true(r.interrupted);
	assert_int_equal(7, r.samples);
	assert_true(r.has_best);
	assert_int_equal(0, seen.proof);
	loop_result_clear(&r);
}

static void a_budget_of_one_measures_the_baseline(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct loop_result r;
	assert_int_equal(0, sweep("tunesweep: 1\nname: t\n"
				  "test: {engine: simulated, surface: ridge, noise: 1%}\n" SIZES
				  "search: {samples: 1}\n",
				  &seen, &r));
	assert_int_equal(1, r.samples);
	assert_true(r.best_is_baseline && !r.has_gain);
	loop_result_clear(&r);
}

static void cliffs_are_survived(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct loop_result r;
	assert_int_equal(
		0, sweep("tunesweep: 1\nname: t\n"
			 "test: {engine: simulated, surface: bottleneck, noise: 1%}\n"
			 "tunables:\n"
			 "  - {set: param.wmem, range: [4096, 67108864], type: int, scale: log, "
			 "default: 1048576}\n"
			 "  - {set: param.rmem, range: [4096, 67108864], type: int, scale: log, "
			 "default: 65536}\n"
			 "search: {samples: 60, seed: 2}\nproof: {pairs: 20}\n",
			 &seen, &r));
	assert_true(r.has_best);
	assert_true(r.failed < r.samples);
	assert_true(r.has_gain && r.proof.gain.significant);
	loop_result_clear(&r);
}

static void repeats_until_the_confidence_are_counted(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct loop_result r;
	assert_int_equal(0, sweep("tunesweep: 1\nname: t\n"
				  "test:\n  engine: simulated\n  surface: ridge\n  noise: 1%\n"
				  "  confidence: {level: 95%, width: 5%, samples: [3, 3]}\n" SIZES
				  "search: {algorithm: random, samples: 31}\nproof: {pairs: 0}\n",
				  &seen, &r));
	assert_int_equal(31, r.samples);
	loop_result_clear(&r);
}

static void every_algorithm_goes_through(void **state)
{
	(void)state;
	for (const char *const *name = search_names(); *name; name++) {
		char text[512];
		struct seen seen = {0};
		struct loop_result r;
		snprintf(text, sizeof(text),
			 "tunesweep: 1\nname: t\ntest: {engine: simulated, surface: ridge, noise: "
			 "1%%}\n" SIZES "search: {algorithm: %s, samples: 25}\nproof: {pairs: 0}\n",
			 *name);
		assert_int_equal(0, sweep(text, &seen, &r));
		assert_true(r.has_best);
		assert_in_range(r.samples, 5, 25);
		loop_result_clear(&r);
	}
}

/* Optimisers end with their last point, and look at the clock when they please: the best of all is
 * kept here, and the time is this side's. Without noise the best can be told. */
static void the_best_so_far_and_the_clock_are_ours(void **state)
{
	static const char *const names[] = {"auto",	"GN_DIRECT_L", "LN_BOBYQA",
					    "LN_SBPLX", "GN_CRS2_LM",  "coordinate"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[512];
		struct seen seen = {0};
		struct loop_result r;
		snprintf(text, sizeof(text),
			 "tunesweep: 1\nname: t\ntest: {engine: simulated, surface: ridge, noise: "
			 "0%%}\n" SIZES "search: {algorithm: %s, samples: 40}\nproof: {pairs: 0}\n",
			 names[i]);
		assert_int_equal(0, sweep(text, &seen, &r));
		if (!r.has_best || r.best_score < 0.999 * seen.best) {
			fail_msg("%s: %g of %g", names[i], r.best_score, seen.best);
		}
		loop_result_clear(&r);
		snprintf(text, sizeof(text),
			 "tunesweep: 1\nname: t\ntest: {engine: command, serve: true, command: "
			 "[sh, -c, 'while read -r x; do sleep 0.05; echo {\\\"score\\\": 1}; "
			 "done']}\n"
			 "objective: {maximize: score}\n" SIZES
			 "search: {algorithm: %s, samples: 1000, time: 500ms}\nproof: {pairs: 0}\n",
			 names[i]);
		seen = (struct seen){0};
		assert_int_equal(0, sweep(text, &seen, &r));
		assert_in_range(r.samples, 1, 12); /* each takes 50 ms, on no machine less */
		loop_result_clear(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gain_that_is_there_is_found_and_proved),
		cmocka_unit_test(where_nothing_matters_nothing_is_claimed),
		cmocka_unit_test(an_interrupt_keeps_what_there_is),
		cmocka_unit_test(a_budget_of_one_measures_the_baseline),
		cmocka_unit_test(cliffs_are_survived),
		cmocka_unit_test(repeats_until_the_confidence_are_counted),
		cmocka_unit_test(every_algorithm_goes_through),
		cmocka_unit_test(the_best_so_far_and_the_clock_are_ours),
	};
	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
