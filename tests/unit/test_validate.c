/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof: its arithmetic, its order, what it does with failures, and how often it lies. */
#include "validate.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct fake { /* an engine whose score is 10 for a configuration of 0 and `best` for others */
	double best, noise, drift, fail_best;
	struct stats_rng rng;
	int n, order[512], interrupt_after;
};

static int fake_start(void *state, const struct engine_run *run, struct err *e)
{
	struct fake *f = state;
	f->order[f->n++] = (int)run->config->v[0].i;
	return f->interrupt_after && f->n > f->interrupt_after ? err_set(e, -EINTR, "stop") : 0;
}

static int fake_poll(void *state, struct sample *out, int *ms, struct err *e)
{
	struct fake *f = state;
	bool best = f->order[f->n - 1] != 0;
	(void)ms;
	(void)e;
	double level = (best ? f->best : 10) * exp(f->noise * stats_rng_normal(&f->rng));
	level *= 1 + f->drift * f->n;
	out->ok = !(best && stats_rng_uniform(&f->rng) < f->fail_best);
	out->m[METRIC_THROUGHPUT] = level;
	out->m[METRIC_SERVICE_DEMAND] = 1;
	return 1;
}

static void fake_stop(void *state)
{
	(void)state;
}

static const struct engine_ops fake_engine = {
	.name = "fake", .start = fake_start, .poll = fake_poll, .stop = fake_stop};

static int prove(struct fake *f, int pairs, uint64_t seed, struct gain *g)
{
	static struct spec spec; /* all zero but for the objective: no hosts, no limits */
	struct space space = {.spec = &spec, .n = 0};
	struct trial_env env = {.spec = &spec,
				.space = &space,
				.engine = &fake_engine,
				.engine_state = f,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct configuration a = {.n = 1}, b = {.n = 1};
	struct validate_options o = {.pairs = pairs, .time = 60, .seed = seed};
	struct err e = {0};
	objective_init(&spec.objective);
	a.v[0] = value_int(1);
	b.v[0] = value_int(0);
	stats_rng_seed(&f->rng, seed + 77);
	return validate_run(&env, &a, &b, &o, g, &e);
}

static void a_clear_gain_is_proved_early(void **state)
{
	(void)state;
	struct fake f = {.best = 11, .noise = 0.01};
	struct gain g;
	assert_int_equal(0, prove(&f, 60, 1, &g));
	assert_true(g.significant && g.decided);
	assert_true(g.pairs < 20);
	assert_true(g.score.lo > 0 && g.score.lo < 10 && g.score.hi > 10);
	assert_true(fabs(g.score_b - 10) < 0.3 && fabs(g.score_a - 11) < 0.3);
}

static void pairs_run_in_blocks_both_ways(void **state)
{
	(void)state;
	struct fake f = {.best = 10, .noise = 0.2};
	struct gain g;
	int starts_with_best = 0;
	assert_int_equal(0, prove(&f, 40, 3, &g));
	assert_int_equal(40, g.pairs);
	for (int i = 0; i + 3 < f.n; i += 4) {
		assert_int_equal(1, f.order[i] + f.order[i + 1]);
		assert_int_equal(f.order[i], f.order[i + 3]);
		assert_int_equal(f.order[i + 1], f.order[i + 2]);
		starts_with_best += f.order[i];
	}
	assert_in_range(starts_with_best, 1, 9);
}

static void nothing_is_rarely_called_a_gain(void **state)
{
	(void)state;
	int wrong = 0;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct fake f = {.best = 10, .noise = 0.03, .drift = 0.0005};
		struct gain g;
		assert_int_equal(0, prove(&f, 40, seed, &g));
		wrong += g.significant;
	}
	/* nominal 5 %: 20; the sequence is conservative */
	assert_in_range(wrong, 0, 24);
}

static void no_difference_is_decided_too(void **state)
{
	(void)state;
	struct fake f = {.best = 10, .noise = 0.0005};
	struct gain g;
	assert_int_equal(0, prove(&f, 60, 5, &g));
	assert_true(g.decided);
	assert_true(g.pairs < 60);
}

static void a_loss_is_significant_and_negative(void **state)
{
	(void)state;
	struct fake f = {.best = 8, .noise = 0.01};
	struct gain g;
	assert_int_equal(0, prove(&f, 60, 1, &g));
	assert_true(g.significant && g.score.hi < 0);
}

static void failed_halves_do_not_count(void **state)
{
	(void)state;
	struct fake f = {.best = 11, .noise = 0.3, .fail_best = 0.4};
	struct gain g;
	assert_int_equal(0, prove(&f, 30, 9, &g));
	assert_int_equal(30, g.pairs + g.failed);
	assert_true(g.failed > 3 && g.pairs > 5);
	/* a winner that fails this often is none */
	f = (struct fake){.best = 20, .noise = 0.01, .fail_best = 0.7};
	assert_int_equal(0, prove(&f, 60, 9, &g));
	assert_false(g.significant);
}

static void an_interrupt_keeps_what_there_is(void **state)
{
	(void)state;
	struct fake f = {.best = 10, .noise = 0.3, .interrupt_after = 9};
	struct gain g;
	assert_int_equal(-EINTR, prove(&f, 30, 2, &g));
	assert_int_equal(4, g.pairs);
}

static void scores_that_are_not_positive_give_differences(void **state)
{
	(void)state;
	struct pair p[20];
	struct gain g = {0};
	for (int i = 0; i < 20; i++) {
		p[i] = (struct pair){.score = {1 + 0.01 * (i % 3), -1 - 0.01 * (i % 2)},
				     .throughput = {NAN, NAN},
				     .service_demand = {NAN, NAN}};
	}
	validate_gain(p, 20, &g);
	assert_true(g.as_difference && g.significant);
	assert_true(fabs(g.score.estimate - 2) < 0.05);
	assert_true(isnan(g.throughput.estimate));
	validate_gain(p, 0, &g);
	assert_false(g.significant);
	assert_true(isnan(g.score.estimate));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clear_gain_is_proved_early),
		cmocka_unit_test(pairs_run_in_blocks_both_ways),
		cmocka_unit_test(nothing_is_rarely_called_a_gain),
		cmocka_unit_test(no_difference_is_decided_too),
		cmocka_unit_test(a_loss_is_significant_and_negative),
		cmocka_unit_test(failed_halves_do_not_count),
		cmocka_unit_test(an_interrupt_keeps_what_there_is),
		cmocka_unit_test(scores_that_are_not_positive_give_differences),
	};
	return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
