/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every search by its name: points lie in the cube, the budget holds, it ends whenever it is ended,
 * failures and odd values do no harm, the same seed gives the same points, and it finds something.
 */
#include "cleanup.h"
#include "search.h"
#include "slow.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <nlopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct search_problem problem(size_t n, int levels, int budget)
{
	struct search_problem p = {.n = n, .budget = budget, .seed = 42};
	for (size_t i = 0; i < n; i++) {
		p.dims[i] = (struct search_dim){.levels = levels, .start = 0.5};
	}
	return p;
}

/* Smooth, its top of 1 at 0.3 in each dimension. */
static double hill(const double *x, size_t n)
{
	double loss = 0;
	for (size_t i = 0; i < n; i++) {
		loss += (x[i] - 0.3) * (x[i] - 0.3);
	}
	return 1 - loss / (double)n;
}

struct outcome {
	int asked;
	double best, sum; /* sum: a fingerprint of all points */
};

static struct search *begin(const char *name, const struct search_problem *p)
{
	struct search *s = NULL;
	struct err e = {.code = 0};
	if (search_create(name, p, &s, &e)) {
		fail_msg("%s: %s", name, e.text);
	}
	return s;
}

static void check_point(const char *name, const struct search_problem *p, const double *x)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!(x[i] >= 0 && x[i] <= 1)) {
			fail_msg("%s asks for %g outside the cube", name, x[i]);
		}
		double cell = x[i] * p->dims[i].levels;
		if (p->dims[i].levels && fabs(cell - floor(cell) - 0.5) > 1e-6) {
			fail_msg("%s asks for %g, not the middle of a cell", name, x[i]);
		}
	}
}

/* Runs to the end; every fail_every-th test fails (0: none). */
static struct outcome play(const char *name, const struct search_problem *p, int fail_every)
{
	struct search *s = begin(name, p);
	struct outcome o = {.best = -INFINITY};
	struct err e;
	double x[SEARCH_DIMS_MAX];
	int rc;
	while ((rc = search_ask(s, x, &e)) == 1) {
		double y = hill(x, p->n);
		bool ok = !fail_every || o.asked % fail_every != 0;
		check_point(name, p, x);
		search_tell(s, x, y, ok);
		o.best = ok ? fmax(o.best, y) : o.best;
		for (size_t i = 0; i < p->n; i++) {
			o.sum += x[i] * (double)(o.asked * 7 + (int)i + 1);
		}
		if (++o.asked > p->budget) {
			fail_msg("%s asks for more than its budget of %d", name, p->budget);
		}
	}
	if (rc < 0) {
		fail_msg("%s: %s", name, e.text);
	}
	search_destroy(s);
	return o;
}

static bool wants_two(const char *name)
{
	return strncmp(name, "LN_NEWUOA", 9) == 0;
}

#define FOR_EACH_NAME(name)                                                                        \
	for (const char *const *at_ = search_names(), *name; (name = *at_) != NULL; at_++)

/* All of them, or where it is slow every eighth: NLopt's differ by its own code alone. */
#define FOR_NAMES_PLAYED(name)                                                                     \
	FOR_EACH_NAME(name)                                                                        \
	if (is_slow() && (at_ - search_names()) % 8 != 0) {                                        \
	} else

static void each_search_ends_and_finds_something(void **state)
{
	(void)state;
	static const struct {
		size_t n;
		int levels;
	} shapes[] = {{1, 0}, {1, 5}, {2, 0}, {5, 33}, {12, 17}};
	FOR_NAMES_PLAYED(name)
	{
		for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
			struct search_problem p = problem(shapes[i].n, shapes[i].levels, 80);
			if (shapes[i].n == 1 && wants_two(name)) {
				continue;
			}
			struct outcome o = play(name, &p, 0);
			if (o.asked < (shapes[i].levels == 5 ? 3 : 10) || o.best < 0.9) {
				fail_msg("%s in %zu dimensions: %d asked, best %g", name,
					 shapes[i].n, o.asked, o.best);
			}
		}
	}
}

static void each_search_bears_failures(void **state)
{
	(void)state;
	FOR_NAMES_PLAYED(name)
	{
		struct search_problem p = problem(4, 20, 40);
		play(name, &p, 1); /* all */
		struct outcome o = play(name, &p, 3);
		assert_true(o.asked > 0 && o.best > 0.8);
	}
}

static void each_search_may_be_ended_at_any_time(void **state)
{
	(void)state;
	FOR_NAMES_PLAYED(name)
	{
		for (int steps = 0; steps < 12; steps++) {
			struct search_problem p = problem(3, 0, 1000);
			struct search *s = begin(name, &p);
			struct err e;
			double x[SEARCH_DIMS_MAX], again[SEARCH_DIMS_MAX];
			for (int i = 0; i < steps / 2; i++) {
				assert_int_equal(search_ask(s, x, &e), 1);
				search_tell(s, x, hill(x, 3), true);
			}
			if (steps % 2) { /* with a question open, asked twice */
				assert_int_equal(search_ask(s, x, &e), 1);
				assert_int_equal(search_ask(s, again, &e), 1);
				assert_memory_equal(x, again, 3 * sizeof(double));
			}
			search_destroy(s);
		}
	}
}

static void odd_values_do_no_harm(void **state)
{
	(void)state;
	static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0};
	FOR_NAMES_PLAYED(name)
	{
		struct search_problem p = problem(3, 16, 30);
		struct search *s = begin(name, &p);
		struct err e;
		double x[SEARCH_DIMS_MAX];
		for (int i = 0; search_ask(s, x, &e) == 1; i++) {
			check_point(name, &p, x);
			search_tell(s, x, odd[i % 6], true);
		}
		search_destroy(s);
	}
}

static void the_same_seed_gives_the_same_points(void **state)
{
	(void)state;
	FOR_NAMES_PLAYED(name)
	{
		struct search_problem p = problem(4, 30, 40);
		struct outcome a = play(name, &p, 5), b = play(name, &p, 5);
		if (a.asked != b.asked || a.sum != b.sum) {
			fail_msg("%s differs from itself", name);
		}
	}
	struct search_problem p = problem(4, 30, 40), q = p;
	q.seed = 43;
	assert_true(play("sobol", &p, 0).sum != play("sobol", &q, 0).sum);
	assert_true(play("GN_ESCH", &p, 0).sum != play("GN_ESCH", &q, 0).sum);
}

/* Those that fit a model take seconds in as many dimensions; their own tests see to that. */
static size_t many_dimensions(const char *name)
{
	bool fits = strcmp(name, "surrogate") == 0 || strcmp(name, "auto") == 0;
	return fits ? 15 : 60;
}

static void odd_shapes_are_searched(void **state)
{
	(void)state;
	FOR_NAMES_PLAYED(name)
	{
		struct search_problem p = problem(3, 1, 20); /* one point */
		if (!wants_two(name)) {
			struct outcome o = play(name, &p, 0);
			assert_true(o.asked >= 1 && o.asked <= 3); /* some measure it again */
		}
		p = problem(many_dimensions(name), 40, 30);
		p.dims[3].category = p.dims[p.n - 2].category = true;
		p.dims[7].levels = 1;
		p.dims[9].start = NAN;
		assert_true(play(name, &p, 0).asked > 20);
	}
}

/* Each algorithm of the library is either among the names or refused with a sentence. */
static void the_names_are_all_that_nlopt_has(void **state)
{
	(void)state;
	int listed = 0;
	for (int a = 0; a < NLOPT_NUM_ALGORITHMS; a++) {
		const char *name = nlopt_algorithm_to_string((nlopt_algorithm)a);
		char prefixed[64];
		struct err e = {.code = 0};
		bool found = false;
		FOR_EACH_NAME(n)
		{
			found = found || strcmp(n, name) == 0;
		}
		listed += found;
		snprintf(prefixed, sizeof(prefixed), "NLOPT_%s", name);
		if (search_known(name, &e) != found || search_known(prefixed, &e) != found) {
			fail_msg("%s: %s", name, found ? e.text : "usable, but not in the list");
		}
		if (!found) {
			assert_int_equal(e.class, ERR_USAGE);
			assert_true(strstr(e.text, "gradients") || strstr(e.text, "not compiled"));
		}
	}
	int names = 0;
	FOR_EACH_NAME(n)
	{
		struct err e;
		names++;
		assert_true(search_known(n, &e));
	}
	assert_true(names - listed >= 5); /* and the ones that are not of NLopt */
	struct err e;
	assert_false(search_known("sobl", &e));
	assert_non_null(strstr(e.text, "did you mean 'sobol'?"));
}

static void small_spaces_are_searched_whole_and_once(void **state)
{
	(void)state;
	static const char *const names[] = {"sobol", "random", "grid"};
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		struct search_problem p = problem(2, 4, 100);
		struct search *s = begin(names[k], &p);
		bool seen[16] = {false};
		struct err e;
		double x[2];
		int n = 0;
		for (; search_ask(s, x, &e) == 1; n++) {
			int cell = (int)(x[0] * 4) + 4 * (int)(x[1] * 4);
			assert_false(seen[cell]);
			seen[cell] = true;
			search_tell(s, x, 1, true);
		}
		assert_int_equal(n, 16);
		search_destroy(s);
	}
}

/* What is told without being asked is used: a local search begins there. */
static void a_point_told_unasked_is_the_start(void **state)
{
	(void)state;
	static const char *const names[] = {"LN_SBPLX", "LN_BOBYQA", "LN_NELDERMEAD", "LN_COBYLA"};
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		struct search_problem p = problem(3, 0, 50);
		struct search *s = begin(names[k], &p);
		double start[3] = {0.9, 0.8, 0.9}, x[3];
		struct err e;
		search_tell(s, start, 5, true);
		assert_int_equal(search_ask(s, x, &e), 1);
		for (int i = 0; i < 3; i++) {
			assert_true(fabs(x[i] - start[i]) < 0.3); /* not from the middle */
		}
		search_destroy(s);
	}
}

/* Regret of the best point asked on a hill that lies elsewhere for each seed. */
static double mean_regret(const char *name, size_t n, int budget, int categories)
{
	double sum = 0;
	const int seeds = 20;
	for (int k = 0; k < seeds; k++) {
		struct search_problem p = problem(n, 40, budget);
		struct stats_rng rng;
		double top[SEARCH_DIMS_MAX], x[SEARCH_DIMS_MAX], best = -INFINITY;
		p.seed = (uint64_t)k + 1;
		stats_rng_seed(&rng, p.seed);
		for (size_t i = 0; i < n; i++) {
			top[i] = stats_rng_uniform(&rng);
			p.dims[i].category = (int)i < categories;
			p.dims[i].levels = (int)i < categories ? 3 : 40;
		}
		struct search *s = begin(name, &p);
		struct err e;
		while (search_ask(s, x, &e) == 1) {
			double loss = 0;
			for (size_t i = 0; i < n; i++) {
				double d = x[i] - top[i];
				bool same = (int)(3 * x[i]) == (int)(3 * top[i]);
				loss += p.dims[i].category ? 0.2 * !same : d * d;
			}
			best = fmax(best, -loss);
			search_tell(s, x, -loss * (1 + 0.03 * stats_rng_normal(&rng)), true);
		}
		search_destroy(s);
		sum -= best;
	}
	return sum / seeds;
}

static void auto_beats_chance(void **state)
{
	(void)state;
	if (is_slow()) {
		skip();
	}
	assert_true(mean_regret("auto", 2, 40, 0) < 0.5 * mean_regret("random", 2, 40, 0));
	assert_true(mean_regret("auto", 6, 60, 0) < 0.5 * mean_regret("random", 6, 60, 0));
	assert_true(mean_regret("auto", 8, 60, 3) < 0.7 * mean_regret("random", 8, 60, 3));
}

static void a_search_wants_dimensions_and_a_budget(void **state)
{
	(void)state;
	struct search *s = NULL;
	struct err e;
	struct search_problem p = problem(0, 4, 10);
	assert_int_equal(search_create("auto", &p, &s, &e), -EINVAL);
	p = problem(2, 4, 0);
	assert_int_equal(search_create("auto", &p, &s, &e), -EINVAL);
	p = problem(1, 4, 10);
	assert_int_equal(search_create("LN_NEWUOA", &p, &s, &e), -EINVAL);
	assert_null(s);
	search_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_search_ends_and_finds_something),
		cmocka_unit_test(each_search_bears_failures),
		cmocka_unit_test(each_search_may_be_ended_at_any_time),
		cmocka_unit_test(odd_values_do_no_harm),
		cmocka_unit_test(the_same_seed_gives_the_same_points),
		cmocka_unit_test(odd_shapes_are_searched),
		cmocka_unit_test(the_names_are_all_that_nlopt_has),
		cmocka_unit_test(small_spaces_are_searched_whole_and_once),
		cmocka_unit_test(a_point_told_unasked_is_the_start),
		cmocka_unit_test(auto_beats_chance),
		cmocka_unit_test(a_search_wants_dimensions_and_a_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
