/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A warm start from the store: which runs count, what is taken of them, and that a sweep which is
 * told of an earlier night tries its winner first.
 */
#include "loop.h"
#include "store_fixture.h"
#include <math.h>

#define SPEC(objective, more)                                                                      \
	"tunesweep: 1\nname: night\ntest: {engine: simulated, surface: ridge, noise: 1%}\n"        \
	"objective: {" objective "}\ntunables:\n"                                                  \
	"  - {set: param.wmem, range: [1, 65536], type: int, scale: log, default: 64}\n"           \
	"  - {set: param.rmem, range: [1, 65536], type: int, scale: log, default: 64}\n" more      \
	"search: {samples: 30, seed: 2}\nproof: {pairs: 0}\n"

static const char usual[] = SPEC("maximize: throughput / service_demand", "");

struct night {
	struct spec *spec;
	struct space *space;
	struct store *store;
	struct store_run run;
	json_t *hosts;
	struct configuration first; /* the first that was searched */
	int asked;
};

static void progress(void *ctx, const struct loop_progress *p)
{
	struct night *n = ctx;
	if (p->phase == LOOP_SEARCH && n->asked++ == 0) {
		n->first = *p->effective;
	}
}

static void night_begin(struct night *n, const char *text, const char *cpu)
{
	struct err e = {0};
	*n = (struct night){.hosts = json_pack("{s:{s:s, s:s, s:[]}}", "a", "kernel", "6.1", "cpu",
					       cpu, "nics")};
	assert_int_equal(0, spec_parse("s.yaml", text, strlen(text), &n->spec, &e));
	assert_int_equal(0, space_create(n->spec, NULL, &n->space, NULL, &e));
	n->store = open_store(true);
	n->run = (struct store_run){
		.name = "night", .spec = text, .spec_sha = n->spec->sha, .hosts = n->hosts};
	assert_int_equal(0, store_begin_run(n->store, &n->run, &e));
}

static void night_end(struct night *n)
{
	store_close(n->store);
	space_destroy(n->space);
	spec_free(n->spec);
	json_decref(n->hosts);
}

static void sweep(struct night *n, const struct warm *warm, struct loop_result *r)
{
	struct err e = {0};
	void *state = NULL;
	const struct engine_ops *engine = engine_find("simulated", &e);
	struct engine_env ee = {.spec = n->spec, .space = n->space, .seed = 7};
	assert_int_equal(0, engine->create(&ee, &state, &e));
	struct trial_env env = {.spec = n->spec,
				.space = n->space,
				.engine = engine,
				.engine_state = state,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct loop_options o = {
		.store = n->store, .run = n->run.id, .warm = warm, .progress = progress, .ctx = n};
	loop_result_init(r);
	assert_int_equal(0, loop_run(&env, &o, r, &e));
	engine->destroy(state);
}

/* A whole night with its result as the run command leaves it. */
static void spend_night(const char *cpu, struct configuration *best)
{
	struct night n;
	struct loop_result r;
	struct err e = {0};
	night_begin(&n, usual, cpu);
	sweep(&n, NULL, &r);
	auto_json json_t *result = json_pack("{s:s, s:{s:o}}", "recommended", "best", "best",
					     "values", space_values(n.space, &r.best));
	assert_int_equal(0, store_end_run(n.store, n.run.id, "complete", result, &e));
	*best = r.best;
	loop_result_clear(&r);
	night_end(&n);
}

static void load(struct night *n, const char *before, struct warm *w)
{
	struct err e = {0};
	if (warm_load(n->store, n->space, n->hosts, before, w, &e) < 0) {
		fail_msg("%s", e.text);
	}
}

static void an_earlier_night_is_taken_up(void **state)
{
	(void)state;
	struct configuration best;
	struct night n;
	struct warm w;
	struct loop_result r;
	spend_night("fast", &best);
	night_begin(&n, usual, "fast");
	load(&n, n.run.id, &w);
	assert_int_equal(1, w.runs);
	assert_int_equal(1, w.n_winners);
	assert_true(w.n >= 20 && w.n <= 30);
	assert_true(w.items[0].group == 1 && w.items[0].ok && w.items[0].score > 0);
	assert_true(configuration_equal(&w.winners[0], &best));
	n.spec->samples = 6;
	sweep(&n, &w, &r);
	assert_true(configuration_equal(&n.first, &best));
	assert_true(r.best_score > 1.5 * r.baseline_score);
	loop_result_clear(&r);
	warm_clear(&w);
	/* a run is not warmed by itself, nor by later ones */
	load(&n, "0", &w);
	assert_int_equal(0, w.runs);
	warm_clear(&w);
	night_end(&n);
}

static void count_runs(const char *text, const char *cpu, int runs)
{
	struct night n;
	struct warm w;
	night_begin(&n, text, cpu);
	load(&n, n.run.id, &w);
	assert_int_equal(runs, w.runs);
	warm_clear(&w);
	night_end(&n);
}

static void other_machines_and_other_measurements_do_not_count(void **state)
{
	(void)state;
	struct configuration best;
	spend_night("fast", &best);
	count_runs(usual, "slow", 0);
	count_runs(SPEC("maximize: throughput", ""), "fast", 0);
	count_runs(SPEC("maximize: throughput / service_demand",
			"  - {set: param.more, choices: [a, b], default: a}\n"),
		   "fast", 0);
	count_runs(SPEC("maximize: throughput / service_demand, guards: none", ""), "fast", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_earlier_night_is_taken_up, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(other_machines_and_other_measurements_do_not_count,
						make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
