/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run that is resumed: nothing is measured twice, what the samples knew is there again, a changed
 * spec is refused with the line, and a configuration that cost the host is not gone near again.
 */
#include "loop.h"
#include "store_fixture.h"
#include <errno.h>
#include <math.h>

static const char text[] =
	"tunesweep: 1\nname: night\ntest: {engine: simulated, surface: flat}\ntunables:\n"
	"  - {set: param.x, range: [0, 1000], default: 1}\n"
	"  - {set: param.y, range: [0, 1000], default: 1}\n"
	"search: {samples: 20, seed: 4}\nproof: {pairs: 0}\n";

struct engine { /* score 1000 + x + y; the host dies at a sample */
	double z[64][2];
	int samples, dies_at;
};

static int start(void *state, const struct engine_run *run, struct err *e)
{
	struct engine *g = state;
	g->z[g->samples][0] = (double)run->config->v[0].i / 1000;
	g->z[g->samples][1] = (double)run->config->v[1].i / 1000;
	return ++g->samples == g->dies_at ? err_set(e, -EHOSTDOWN, "no answer from tx1") : 0;
}

static int answer(void *state, struct sample *out, int *ms, struct err *e)
{
	const struct engine *g = state;
	const double *z = g->z[g->samples - 1];
	(void)ms;
	(void)e;
	out->ok = true;
	out->m[METRIC_THROUGHPUT] = 1000 * (1 + z[0] + z[1]);
	out->m[METRIC_SERVICE_DEMAND] = 1;
	out->n_extra = 1;
	strcpy(out->extra[0].name, "own");
	out->extra[0].value = z[0];
	return 1;
}

static void stop(void *state)
{
	(void)state;
}

static const struct engine_ops ops = {
	.name = "mortal", .start = start, .poll = answer, .stop = stop};

struct night {
	struct spec *spec;
	struct space *space;
	struct store *store;
	struct store_run run;
};

static void night_begin(struct night *n)
{
	struct err e = {0};
	*n = (struct night){.store = open_store(true)};
	assert_int_equal(0, spec_parse("s.yaml", text, strlen(text), &n->spec, &e));
	assert_int_equal(0, space_create(n->spec, NULL, &n->space, NULL, &e));
	n->run = (struct store_run){.name = "night", .spec = text, .spec_sha = n->spec->sha};
	assert_int_equal(0, store_begin_run(n->store, &n->run, &e));
}

static void night_end(struct night *n)
{
	store_close(n->store);
	space_destroy(n->space);
	spec_free(n->spec);
}

static int sweep(struct night *n, struct engine *engine, struct replay *replay,
		 struct loop_result *r)
{
	struct err e = {0};
	struct trial_env env = {.spec = n->spec,
				.space = n->space,
				.engine = &ops,
				.engine_state = engine,
				.replay = replay,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct loop_options o = {.store = n->store, .run = n->run.id};
	loop_result_init(r);
	return loop_run(&env, &o, r, &e);
}

static void load(struct night *n, struct replay *out)
{
	struct err e = {0};
	auto_json json_t *run = NULL;
	assert_int_equal(0, store_get_run(n->store, n->run.id, &run, &e));
	assert_int_equal(0, replay_load(run, n->space, out, &e));
}

static void what_cost_the_host_is_not_gone_near_again(void **state)
{
	(void)state;
	struct night n;
	struct engine first = {.dies_at = 12}, second = {.dies_at = 0};
	struct loop_result r;
	struct replay replay;
	night_begin(&n);
	assert_int_equal(-EHOSTDOWN, sweep(&n, &first, NULL, &r));
	assert_int_equal(11, r.samples);
	loop_result_clear(&r);
	load(&n, &replay);
	assert_int_equal(12, replay.n);
	const struct sample *lost = &replay.items[11].sample, *good = &replay.items[10].sample;
	assert_true(!lost->ok && lost->cut_link);
	assert_string_equal("the host was lost: no answer from tx1", lost->reason);
	assert_true(good->ok && !good->cut_link && good->n_extra == 1);
	assert_true(fabs(good->extra[0].value - first.z[10][0]) < 1e-9);
	assert_int_equal(0, sweep(&n, &second, &replay, &r));
	assert_true(r.samples <= 20 && second.samples == r.samples - 12 && r.failed == 1);
	for (int i = 0; i < second.samples; i++) {
		double dx = second.z[i][0] - first.z[11][0], dy = second.z[i][1] - first.z[11][1];
		assert_true(hypot(dx, dy) > 0.14);
	}
	loop_result_clear(&r);
	replay_clear(&replay);
	night_end(&n);
}

static void nothing_is_measured_twice(void **state)
{
	(void)state;
	struct night n;
	struct engine first = {.dies_at = 0}, second = {.dies_at = 0};
	struct loop_result a, b;
	struct replay replay;
	night_begin(&n);
	assert_int_equal(0, sweep(&n, &first, NULL, &a));
	load(&n, &replay);
	assert_int_equal(0, sweep(&n, &second, &replay, &b));
	assert_int_equal(0, second.samples);
	assert_true(configuration_equal(&a.best, &b.best) && a.samples == b.samples);
	loop_result_clear(&a);
	loop_result_clear(&b);
	replay_clear(&replay);
	load(&n, &replay);
	assert_int_equal(a.samples, replay.n); /* nor kept twice */
	replay_clear(&replay);
	night_end(&n);
}

static void a_changed_spec_is_refused_with_its_line(void **state)
{
	(void)state;
	struct err e = {0};
	assert_int_equal(0, replay_check_spec("r", text, text, &e));
	assert_true(replay_check_spec("r", "a: 1\nb: 2\n", "a: 1\nb: 3\n", &e) < 0);
	assert_int_equal(ERR_USAGE, e.class);
	assert_non_null(strstr(e.text, "line 2 is now '3', and was '2' there"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_cost_the_host_is_not_gone_near_again,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(nothing_is_measured_twice, make_folder,
						remove_folder),
		cmocka_unit_test(a_changed_spec_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
