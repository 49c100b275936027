/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated engine: surfaces that are what they say, noise that follows from the seed, and the
 * way from a spec's text through space and search to a better configuration.
 */
#include "cleanup.h"
#include "engine.h"
#include "search.h"
#include "simulated.h"
#include "slow.h"
#include "spec.h"
#include "stats.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

extern const struct engine_ops engine_simulated;

struct rig { /* one spec with its space and engine */
	struct spec *spec;
	struct space *space;
	void *engine;
	int number;
};

static void rig_make(struct rig *r, uint64_t seed, const char *test, const char *tunables)
{
	char text[2048];
	struct err e;
	*r = (struct rig){.number = 0};
	snprintf(text, sizeof(text), "tunesweep: 1\ntest: {engine: simulated, %s}\ntunables:\n%s",
		 test, tunables);
	if (spec_parse("s.yaml", text, strlen(text), &r->spec, &e) ||
	    space_create(r->spec, NULL, &r->space, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	struct engine_env env = {.spec = r->spec, .space = r->space, .seed = seed};
	if (engine_simulated.create(&env, &r->engine, &e)) {
		fail_msg("%s", e.text);
	}
}

static void rig_clear(struct rig *r)
{
	engine_simulated.destroy(r->engine);
	space_destroy(r->space);
	spec_free(r->spec);
}

static struct sample measure(struct rig *r, int number, const struct configuration *c)
{
	struct engine_run run = {.number = number, .space = r->space, .config = c};
	struct sample s;
	struct err e;
	int ms = 99;
	sample_init(&s);
	assert_int_equal(engine_simulated.start(r->engine, &run, &e), 0);
	assert_int_equal(engine_simulated.poll(r->engine, &s, &ms, &e), 1);
	engine_simulated.stop(r->engine);
	assert_int_equal(ms, 0);
	return s;
}

static const char buffers[] =
	"  - {set: param.rmem, range: [16KiB, 4MiB], scale: log, default: 87380}\n"
	"  - {set: param.wmem, range: [16KiB, 4MiB], scale: log, default: 87380}\n";

static void the_table_is_the_published_one(void **state)
{
	(void)state;
	struct rig r;
	char line[256];
	int rows = 0;
	rig_make(&r, 1, "surface: table, noise: 0%", buffers);
	auto_fclose FILE *f = fopen("tests/data/ipoib-tcp-mem-2.6.16-rc5.csv", "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		long wmem, rmem;
		double rate;
		if (sscanf(line, "%*d,%ld,%*d,%*d,%ld,%*d,%lf", &wmem, &rmem, &rate) != 3) {
			continue;
		}
		struct configuration c = {.n = 2};
		c.v[0] = value_int(rmem);
		c.v[1] = value_int(wmem);
		struct sample s = measure(&r, ++rows, &c);
		assert_true(s.ok);
		assert_true(fabs(s.m[METRIC_THROUGHPUT] / 8e6 - rate) < 1e-6);
	}
	assert_int_equal(rows, 10);
	rig_clear(&r);
}

/* Between the rows nothing odd: within a little of what was published, and lower far away. */
static void the_table_is_smooth_in_between(void **state)
{
	(void)state;
	for (double a = 14; a <= 22; a += 0.05) {
		for (double b = 14; b <= 22; b += 0.05) {
			struct surface_point p = {.log2_a = a, .log2_b = b}, q = p;
			q.log2_a += 0.01;
			double v = surface_at("table", &p).throughput / 8e6;
			double w = surface_at("table", &q).throughput / 8e6;
			assert_true(v > 100 && v < 420);
			assert_true(fabs(v - w) < 6);
		}
	}
}

static void surfaces_can_be_told_apart(void **state)
{
	(void)state;
	struct rig r;
	struct configuration lo, hi;
	double zeros[2] = {0, 0}, ones[2] = {1, 1};
	rig_make(&r, 1, "surface: flat, noise: 0%", buffers);
	space_decode(r.space, zeros, &lo);
	space_decode(r.space, ones, &hi);
	assert_true(measure(&r, 1, &lo).m[METRIC_THROUGHPUT] ==
		    measure(&r, 2, &hi).m[METRIC_THROUGHPUT]);
	rig_clear(&r);
	rig_make(&r, 1, "surface: bottleneck, noise: 0%", buffers);
	space_decode(r.space, ones, &hi); /* messages as large as the window */
	struct sample s = measure(&r, 1, &hi);
	assert_false(s.ok);
	assert_true(strlen(s.reason) > 0);
	double u[2] = {0, 1}; /* small rmem, large wmem */
	space_decode(r.space, u, &hi);
	s = measure(&r, 1, &hi);
	assert_true(s.ok && s.m[METRIC_SERVICE_DEMAND] > 0);
	rig_clear(&r);
}

static void noise_follows_from_seed_and_number(void **state)
{
	(void)state;
	struct rig a, b, c;
	struct configuration x;
	rig_make(&a, 7, "surface: flat, noise: 3%", buffers);
	rig_make(&b, 7, "surface: flat, noise: 3%", buffers);
	rig_make(&c, 8, "surface: flat, noise: 3%", buffers);
	space_baseline(a.space, &x);
	double same = measure(&a, 5, &x).m[METRIC_THROUGHPUT];
	measure(&b, 4, &x);
	assert_true(same == measure(&b, 5, &x).m[METRIC_THROUGHPUT]);
	assert_true(same != measure(&b, 6, &x).m[METRIC_THROUGHPUT]);
	assert_true(same != measure(&c, 5, &x).m[METRIC_THROUGHPUT]);
	double logs[400];
	int low = 0;
	for (int i = 0; i < 400; i++) {
		logs[i] = log(measure(&a, i + 1, &x).m[METRIC_THROUGHPUT] / 9.4e9);
		low += logs[i] < -0.12;
	}
	double sd = 1.4826 * stats_mad(logs, 400);
	assert_true(sd > 0.02 && sd < 0.045);
	assert_true(low > 2 && low < 25); /* about 3 % are outliers, most of them far out */
	rig_clear(&a);
	rig_clear(&b);
	rig_clear(&c);
}

static void a_surface_of_sizes_wants_sizes(void **state)
{
	(void)state;
	static const char text[] = "tunesweep: 1\n"
				   "test: {engine: simulated, surface: table}\n"
				   "tunables: [{set: param.a, choices: [x, y]}]\n";
	struct spec *spec = NULL;
	struct space *space = NULL;
	void *engine = NULL;
	struct err e;
	assert_int_equal(spec_parse("s.yaml", text, strlen(text), &spec, &e), 0);
	assert_int_equal(space_create(spec, NULL, &space, NULL, &e), 0);
	struct engine_env env = {.spec = spec, .space = space};
	assert_true(engine_simulated.create(&env, &engine, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "s.yaml:2:7: surface 'table' wants two"));
	env.space = NULL;
	assert_true(engine_simulated.create(&env, &engine, &e) < 0);
	space_destroy(space);
	spec_free(spec);
}

static double true_score(struct rig *r, const struct configuration *c)
{
	double noise = r->spec->test.noise;
	r->spec->test.noise = 0;
	struct sample s = measure(r, 1, c);
	r->spec->test.noise = noise;
	return s.ok ? s.m[METRIC_THROUGHPUT] / s.m[METRIC_SERVICE_DEMAND] : 0;
}

/* Log of the true score of the best that a search saw under noise. */
static double searched(struct rig *r, const char *algorithm, int budget, uint64_t seed)
{
	struct search_problem p = {.n = r->space->n, .budget = budget, .seed = seed};
	struct search *s = NULL;
	struct err e;
	double x[SEARCH_DIMS_MAX], best = -INFINITY;
	struct configuration c, winner = {.n = 0};
	space_describe(r->space, p.dims);
	assert_int_equal(search_create(algorithm, &p, &s, &e), 0);
	while (search_ask(s, x, &e) == 1) {
		space_decode(r->space, x, &c);
		struct sample m = measure(r, ++r->number, &c);
		double y = m.ok ? log(m.m[METRIC_THROUGHPUT] / m.m[METRIC_SERVICE_DEMAND]) : 0;
		search_tell(s, x, y, m.ok);
		if (m.ok && y > best) {
			best = y;
			winner = c;
		}
	}
	search_destroy(s);
	return log(true_score(r, &winner));
}

static const char mixed[] = "  - {set: param.a, range: [16KiB, 4MiB], scale: log}\n"
			    "  - {set: param.b, range: [1MiB, 64MiB], scale: log}\n"
			    "  - {set: param.c, choices: [cubic, reno, bbr]}\n"
			    "  - {set: param.d, choices: [off, on]}\n"
			    "  - {set: param.e, range: [1, 64], scale: log}\n"
			    "  - {set: param.f, range: [0.0, 1.0]}\n";

/* On average over seeds, against chance with the same budget, on each surface with something to
 * find: never worse, and better on most. */
static void auto_finds_what_there_is(void **state)
{
	(void)state;
	if (is_slow()) {
		skip();
	}
	static const struct {
		const char *test, *tunables;
		double ahead; /* in log score */
	} cases[] = {
		{"surface: table, noise: 3%", buffers, -0.02},
		{"surface: bottleneck, noise: 3%", buffers, -0.02},
		{"surface: ridge, noise: 3%", mixed, 0.03},
		{"surface: mixed, noise: 3%", mixed, 0.03},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double ahead = 0;
		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct rig r;
			rig_make(&r, seed, cases[i].test, cases[i].tunables);
			ahead += searched(&r, "auto", 50, seed) / 10;
			ahead -= searched(&r, "random", 50, seed) / 10;
			rig_clear(&r);
		}
		if (ahead < cases[i].ahead) {
			fail_msg("%s: auto is %g ahead of chance, %g wanted", cases[i].test, ahead,
				 cases[i].ahead);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_the_published_one),
		cmocka_unit_test(the_table_is_smooth_in_between),
		cmocka_unit_test(surfaces_can_be_told_apart),
		cmocka_unit_test(noise_follows_from_seed_and_number),
		cmocka_unit_test(a_surface_of_sizes_wants_sizes),
		cmocka_unit_test(auto_finds_what_there_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
