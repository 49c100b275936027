/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Statistics against what others know: printed tables, a textbook's example, GSL's t, published
 * vectors of the generator; and against simulation with fixed seeds, since an interval's promise
 * is about how often it is wrong.
 */
#include "cleanup.h"
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

static void location_and_spread(void **state)
{
	(void)state;
	const double x[] = {9, 1, 5, 3, 100};
	assert_near(stats_mean(x, 5), 23.6, 1e-12);
	assert_near(stats_sd(x, 5), 42.81121349, 1e-7);
	assert_true(stats_median(x, 5) == 5);
	assert_true(stats_median(x, 4) == 4);
	assert_true(x[0] == 9 && x[4] == 100);
	assert_true(stats_mad(x, 5) == 4);
	assert_true(isnan(stats_mean(x, 0)));
	assert_true(isnan(stats_sd(x, 1)));
	assert_true(isnan(stats_median(x, 0)));
	assert_true(isnan(stats_mad(x, 0)));
	const double bad[] = {1, NAN, 3};
	assert_true(isnan(stats_median(bad, 3)));
}

/* Position of y among the sorted Walsh averages of x, from 1. */
static size_t walsh_rank(const double *x, size_t n, double y)
{
	size_t rank = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i; j < n; j++) {
			rank += (x[i] + x[j]) / 2 <= y + 1e-12;
		}
	}
	return rank;
}

/* Two-sided 5 % critical values of Wilcoxon's T as printed in textbooks: reject at T <= c, so the
 * interval begins at the (c + 1)-th Walsh average. */
static void signed_rank_tables(void **state)
{
	(void)state;
	static const size_t table[][2] = {{6, 0},   {7, 2},    {8, 3},	  {9, 5},
					  {10, 8},  {12, 13},  {15, 25},  {20, 52},
					  {25, 89}, {30, 137}, {40, 264}, {50, 434}};
	struct stats_rng r;
	stats_rng_seed(&r, 1);
	for (size_t t = 0; t < ARRAY_SIZE(table); t++) {
		double x[50];
		size_t n = table[t][0], all = n * (n + 1) / 2;
		for (size_t i = 0; i < n; i++) {
			x[i] = stats_rng_normal(&r);
		}
		struct interval ci = stats_hodges_lehmann(x, n, 0.95);
		assert_int_equal(walsh_rank(x, n, ci.lo), table[t][1] + 1);
		assert_int_equal(walsh_rank(x, n, ci.hi), all - table[t][1]);
		assert_true(ci.lo < ci.estimate && ci.estimate < ci.hi);
	}
}

/* Place of a difference among all, from 1. */
static size_t difference_rank(const double *a, size_t n, const double *b, size_t m, double d)
{
	size_t rank = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++) {
			rank += b[j] - a[i] <= d;
		}
	}
	return rank;
}

/* Two-sided 5 % critical values of U as printed in textbooks (Mann and Whitney 1947, Auble 1953):
 * reject at U <= c. The last is beyond the tables, where the normal approximation serves: the exact
 * distribution, summed, has 986. */
static void mann_whitney_tables(void **state)
{
	(void)state;
	static const size_t table[][3] = {{4, 4, 0},	{3, 5, 0},     {5, 5, 2},    {5, 8, 6},
					  {7, 9, 12},	{8, 8, 13},    {10, 10, 23}, {10, 15, 39},
					  {15, 10, 39}, {20, 20, 127}, {50, 51, 986}};
	struct stats_rng r;
	stats_rng_seed(&r, 2);
	for (size_t t = 0; t < ARRAY_SIZE(table); t++) {
		double a[50], b[51];
		size_t n = table[t][0], m = table[t][1], c = table[t][2];
		size_t slack = n * m > 2500 ? 1 : 0;
		for (size_t i = 0; i < n; i++) {
			a[i] = stats_rng_normal(&r);
		}
		for (size_t i = 0; i < m; i++) {
			b[i] = stats_rng_normal(&r);
		}
		struct interval ci = stats_shift(a, n, b, m, 0.95);
		assert_in_range(difference_rank(a, n, b, m, ci.lo), c + 1 - slack, c + 1 + slack);
		assert_in_range(difference_rank(a, n, b, m, ci.hi), n * m - c - slack,
				n * m - c + slack);
	}
}

/* Hollander and Wolfe's depression scale data: estimate -0.46, 96.1 % interval (-0.786, -0.010). */
static void textbook_example(void **state)
{
	(void)state;
	const double x[] = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
	const double y[] = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
	double d[9];
	for (int i = 0; i < 9; i++) {
		d[i] = y[i] - x[i];
	}
	struct interval ci = stats_hodges_lehmann(d, 9, 0.95);
	assert_near(ci.estimate, -0.46, 1e-9);
	assert_near(ci.lo, -0.786, 1e-9);
	assert_near(ci.hi, -0.010, 1e-9);
}

static void small_and_bad_samples(void **state)
{
	(void)state;
	const double x[] = {1, 2, 3, 4, 5, NAN};
	struct interval ci = stats_hodges_lehmann(x, 5, 0.95);
	assert_true(ci.estimate == 3 && isinf(ci.lo) && isinf(ci.hi));
	ci = stats_hodges_lehmann(x, 5, 0.90);
	assert_true(ci.lo == 1 && ci.hi == 5);
	ci = stats_hodges_lehmann(x, 6, 0.95);
	assert_true(isnan(ci.estimate) && isinf(ci.lo));
	assert_true(isnan(stats_hodges_lehmann(x, 0, 0.95).estimate));
	assert_true(isnan(stats_hodges_lehmann(x, 5, 1.0).estimate));
	assert_true(isinf(stats_confidence_sequence(x, 4, 0.95).hi));
	assert_true(isinf(stats_confidence_sequence(x, 6, 0.95).hi));
	assert_true(isinf(stats_confidence_sequence(x, 0, 0.95).lo));
	const double six[] = {1, 2, 3, 4, 5, 6};
	assert_true(isinf(stats_confidence_sequence(six, 5, 0.95).lo));
	assert_true(isfinite(stats_confidence_sequence(six, 6, 0.95).lo));
	/* Nothing varies: the value itself, and no gain is no gain. */
	const double same[] = {0, 0, 0, 0, 0, 0};
	ci = stats_confidence_sequence(same, 6, 0.95);
	assert_true(ci.lo == 0 && ci.hi == 0 && ci.estimate == 0);
}

static void hodges_lehmann_covers(void **state)
{
	(void)state;
	enum { RUNS = 2000 };
	static const size_t sizes[] = {8, 12, 30, 110};
	struct stats_rng r;
	stats_rng_seed(&r, 2);
	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		int covered = 0, runs = sizes[s] > 100 ? RUNS / 4 : RUNS;
		for (int k = 0; k < runs; k++) {
			double x[110];
			for (size_t i = 0; i < sizes[s]; i++) {
				x[i] = 5 + stats_rng_normal(&r);
			}
			struct interval ci = stats_hodges_lehmann(x, sizes[s], 0.95);
			covered += ci.lo <= 5 && 5 <= ci.hi;
		}
		assert_in_range(1000 * covered / runs, 930, 970);
	}
}

/* One measurement: log-normal noise, 3 % low outliers of 5 to 40 %, sinusoidal and linear drift. */
struct machine {
	struct stats_rng rng;
	double sigma, period, phase, slope;
	int t;
};

static void machine_boot(struct machine *m)
{
	m->period = 60 + 120 * stats_rng_uniform(&m->rng);
	m->phase = 2 * M_PI * stats_rng_uniform(&m->rng);
	m->slope = 0.015 * (2 * stats_rng_uniform(&m->rng) - 1);
	m->t = 0;
}

static double measure(struct machine *m, double level)
{
	double t = m->t++;
	double x = level * exp(m->sigma * stats_rng_normal(&m->rng)) *
		   (1 + 0.015 * sin(2 * M_PI * t / m->period + m->phase) + m->slope * t / 100);
	return stats_rng_uniform(&m->rng) < 0.03 ? x * (0.95 - 0.35 * stats_rng_uniform(&m->rng))
						 : x;
}

static double log_ratio(struct machine *m, double gain, bool best_first)
{
	double first = measure(m, best_first ? 1 + gain : 1);
	double second = measure(m, best_first ? 1 : 1 + gain);
	return log(best_first ? first / second : second / first);
}

/* Pairs until the sequence excludes 0, looking after each; cap + 1 if never. ABBA or BAAB. */
static size_t pairs_until_decided(struct machine *m, double gain, size_t cap)
{
	double x[200];
	bool best_first = false;
	machine_boot(m);
	for (size_t n = 0; n < cap; n++) {
		best_first = n % 2 ? !best_first : stats_rng_uniform(&m->rng) < 0.5;
		x[n] = log_ratio(m, gain, best_first);
		struct interval ci = stats_confidence_sequence(x, n + 1, 0.95);
		if (ci.lo > 0 || ci.hi < 0) {
			return n + 1;
		}
	}
	return cap + 1;
}

static void sequence_is_seldom_wrong(void **state)
{
	(void)state;
	enum { RUNS = 2000, CAP = 60 };
	static const double sigmas[] = {0.01, 0.03, 0.05};
	struct machine m;
	stats_rng_seed(&m.rng, 3);
	for (size_t s = 0; s < ARRAY_SIZE(sigmas); s++) {
		int wrong = 0;
		m.sigma = sigmas[s];
		for (int k = 0; k < RUNS; k++) {
			wrong += pairs_until_decided(&m, 0, CAP) <= CAP;
		}
		/* And not only because it never says anything. */
		assert_in_range(wrong, 1, RUNS * 5 / 100);
	}
}

static void sequence_finds_gains(void **state)
{
	(void)state;
	enum { RUNS = 300 };
	static const struct {
		double sigma, gain;
		double median, p90;
	} cases[] = {
		/* at most what the design's trial program needed, and a little */
		{0.01, 0.02, 13, 23},
		{0.03, 0.05, 16, 30},
		{0.03, 0.10, 8, 14},
		{0.05, 0.10, 12, 20},
	};
	struct machine m;
	stats_rng_seed(&m.rng, 4);
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		double pairs[RUNS];
		m.sigma = cases[c].sigma;
		for (int k = 0; k < RUNS; k++) {
			pairs[k] = (double)pairs_until_decided(&m, cases[c].gain, 200);
		}
		gsl_sort(pairs, 1, RUNS);
		assert_true(pairs[RUNS / 2] <= cases[c].median);
		assert_true(pairs[RUNS * 9 / 10] <= cases[c].p90);
	}
}

/* Wider than the interval that allows one look only, but not by much; and as wide as the units. */
static void sequence_against_t(void **state)
{
	(void)state;
	struct stats_rng r;
	stats_rng_seed(&r, 5);
	double x[40], scaled[40];
	for (size_t n = 8; n <= 40; n++) {
		for (size_t i = 0; i < n; i++) {
			x[i] = stats_rng_uniform(&r); /* no outliers: nothing is winsorised */
			scaled[i] = 1000 * x[i] + 7;
		}
		struct interval ci = stats_confidence_sequence(x, n, 0.95);
		double t = gsl_cdf_tdist_Pinv(0.975, (double)n - 1) * stats_sd(x, n) /
			   sqrt((double)n);
		double half = (ci.hi - ci.lo) / 2;
		assert_near(ci.estimate, stats_mean(x, n), 1e-12);
		assert_true(half > 1.1 * t && half < 2.5 * t);
		assert_true(stats_confidence_sequence(x, n, 0.99).hi > ci.hi);
		struct interval large = stats_confidence_sequence(scaled, n, 0.95);
		assert_near(large.lo, 1000 * ci.lo + 7, 1e-6);
	}
}

/* One of ten lies far off: neither the interval nor the estimate follows it. */
static void one_outlier_does_not_decide(void **state)
{
	(void)state;
	double x[] = {.010, .012, .009, .011, .010, .013, .008, .011, .010, -0.5};
	struct interval ci = stats_confidence_sequence(x, 10, 0.95);
	assert_true(ci.estimate > 0.005 && ci.lo > 0);
	assert_near(stats_hodges_lehmann(x, 10, 0.95).estimate, 0.010, 0.002);
}

static void steady_state(void **state)
{
	(void)state;
	double x[60];
	struct stats_rng r;
	stats_rng_seed(&r, 6);
	for (int i = 0; i < 60; i++) {
		x[i] = pow(2, i);
	}
	for (size_t n = 0; n <= 60; n++) {
		assert_int_equal(stats_steady_start(x, n), n);
	}
	for (int i = 0; i < 60; i++) {
		x[i] = i;
	}
	for (size_t n = 0; n <= 60; n++) {
		assert_int_equal(stats_steady_start(x, n), n);
	}
	for (int i = 0; i < 60; i++) {
		x[i] = 1e9;
	}
	assert_int_equal(stats_steady_start(x, 7), 7);
	assert_int_equal(stats_steady_start(x, 8), 0);
	/* Slow start for ten intervals, then 1e9 with 3 % noise. */
	for (int i = 0; i < 60; i++) {
		x[i] = (i < 10 ? pow(2, i - 10) : 1) * 1e9 * (1 + 0.03 * stats_rng_normal(&r));
	}
	assert_int_equal(stats_steady_start(x, 10), 10);
	size_t start = stats_steady_start(x, 60);
	assert_in_range(start, 10, 14);
	x[20] = NAN;
	assert_true(stats_steady_start(x, 60) < 20);
	x[45] = NAN;
	assert_int_equal(stats_steady_start(x, 60), 60);
}

/* Vectors: splitmix64 of seed 1234567 (its author's), xoshiro256** of state 1, 2, 3, 4. */
static void generator_vectors(void **state)
{
	(void)state;
	static const uint64_t seeded[] = {6457827717110365317u, 3203168211198807973u,
					  9817491932198370423u, 4593380528125082431u};
	static const uint64_t drawn[] = {11520, 0, 1509978240, 1215971899390074240};
	struct stats_rng r;
	stats_rng_seed(&r, 1234567);
	assert_memory_equal(r.s, seeded, sizeof(seeded));
	r = (struct stats_rng){{1, 2, 3, 4}};
	for (int i = 0; i < 4; i++) {
		assert_true(stats_rng_uniform(&r) == (double)(drawn[i] >> 11) * 0x1p-53);
	}
	double x[10000];
	for (int i = 0; i < 10000; i++) {
		x[i] = stats_rng_normal(&r);
	}
	assert_near(stats_mean(x, 10000), 0, 0.04);
	assert_near(stats_sd(x, 10000), 1, 0.03);
	assert_near(stats_mad(x, 10000), 0.6745, 0.03);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(location_and_spread),
		cmocka_unit_test(signed_rank_tables),
		cmocka_unit_test(mann_whitney_tables),
		cmocka_unit_test(textbook_example),
		cmocka_unit_test(small_and_bad_samples),
		cmocka_unit_test(hodges_lehmann_covers),
		cmocka_unit_test(sequence_is_seldom_wrong),
		cmocka_unit_test(sequence_finds_gains),
		cmocka_unit_test(sequence_against_t),
		cmocka_unit_test(one_outlier_does_not_decide),
		cmocka_unit_test(steady_state),
		cmocka_unit_test(generator_vectors),
	};
	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
