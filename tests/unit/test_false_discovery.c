/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * p-values that are what they say, and the share of false alarms over a fleet, by simulation.
 */
#include "cleanup.h"
#include "false_discovery.h"
#include "stats.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS = 1000 };

static void fill(struct stats_rng *rng, double *x, size_t n, double mean, double sd)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = mean + sd * stats_rng_normal(rng);
	}
}

/* Without a change a p-value is below 5 % in at most 5 % of cases; with one, nearly always. */
static void p_by_levels(void **state)
{
	(void)state;
	struct stats_rng rng;
	int below[2] = {0};
	stats_rng_seed(&rng, 7);
	for (int i = 0; i < 4 * ROUNDS; i++) {
		double a[6], b[1];
		bool lost = i % 2;
		fill(&rng, a, 6, 0, 0.02);
		fill(&rng, b, 1, lost ? -0.2 : 0, 0.02);
		struct verdict_input in = {{a, 6, 0}, {b, 1, 0}, 0.05, NAN, 0, 1};
		below[lost] += loss_p_by_levels(&in) <= 0.05;
	}
	assert_in_range(below[0], 2 * ROUNDS * 0.03, 2 * ROUNDS * 0.07);
	assert_true(below[1] > 2 * ROUNDS * 0.95);
}

static void p_by_levels_of_known_spread(void **state)
{
	(void)state;
	const double a[] = {0, 0}, b[] = {-0.1, -0.1};
	struct verdict_input in = {{a, 2, 0}, {b, 2, 0}, 0.05, 0.05, INFINITY, 1};
	/* two standard errors of 0.05 */
	assert_true(fabs(loss_p_by_levels(&in) - 0.02275) < 1e-4);
	in.here.n = 0;
	assert_true(isnan(loss_p_by_levels(&in)));
}

static void p_by_samples(void **state)
{
	(void)state;
	const double a[] = {1, 2, 3, 4}, below[] = {-4, -3, -2, -1}, above[] = {5, 6, 7, 8};
	/* one of 70 arrangements */
	assert_true(fabs(loss_p_by_samples(a, 4, below, 4) - 1.0 / 70) < 1e-6);
	assert_true(loss_p_by_samples(a, 4, above, 4) == 1);
	assert_true(isnan(loss_p_by_samples(a, 0, below, 4)));
	struct stats_rng rng;
	int small = 0;
	stats_rng_seed(&rng, 8);
	for (int i = 0; i < ROUNDS; i++) {
		double x[10], y[8];
		fill(&rng, x, 10, 0, 1);
		fill(&rng, y, 8, 0, 1);
		small += loss_p_by_samples(x, 10, y, 8) <= 0.05;
	}
	assert_in_range(small, ROUNDS * 0.025, ROUNDS * 0.07);
}

/* The example of Benjamini and Hochberg (1995), table 2: 15 p-values, 4 calls at 5 %. */
static void the_published_example(void **state)
{
	(void)state;
	const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
			    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};
	bool called[15];
	assert_int_equal(false_discovery_call(p, 15, 0.05, called), 4);
	assert_true(called[3] && !called[4]);
}

static void what_is_not_known_is_no_comparison(void **state)
{
	(void)state;
	const double p[] = {NAN, 0.04, NAN};
	bool called[3];
	assert_int_equal(false_discovery_call(p, 3, 0.05, called), 1);
	assert_true(called[1] && !called[0] && !called[2]);
	assert_int_equal(false_discovery_call(p, 0, 0.05, NULL), 0);
}

/* A fleet of 200 of which 20 lost: among all calls at most 5 % false on average; 5 % for each by
 * itself would call 9 healthy ones every night. */
static void over_a_fleet(void **state)
{
	(void)state;
	struct stats_rng rng;
	double share = 0, found = 0;
	stats_rng_seed(&rng, 9);
	for (int night = 0; night < 60; night++) {
		double p[200];
		bool called[200];
		int wrong = 0, right = 0;
		for (int i = 0; i < 200; i++) {
			double a[10], b[1];
			fill(&rng, a, 10, 0, 0.01);
			fill(&rng, b, 1, i < 20 ? -0.1 : 0, 0.01);
			struct verdict_input in = {{a, 10, 0}, {b, 1, 0}, 0.05, NAN, 0, 1};
			p[i] = loss_p_by_levels(&in);
		}
		false_discovery_call(p, 200, 0.05, called);
		for (int i = 0; i < 200; i++) {
			right += called[i] && i < 20;
			wrong += called[i] && i >= 20;
		}
		share += right + wrong ? (double)wrong / (right + wrong) / 60 : 0;
		found += right / 20.0 / 60;
	}
	print_message("share of false alarms %.3f, found %.3f\n", share, found);
	assert_true(share <= 0.07);
	assert_true(found > 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_by_levels),
		cmocka_unit_test(p_by_levels_of_known_spread),
		cmocka_unit_test(p_by_samples),
		cmocka_unit_test(the_published_example),
		cmocka_unit_test(what_is_not_known_is_no_comparison),
		cmocka_unit_test(over_a_fleet),
	};
	return cmocka_run_group_tests_name("false discovery", tests, NULL, NULL);
}
