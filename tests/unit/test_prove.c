/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of a proof: what is compared with what, in which order, and on which budget. */
#include "prove.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct tunable host_row = {.name = "h", .scope = SCOPE_HOST};
static const struct tunable run_row = {.name = "r", .scope = SCOPE_RUN};

struct fake { /* score: 10, plus effect[i] where value i is 1 */
	double effect[3], noise;
	struct stats_rng rng;
	const struct configuration *config;
};

static int fake_start(void *state, const struct engine_run *run, struct err *e)
{
	(void)e;
	((struct fake *)state)->config = run->config;
	return 0;
}

static int fake_poll(void *state, struct sample *out, int *ms, struct err *e)
{
	struct fake *f = state;
	double score = 10;
	(void)ms;
	(void)e;
	for (size_t i = 0; i < 3; i++) {
		score += f->config->v[i].i * f->effect[i];
	}
	out->ok = true;
	out->m[METRIC_THROUGHPUT] = score * exp(f->noise * stats_rng_normal(&f->rng));
	out->m[METRIC_SERVICE_DEMAND] = 1;
	return 1;
}

static void fake_stop(void *state)
{
	(void)state;
}

static const struct engine_ops fake_engine = {
	.name = "fake", .start = fake_start, .poll = fake_poll, .stop = fake_stop};

struct world {
	struct spec spec;
	struct spec_tunable tunables[3];
	struct dimension dims[3];
	struct space space;
	struct fake fake;
	struct configuration best, baseline;
	const struct configuration *against;
	int seen[5];
};

static void world_init(struct world *w)
{
	*w = (struct world){.space = {.spec = &w->spec, .n = 3, .dims = w->dims}};
	objective_init(&w->spec.objective);
	w->best.n = w->baseline.n = 3;
	for (size_t i = 0; i < 3; i++) {
		w->tunables[i].host = -1;
		w->dims[i].tunable = &w->tunables[i];
		w->dims[i].target.setting.tunable = i < 2 ? &host_row : &run_row;
		w->dims[i].above = w->dims[i].below = w->dims[i].when = -1;
		w->best.v[i] = value_int(1);
		w->baseline.v[i] = value_int(0);
	}
	w->fake.noise = 0.005;
	stats_rng_seed(&w->fake.rng, 5);
}

static int seen(void *ctx, enum proof_stage stage, size_t dimension, bool is_first,
		const struct configuration *effective, const struct sample *s,
		const struct gain *so_far, struct err *e)
{
	(void)dimension;
	(void)is_first;
	(void)effective;
	(void)s;
	(void)so_far;
	(void)e;
	((struct world *)ctx)->seen[stage]++;
	return 0;
}

static void run(struct world *w, int pairs, struct proof *p)
{
	struct trial_env env = {.spec = &w->spec,
				.space = &w->space,
				.engine = &fake_engine,
				.engine_state = &w->fake,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct prove_options o = {.pairs = pairs,
				  .time = 60,
				  .seed = 1,
				  .against = w->against,
				  .seen = seen,
				  .ctx = w};
	struct err e = {0};
	assert_int_equal(0, prove_run(&env, &w->best, &w->baseline, &o, p, &e));
}

static bool holds(const struct interval *i, double percent)
{
	return i->lo <= percent && percent <= i->hi;
}

static void each_part_gets_its_own_gain(void **state)
{
	(void)state;
	struct world w;
	struct proof p;
	world_init(&w);
	w.fake.effect[0] = 2;
	w.fake.effect[2] = 1;
	run(&w, 200, &p);
	assert_true(p.gain.significant && holds(&p.gain.score, 30));
	assert_true(holds(&p.host_only.score, 20));
	assert_true(holds(&p.application_only.score, 10));
	assert_true(holds(&p.effect[0].score, 100 * (13 / 11.0 - 1)));
	assert_true(holds(&p.effect[1].score, 0) && !p.effect[1].significant);
	assert_true(holds(&p.effect[2].score, 100 * (13 / 12.0 - 1)));
	int pairs = p.gain.pairs + p.host_only.pairs + p.application_only.pairs;
	for (size_t i = 0; i < 3; i++) {
		pairs += p.effect[i].pairs;
	}
	assert_in_range(pairs, 30, 200);
	assert_int_equal(2 * pairs, w.seen[0] + w.seen[1] + w.seen[2] + w.seen[3]);
}

/* Also where the gain over the baseline is none: the other profile may be worse than that. */
static void the_winner_is_proved_against_another_profile(void **state)
{
	(void)state;
	struct world w;
	struct proof p;
	world_init(&w);
	w.fake.effect[0] = 2;
	w.fake.effect[2] = 1;
	struct configuration other = w.baseline;
	other.v[0] = value_int(1);
	w.against = &other;
	run(&w, 60, &p);
	assert_true(p.gain.significant && p.against.significant);
	assert_true(holds(&p.against.score, 100 * (13 / 12.0 - 1)));
	assert_true(w.seen[PROOF_AGAINST] >= 12);
	world_init(&w);
	w.fake.noise = 0.05;
	w.against = &other;
	run(&w, 30, &p);
	assert_true(!p.gain.significant && p.against.pairs >= 10 && p.gain.pairs <= 20);
}

static void without_a_gain_nothing_more_is_measured(void **state)
{
	(void)state;
	struct world w;
	struct proof p;
	world_init(&w);
	w.fake.noise = 0.05;
	run(&w, 40, &p);
	assert_false(p.gain.significant);
	assert_int_equal(0, p.host_only.pairs + p.application_only.pairs + p.effect[0].pairs);
}

static void a_small_budget_goes_to_the_gain(void **state)
{
	(void)state;
	struct world w;
	struct proof p;
	world_init(&w);
	w.fake.effect[0] = 2;
	run(&w, 8, &p);
	assert_true(p.gain.pairs >= 6);
	assert_int_equal(0, p.effect[0].pairs);
}

static void one_scope_alone_is_not_measured_twice(void **state)
{
	(void)state;
	struct world w;
	struct proof p;
	world_init(&w);
	w.fake.effect[0] = 3;
	w.best.v[2] = value_int(0);
	run(&w, 100, &p);
	assert_true(p.gain.significant);
	assert_int_equal(0, p.host_only.pairs);
	assert_int_equal(0, p.application_only.pairs);
	assert_int_equal(0, p.effect[2].pairs);
	assert_true(p.effect[0].pairs > 0);
}

static void a_field_is_not_left_out_into_disorder(void **state)
{
	(void)state;
	struct world w;
	struct configuration out;
	world_init(&w);
	/* 0 is a default, 1 its maximum: the winner's default is above the old maximum */
	w.dims[1].above = 0;
	w.best.v[0] = value_int(100);
	w.best.v[1] = value_int(200);
	w.baseline.v[0] = value_int(10);
	w.baseline.v[1] = value_int(50);
	assert_true(prove_without(&w.space, &w.best, &w.baseline, 0, &out));
	assert_int_equal(10, out.v[0].i);
	assert_false(prove_without(&w.space, &w.best, &w.baseline, 1, &out));
	w.best.v[2] = w.baseline.v[2];
	assert_false(prove_without(&w.space, &w.best, &w.baseline, 2, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_gets_its_own_gain),
		cmocka_unit_test(the_winner_is_proved_against_another_profile),
		cmocka_unit_test(without_a_gain_nothing_more_is_measured),
		cmocka_unit_test(a_small_budget_goes_to_the_gain),
		cmocka_unit_test(one_scope_alone_is_not_measured_twice),
		cmocka_unit_test(a_field_is_not_left_out_into_disorder),
	};
	return cmocka_run_group_tests_name("prove", tests, NULL, NULL);
}
