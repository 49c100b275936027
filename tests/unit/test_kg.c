/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The knowledge gradient of a set of lines against numerical integration, closed forms and the far
 * tails, where a difference of numbers near each other would be nothing but rounding.
 */
#include "acquisition.h"
#include "cleanup.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance)) {
		fail_msg("%.12g instead of %.12g", got, want);
	}
}

/* E[max_i (a_i + b_i Z)] - max a_i by Simpson's rule over +-12. */
static double integrate(const double *a, const double *b, size_t m)
{
	const int n = 200000;
	double sum = 0, start = -INFINITY;
	for (size_t i = 0; i < m; i++) {
		start = fmax(start, a[i]);
	}
	for (int k = 0; k <= n; k++) {
		double z = -12 + 24.0 * k / n, top = -INFINITY;
		for (size_t i = 0; i < m; i++) {
			top = fmax(top, a[i] + b[i] * z);
		}
		double weight = k == 0 || k == n ? 1 : k % 2 ? 4 : 2;
		sum += weight * (top - start) * exp(-0.5 * z * z) / sqrt(2 * M_PI);
	}
	return sum * 24.0 / n / 3;
}

static void equals_integration_of_random_lines(void **state)
{
	(void)state;
	struct stats_rng rng;
	stats_rng_seed(&rng, 5);
	for (int round = 0; round < 40; round++) {
		double a[ACQUISITION_ANCHORS + 1], b[ACQUISITION_ANCHORS + 1];
		size_t m = 2 + (size_t)(stats_rng_uniform(&rng) * (ACQUISITION_ANCHORS - 1));
		for (size_t i = 0; i < m; i++) {
			a[i] = stats_rng_normal(&rng);
			b[i] = 0.7 * stats_rng_normal(&rng);
		}
		double want = integrate(a, b, m);
		/* a sum of terms near 1 knows nothing of gains below its rounding */
		assert_near(exp(kg_log(a, b, m)), want, 1e-6 * want + 1e-13);
	}
}

/* Two lines: |b| (phi(c) - c Q(c)) with c the distance in slopes, by the series of Q that is exact
 * to many digits far out. */
static double two_lines(double c)
{
	long double phi = expl(-0.5L * c * c) / sqrtl(2 * M_PIl);
	long double q = 0.5L * erfcl(c / M_SQRT2l);
	return (double)logl(phi - c * q);
}

static void tails_are_exact(void **state)
{
	(void)state;
	const double b[2] = {0, 1};
	for (double c = 0; c <= 10; c += 0.25) {
		double a[2] = {c, 0};
		assert_near(kg_log(a, b, 2), two_lines(c), c < 7 ? 1e-9 : 1e-5);
	}
	for (double c = 10; c < 200; c *= 1.07) { /* leading terms of the asymptotic series */
		double a[2] = {c, 0}, q = 1 / (c * c);
		double want = -0.5 * c * c - 0.5 * log(2 * M_PI) - 2 * log(c) +
			      log1p(-3 * q + 15 * q * q);
		assert_near(kg_log(a, b, 2), want, 2e-3 * (10 / c));
	}
}

static void tails_fall_without_a_step(void **state)
{
	(void)state;
	const double b[2] = {0, 1};
	double last = INFINITY, last_slope = 0;
	for (double c = 0; c < 40; c += 0.01) {
		double a[2] = {c, 0}, value = kg_log(a, b, 2), slope = value - last;
		assert_true(value < last && isfinite(value));
		if (c > 0.015) { /* the slope changes slowly everywhere, also where formulas meet */
			assert_near(slope, last_slope, 2e-4);
		}
		last_slope = slope;
		last = value;
	}
}

static void nothing_to_gain_is_minus_infinity(void **state)
{
	(void)state;
	const double a[3] = {1, 2, 3}, flat[3] = {0.5, 0.5, 0.5};
	assert_true(kg_log(a, flat, 3) == -INFINITY);
	assert_true(kg_log(a, flat, 1) == -INFINITY);
}

static void ties_and_doubles_do_not_count_twice(void **state)
{
	(void)state;
	const double a[4] = {1, 1, 1, 1}, b[4] = {0.2, -0.3, 0.2, -0.3};
	assert_near(kg_log(a, b, 4), kg_log(a, b, 2), 1e-12);
	assert_near(exp(kg_log(a, b, 4)), integrate(a, b, 4), 1e-7);
	/* equal slopes: only the higher counts */
	const double a2[3] = {1, 0.4, 0.5}, b2[3] = {0.1, 0.3, 0.3};
	const double a3[2] = {1, 0.5}, b3[2] = {0.1, 0.3};
	assert_near(kg_log(a2, b2, 3), kg_log(a3, b3, 2), 1e-12);
}

static void neither_order_nor_level_matters(void **state)
{
	(void)state;
	const double a[3] = {0.3, 0.1, -0.2}, b[3] = {0.1, -0.4, 0.9};
	const double a2[3] = {99.8, 100.3, 100.1}, b2[3] = {0.9, 0.1, -0.4};
	assert_near(kg_log(a, b, 3), kg_log(a2, b2, 3), 1e-9);
	/* twice as large lines gain twice as much */
	const double a3[3] = {0.6, 0.2, -0.4}, b3[3] = {0.2, -0.8, 1.8};
	assert_near(kg_log(a3, b3, 3), kg_log(a, b, 3) + M_LN2, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_integration_of_random_lines),
		cmocka_unit_test(tails_are_exact),
		cmocka_unit_test(tails_fall_without_a_step),
		cmocka_unit_test(nothing_to_gain_is_minus_infinity),
		cmocka_unit_test(ties_and_doubles_do_not_count_twice),
		cmocka_unit_test(neither_order_nor_level_matters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
