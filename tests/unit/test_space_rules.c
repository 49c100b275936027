/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions and forbidden combinations of a space: what they mean for configurations, and that no
 * search asks for one that is forbidden.
 */
#include "cleanup.h"
#include "prove.h"
#include "space_fixture.h"
#include "stats.h"
#include <math.h>

#define TUNABLES                                                                                   \
	HOSTS "  - {set: net.core.somaxconn, host: b, range: [0, 100], when: {set: "               \
	      "net.ipv4.tcp_congestion_control, is: bbr}}\n"                                       \
	      "  - {set: net.ipv4.tcp_congestion_control, host: a, choices: [cubic, bbr]}\n"       \
	      "  - {set: socket.message_size, range: [16KiB, 1MiB], scale: log, when: {set: "      \
	      "net.core.somaxconn, is: 7}}\n"

static void random_configuration(const struct space *s, struct stats_rng *rng,
				 struct configuration *c)
{
	double u[SPEC_TUNABLES_MAX];
	for (size_t i = 0; i < s->n; i++) {
		u[i] = stats_rng_uniform(rng);
	}
	space_decode(s, u, c);
}

/* A chain of two, the last one standing first: 4096 is the baseline, outside the range. */
static void a_setting_without_its_condition_is_at_its_baseline(void **state)
{
	(void)state;
	struct spec *spec = parse(TUNABLES);
	struct space *s = make(spec, NULL);
	struct stats_rng rng;
	int active = 0;
	stats_rng_seed(&rng, 3);
	assert_int_equal(s->dims[0].when, 1);
	assert_int_equal(s->dims[2].when, 0);
	for (int i = 0; i < 2000; i++) {
		struct configuration c, again;
		double u[SPEC_TUNABLES_MAX];
		random_configuration(s, &rng, &c);
		bool bbr = strcmp(c.v[1].text, "bbr") == 0;
		assert_true(bbr ? c.v[0].i <= 100 : c.v[0].i == 4096);
		if (c.v[0].i != 7) {
			assert_int_equal(c.v[2].i, 131072);
		}
		active += bbr;
		assert_true(space_contains(s, &c));
		space_encode(s, &c, u);
		space_decode(s, u, &again);
		assert_true(configuration_equal(&c, &again));
	}
	assert_true(active > 500 && active < 1500);
	auto_free char *text = space_text(s);
	assert_non_null(strstr(text, ", only while net.ipv4.tcp_congestion_control@a is bbr\n"));
	space_destroy(s);
	spec_free(spec);
}

static void what_depends_on_a_setting_goes_back_with_it(void **state)
{
	(void)state;
	struct spec *spec = parse(TUNABLES);
	struct space *s = make(spec, NULL);
	struct configuration base, winner, without;
	space_baseline(s, &base);
	winner = base;
	winner.v[0] = value_int(7);
	winner.v[1] = value_text("bbr");
	winner.v[2] = value_int(65536);
	assert_true(prove_without(s, &winner, &base, 1, &without));
	assert_true(configuration_equal(&without, &base));
	assert_true(prove_without(s, &winner, &base, 2, &without));
	assert_int_equal(without.v[0].i, 7);
	space_destroy(s);
	spec_free(spec);
}

static void a_condition_on_what_is_left_out_is_left_out(void **state)
{
	(void)state;
	json_t *notes = NULL;
	struct spec *spec = parse(
		HOSTS "  - {set: socket.message_size, range: [16KiB, 1MiB], when: {set: "
		      "net.core.netdev_max_backlog, is: 3}}\n"
		      "  - {set: net.core.netdev_max_backlog, host: b, range: [1, 9], optional: "
		      "true}\n"
		      "  - {set: net.ipv4.tcp_slow_start_after_idle, host: a}\n");
	struct space *s = make(spec, &notes);
	assert_int_equal(s->n, 1);
	assert_string_equal(s->dims[0].key, "net.ipv4.tcp_slow_start_after_idle@a");
	assert_int_equal(json_array_size(notes), 2);
	assert_non_null(strstr(json_string_value(json_array_get(notes, 1)),
			       "socket.message_size is left out: its 'when' looks at"));
	json_decref(notes);
	space_destroy(s);
	spec_free(spec);
}

static bool is_allowed(const char *rule, int64_t x, int64_t y, const char *mode)
{
	char text[1024];
	snprintf(text, sizeof(text),
		 PARAMS "  - {set: param.x, range: [0, 10], default: 0}\n"
			"  - {set: param.y, range: [0, 10], default: 0}\n"
			"  - {set: param.mode, choices: [slow, fast], default: slow}\n"
			"forbid: [\"%s\"]\n",
		 rule);
	struct spec *spec = parse(text);
	struct space *s = make(spec, NULL);
	struct configuration c = {.n = 3, .v = {value_int(x), value_int(y), value_text(mode)}};
	bool allowed = space_allows(s, &c);
	space_destroy(s);
	spec_free(spec);
	return allowed;
}

static void rules_mean_what_they_say(void **state)
{
	(void)state;
	assert_false(is_allowed("param.x > 3 and param.y >= 5", 4, 5, "slow"));
	assert_true(is_allowed("param.x > 3 and param.y >= 5", 3, 5, "slow"));
	assert_false(is_allowed("param.x > 3 or param.y >= 5", 3, 5, "slow"));
	assert_false(is_allowed("param.x <= param.y", 2, 2, "slow"));
	assert_true(is_allowed("param.x < param.y", 2, 2, "slow"));
	assert_false(is_allowed("param.mode == fast", 0, 0, "fast"));
	assert_true(is_allowed("param.mode != 'slow'", 0, 0, "slow"));
	/* and binds tighter than or */
	assert_false(is_allowed("param.x == 1 or param.x == 2 and param.y == 3", 1, 0, "slow"));
	assert_true(is_allowed("(param.x == 1 or param.x == 2) and param.y == 3", 1, 0, "slow"));
}

/* It must not be made harmless because the other half cannot be set here. */
static void a_comparison_that_cannot_be_made_counts_as_held(void **state)
{
	(void)state;
	struct spec *spec = parse(
		HOSTS "  - {set: socket.message_size, range: [16KiB, 1MiB]}\n"
		      "  - {set: net.core.netdev_max_backlog, host: b, range: [1, 9], optional: "
		      "true}\n"
		      "forbid: ['socket.message_size > 64KiB and net.core.netdev_max_backlog < "
		      "5']\n");
	struct space *s = make(spec, NULL);
	struct configuration c = {.n = 1, .v = {value_int(65536)}};
	assert_true(space_allows(s, &c));
	c.v[0] = value_int(131072);
	assert_false(space_allows(s, &c));
	space_destroy(s);
	spec_free(spec);
}

static void a_space_without_an_allowed_configuration_is_refused(void **state)
{
	(void)state;
	struct space *s = NULL;
	struct err e;
	struct spec *spec = parse(PARAMS "  - {set: param.x, range: [0, 10]}\n"
					 "forbid: ['param.x >= 0']\n");
	assert_true(space_create(spec, NULL, &s, NULL, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "s.yaml:5:10: forbid: "));
	assert_non_null(strstr(e.text, "nothing is left to search"));
	spec_free(spec);
}

/* As the loop does. */
static bool canonical_point(const void *ctx, double *x)
{
	struct configuration c;
	space_decode(ctx, x, &c);
	space_encode(ctx, &c, x);
	return space_allows(ctx, &c);
}

#define BUDGET 60

struct game {
	struct space *space;
	struct search *search;
	int asked, again;
	double best;
};

static double value_of(const struct configuration *c)
{
	double x = (double)c->v[0].i / 40, y = (double)c->v[1].i / 40;
	bool fast = strcmp(c->v[2].text, "fast") == 0;
	double extra = fast ? 0.01 * (double)c->v[3].i : 0;
	return 1 + x + y + extra; /* its top, x = y = 40, is forbidden */
}

static void play(struct game *g, const char *name)
{
	struct configuration c;
	auto_free struct configuration *seen = calloc(BUDGET, sizeof(*seen));
	double x[SEARCH_DIMS_MAX];
	struct err e;
	assert_non_null(seen);
	while (search_ask(g->search, x, &e) == 1) {
		space_decode(g->space, x, &c);
		if (!space_allows(g->space, &c)) {
			fail_msg("%s: asks for x %ld, y %ld, which is forbidden", name,
				 (long)c.v[0].i, (long)c.v[1].i);
		}
		assert_true(strcmp(c.v[2].text, "fast") == 0 || c.v[3].i == 5);
		for (int i = 0; i < g->asked; i++) {
			g->again += configuration_equal(&seen[i], &c);
		}
		assert_true(g->asked < BUDGET);
		seen[g->asked++] = c;
		double y = log(value_of(&c));
		g->best = fmax(g->best, y);
		search_tell(g->search, x, y, true);
	}
}

static void no_search_asks_for_a_forbidden_configuration(void **state)
{
	(void)state;
	struct spec *spec = parse(PARAMS
				  "  - {set: param.x, range: [0, 40], default: 0}\n"
				  "  - {set: param.y, range: [0, 40], default: 0}\n"
				  "  - {set: param.mode, choices: [slow, fast], default: slow}\n"
				  "  - {set: param.extra, range: [0, 9], default: 5, when: {set: "
				  "param.mode, is: fast}}\n"
				  "forbid: ['param.x > 24 and param.y > 12', 'param.x == 20']\n");
	for (const char *const *name = search_names(); *name; name++) {
		struct game g = {.space = make(spec, NULL)};
		struct search_problem p = {.n = g.space->n,
					   .budget = BUDGET,
					   .seed = 5,
					   .canonical = canonical_point,
					   .ctx = g.space};
		struct err e;
		space_describe(g.space, p.dims);
		assert_int_equal(search_create(*name, &p, &g.search, &e), 0);
		play(&g, *name);
		bool repeats = strcmp(*name, "auto") == 0 || strcmp(*name, "surrogate") == 0;
		if (g.asked < 6 || (!repeats && g.again > 0) || g.best < log(1.3)) {
			fail_msg("%s: %d asked, %d of them again, best %g", *name, g.asked, g.again,
				 g.best);
		}
		search_destroy(g.search);
		space_destroy(g.space);
	}
	spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_setting_without_its_condition_is_at_its_baseline),
		cmocka_unit_test(what_depends_on_a_setting_goes_back_with_it),
		cmocka_unit_test(a_condition_on_what_is_left_out_is_left_out),
		cmocka_unit_test(rules_mean_what_they_say),
		cmocka_unit_test(a_comparison_that_cannot_be_made_counts_as_held),
		cmocka_unit_test(a_space_without_an_allowed_configuration_is_refused),
		cmocka_unit_test(no_search_asks_for_a_forbidden_configuration),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
