/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the next measurement goes: the gain against brute force, limits, failures, lost links,
 * forbidden points, time, and the maximum against many random points.
 */
#include "acquisition.h"
#include "cleanup.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N 14
#define D 3

struct scene {
	struct search_problem p;
	struct gp *model, *other;
	double x[N * D], y[N], w[N], margin[N];
	struct acquisition_view v;
	struct acquisition q;
};

/* Two numbers and a category; the best lies near (0.7, 0.4) with the second label. */
static double truth(const double *x)
{
	double a = x[0] - 0.7, b = x[1] - 0.4;
	return 1 - 4 * a * a - 3 * b * b - 0.5 * (fabs(x[2] - 0.5) > 0.1);
}

static void make(struct scene *s)
{
	static const bool category[D] = {false, false, true};
	struct stats_rng rng;
	struct err e;
	memset(s, 0, sizeof(*s));
	s->p = (struct search_problem){.n = D, .budget = 100};
	s->p.dims[0].levels = 21;
	s->p.dims[2] = (struct search_dim){.category = true, .levels = 3};
	stats_rng_seed(&rng, 4);
	for (int i = 0; i < N; i++) {
		double *x = s->x + i * D;
		x[0] = (floor(21 * stats_rng_uniform(&rng)) + 0.5) / 21;
		x[1] = stats_rng_uniform(&rng);
		x[2] = (floor(3 * stats_rng_uniform(&rng)) + 0.5) / 3;
		s->y[i] = truth(x) + 0.02 * stats_rng_normal(&rng);
		s->w[i] = 1;
	}
	struct gp_data data = {.n = N, .x = s->x, .y = s->y, .w = s->w, .noise = 0.05};
	assert_int_equal(gp_create(D, category, 1, &s->model, &e), 0);
	assert_int_equal(gp_create(D, category, 0, &s->other, &e), 0);
	assert_int_equal(gp_set(s->model, &data, true, &e), 0);
	s->v = (struct acquisition_view){
		.problem = &s->p, .model = s->model, .points = s->x, .n_points = N};
}

static void start(struct scene *s)
{
	struct err e;
	assert_int_equal(acquisition_init(&s->q, &s->v, &e), 0);
}

static void finish(struct scene *s)
{
	acquisition_clear(&s->q);
	gp_destroy(s->model);
	gp_destroy(s->other);
}

static void fit_other(struct scene *s, const double *y, double noise)
{
	struct err e;
	struct gp_data data = {.n = N, .x = s->x, .y = y, .w = s->w, .noise = noise};
	assert_int_equal(gp_set(s->other, &data, true, &e), 0);
}

static void random_point(const struct search_problem *p, struct stats_rng *rng, double *x)
{
	for (size_t j = 0; j < p->n; j++) {
		x[j] = stats_rng_uniform(rng);
	}
	x[0] = (floor(21 * x[0]) + 0.5) / 21;
	x[2] = (floor(3 * x[2]) + 0.5) / 3;
}

/* The gain is what the best posterior mean rises by on average, when a value is drawn, told, and
 * everything predicted anew. */
static void gain_is_the_expected_rise_of_the_best(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	struct err e;
	double x[(N + 1) * D], y[N + 1], w[N + 1], place[SEARCH_DIMS_MAX], mean, variance,
		before = -INFINITY, sum = 0;
	make(&s);
	start(&s);
	stats_rng_seed(&rng, 9);
	acquisition_maximise(&s.q, &rng, place);
	memcpy(x + N * D, place, D * sizeof(double));
	memcpy(x, s.x, sizeof(s.x));
	memcpy(y, s.y, sizeof(s.y));
	gp_predict(s.model, x + N * D, &mean, &variance, NULL);
	double sd = sqrt(variance + gp_noise_variance(s.model)),
	       gain = acquisition_log_gain(&s.q, x + N * D);
	for (int i = 0; i <= N; i++) {
		double m, v;
		w[i] = 1;
		gp_predict(s.model, x + i * D, &m, &v, NULL);
		before = fmax(before, m);
	}
	const int draws = 400; /* quantiles instead of random draws */
	for (int k = 0; k < draws; k++) {
		double z = 0, p = (k + 0.5) / draws, best = -INFINITY;
		for (double step = 8; step > 1e-6; step /= 2) {
			z += 0.5 * erfc(-(z + step) / M_SQRT2) < p ? step : 0;
			z -= 0.5 * erfc(-z / M_SQRT2) > p ? step : 0;
		}
		y[N] = mean + sd * z;
		struct gp_data data = {.n = N + 1, .x = x, .y = y, .w = w, .noise = 0.05};
		assert_int_equal(gp_set(s.model, &data, false, &e), 0);
		for (int i = 0; i <= N; i++) {
			double m, v;
			gp_predict(s.model, x + i * D, &m, &v, NULL);
			best = fmax(best, m);
		}
		sum += (best - before) / draws;
	}
	if (fabs(exp(gain) / sum - 1) > 0.02) {
		fail_msg("gain %g instead of %g", exp(gain), sum);
	}
	finish(&s);
}

static void maximum_beats_many_random_points(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	double x[SEARCH_DIMS_MAX], again[SEARCH_DIMS_MAX];
	make(&s);
	start(&s);
	stats_rng_seed(&rng, 1);
	double top = acquisition_maximise(&s.q, &rng, x);
	for (int i = 0; i < 5000; i++) {
		double y[D];
		random_point(&s.p, &rng, y);
		double value = acquisition_log_gain(&s.q, y);
		if (value > top + 0.1) {
			fail_msg("%g at random, %g by search", value, top);
		}
	}
	stats_rng_seed(&rng, 1);
	assert_true(acquisition_maximise(&s.q, &rng, again) == top);
	assert_memory_equal(x, again, D * sizeof(double));
	finish(&s);
}

static void what_fails_is_worth_less(void **state)
{
	(void)state;
	struct scene s;
	double labels[N], bad[D] = {0.5 / 21, 0.9, 0.5}, good[D] = {20.5 / 21, 0.1, 0.5};
	make(&s);
	for (int i = 0; i < N; i++) {
		labels[i] = s.x[i * D] < 0.5 ? -2 : 0.3;
	}
	fit_other(&s, labels, 0.22);
	s.v.failures = s.other;
	start(&s);
	assert_true(acquisition_works(&s.v, bad) < 0.4);
	assert_true(acquisition_works(&s.v, good) > 0.8);
	double with = acquisition_log_gain(&s.q, bad);
	s.q.v.failures = NULL;
	assert_true(with < acquisition_log_gain(&s.q, bad) - 0.9);
	finish(&s);
}

/* A limit that only points with a small first coordinate keep. */
static void limits_are_kept(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	double margin[N], x[SEARCH_DIMS_MAX];
	make(&s);
	for (int i = 0; i < N; i++) {
		margin[i] = (0.4 - s.x[i * D]) * 3;
	}
	fit_other(&s, margin, 0.05);
	s.v.limit[0] = (struct acquisition_limit){s.other, 0, 1};
	s.v.n_limits = 1;
	start(&s);
	assert_true(s.q.m > 0);
	for (size_t i = 0; i < s.q.m; i++) {
		assert_true(s.q.anchor[i * D] < 0.45);
	}
	stats_rng_seed(&rng, 1);
	acquisition_maximise(&s.q, &rng, x);
	assert_true(x[0] < 0.5);
	finish(&s);
}

static void without_a_point_that_keeps_them_limits_come_first(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	double margin[N], x[SEARCH_DIMS_MAX], lowest = 1;
	make(&s);
	for (int i = 0; i < N; i++) {
		margin[i] = -1 - 3 * s.x[i * D];
		lowest = fmin(lowest, s.x[i * D]);
	}
	fit_other(&s, margin, 0.05);
	s.v.limit[0] = (struct acquisition_limit){s.other, 0, 1};
	s.v.n_limits = 1;
	start(&s);
	assert_int_equal(s.q.m, 0);
	stats_rng_seed(&rng, 1);
	assert_true(isfinite(acquisition_maximise(&s.q, &rng, x)));
	assert_true(x[0] < 0.3);
	finish(&s);
}

static void what_cut_the_link_is_left_alone(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	double x[SEARCH_DIMS_MAX], tabu[D];
	make(&s);
	start(&s);
	stats_rng_seed(&rng, 1);
	acquisition_maximise(&s.q, &rng, tabu);
	acquisition_clear(&s.q);
	s.v.tabu = tabu;
	s.v.n_tabu = 1;
	start(&s);
	acquisition_maximise(&s.q, &rng, x);
	assert_true(acquisition_is_tabu(&s.v, tabu));
	assert_false(acquisition_is_tabu(&s.v, x));
	/* one other label, or a near number, is too near; far away is not */
	memcpy(x, tabu, sizeof(tabu));
	x[2] = x[2] > 0.5 ? 0.5 : 2.5 / 3;
	assert_true(acquisition_is_tabu(&s.v, x));
	x[1] += x[1] > 0.5 ? -0.12 : 0.12;
	assert_false(acquisition_is_tabu(&s.v, x));
	finish(&s);
}

static bool left_half_only(const void *ctx, double *x)
{
	(void)ctx;
	return x[0] < 0.5;
}

static bool second_has_no_effect(const void *ctx, double *x)
{
	(void)ctx;
	x[1] = 0.25;
	return true;
}

static bool nothing_is_allowed(const void *ctx, double *x)
{
	(void)ctx;
	(void)x;
	return false;
}

static void forbidden_points_are_not_asked(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	double x[SEARCH_DIMS_MAX];
	make(&s);
	stats_rng_seed(&rng, 1);
	s.p.canonical = left_half_only;
	start(&s);
	s.q.v.n_points = 0; /* else known points compete, which were allowed once */
	acquisition_maximise(&s.q, &rng, x);
	assert_true(x[0] < 0.5);
	s.p.canonical = second_has_no_effect;
	acquisition_maximise(&s.q, &rng, x);
	assert_true(x[1] == 0.25);
	s.p.canonical = nothing_is_allowed;
	assert_true(acquisition_maximise(&s.q, &rng, x) == -INFINITY);
	finish(&s);
}

static double left_is_slow(const void *ctx, const double *x)
{
	(void)ctx;
	return x[0] < 0.5 ? 20 : 2;
}

static void gain_is_a_second(void **state)
{
	(void)state;
	struct scene s;
	const double left[D] = {0.5 / 21, 0.4, 0.5}, right[D] = {20.5 / 21, 0.4, 0.5};
	make(&s);
	start(&s);
	double a = acquisition_log_gain(&s.q, left), b = acquisition_log_gain(&s.q, right);
	s.p.seconds = left_is_slow;
	assert_true(fabs(acquisition_log_gain(&s.q, left) - (a - log(20))) < 1e-12);
	assert_true(fabs(acquisition_log_gain(&s.q, right) - (b - log(2))) < 1e-12);
	finish(&s);
}

static void one_anchor_is_enough(void **state)
{
	(void)state;
	struct scene s;
	struct stats_rng rng;
	double x[SEARCH_DIMS_MAX];
	make(&s);
	s.v.n_points = 1;
	start(&s);
	assert_int_equal(s.q.m, 1);
	stats_rng_seed(&rng, 1);
	assert_true(isfinite(acquisition_maximise(&s.q, &rng, x)));
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gain_is_the_expected_rise_of_the_best),
		cmocka_unit_test(maximum_beats_many_random_points),
		cmocka_unit_test(what_fails_is_worth_less),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(without_a_point_that_keeps_them_limits_come_first),
		cmocka_unit_test(what_cut_the_link_is_left_alone),
		cmocka_unit_test(forbidden_points_are_not_asked),
		cmocka_unit_test(gain_is_a_second),
		cmocka_unit_test(one_anchor_is_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
