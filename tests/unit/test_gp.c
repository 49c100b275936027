/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Gaussian process against slow and plain arithmetic: gradients by finite differences,
 * predictions by solving the system directly, leave-one-out by leaving one out.
 */
#include "cleanup.h"
#include "gp_private.h"
#include "stats.h"
#include <errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N 30
#define D 4

static const bool category[D] = {false, true, false, true};

struct sample {
	double x[N * D], y[N], w[N];
	struct gp_origin origin[N];
	struct gp_data data;
};

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance)) {
		fail_msg("%.12g instead of %.12g", got, want);
	}
}

static void fill(struct sample *s)
{
	struct stats_rng rng;
	stats_rng_seed(&rng, 3);
	for (int i = 0; i < N; i++) {
		double *x = s->x + i * D;
		for (int j = 0; j < D; j++) {
			double u = stats_rng_uniform(&rng);
			x[j] = category[j] ? (floor(3 * u) + 0.5) / 3 : u;
		}
		s->y[i] = sin(5 * x[0]) + (x[1] > 0.4) + x[0] * x[2] + 0.1 * stats_rng_normal(&rng);
		s->w[i] = i % 7 == 0 ? 3 : 1;
		s->origin[i] = (struct gp_origin){i % 3, i % 3 == 1, i};
	}
	memcpy(s->x + 5 * D, s->x + 4 * D, D * sizeof(double)); /* a replicate */
	s->data = (struct gp_data){.n = N, .x = s->x, .y = s->y, .w = s->w, .noise = 0.1};
}

static struct gp *fitted(const struct sample *s, size_t n, bool refit)
{
	struct gp *g;
	struct err e;
	struct gp_data data = s->data;
	data.n = n;
	assert_int_equal(gp_create(D, category, 1, &g, &e), 0);
	assert_int_equal(gp_set(g, &data, refit, &e), 0);
	return g;
}

static void check_gradient(struct gp *g)
{
	double theta[GP_THETA_MAX], gradient[GP_THETA_MAX];
	struct stats_rng rng;
	stats_rng_seed(&rng, 8);
	for (int round = 0; round < 3; round++) {
		unsigned count = (unsigned)gp_theta_count(g);
		for (size_t t = 0; t < count; t++) {
			double spread;
			gp_prior(g, t, &theta[t], &spread);
			theta[t] += 0.7 * stats_rng_normal(&rng);
		}
		gp_minus_log_posterior(count, theta, gradient, g);
		for (size_t t = 0; t < count; t++) {
			double h = 1e-4, at = theta[t];
			theta[t] = at + h;
			double up = gp_minus_log_posterior(count, theta, NULL, g);
			theta[t] = at - h;
			double down = gp_minus_log_posterior(count, theta, NULL, g);
			theta[t] = at;
			double want = (up - down) / (2 * h);
			assert_near(gradient[t], want, 3e-4 * (1 + fabs(want)));
		}
	}
}

static void gradient_is_that_of_finite_differences(void **state)
{
	(void)state;
	static const size_t sizes[] = {N, 2, 1}; /* one point has no pairs to sum over */
	struct sample s;
	fill(&s);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct gp *g = fitted(&s, sizes[i], false);
		check_gradient(g);
		gp_destroy(g);
	}
}

static void gradient_with_groups_and_drift_too(void **state)
{
	(void)state;
	struct sample s;
	fill(&s);
	s.origin[7].group = GP_NO_GROUP;
	s.data.origin = s.origin;
	s.data.group_variance = 0.3;
	s.data.earlier_variance = 0.2;
	s.data.drift = true;
	struct gp *g = fitted(&s, N, false);
	assert_int_equal(gp_theta_count(g), 2 * D + 4);
	check_gradient(g);
	gp_destroy(g);
}

/* k(x, x') written down once more, from the header's formula. */
static double kernel(const struct gp *g, const double *p, const double *q)
{
	double r2 = 0, sum = 1;
	for (int j = 0; j < D; j++) {
		double delta = category[j] ? (fabs(p[j] - q[j]) > 1e-9) : fabs(p[j] - q[j]);
		r2 += delta * delta / (gp_length(g, (size_t)j) * gp_length(g, (size_t)j));
		double t = sqrt(5.0) * delta / 0.3;
		double one = category[j] ? delta == 0 : (1 + t + t * t / 3) * exp(-t);
		sum += exp(g->theta[D + 1 + j]) * one;
	}
	double t = sqrt(5 * r2), u = 5 * sqrt(3 * r2);
	return sum + exp(g->theta[D]) * (1 + t + t * t / 3) * exp(-t) +
	       exp(g->theta[2 * D + 2]) * (1 + u) * exp(-u);
}

/* K^-1 b by LU decomposition. */
static void solve(const struct gp *g, const struct sample *s, const double *b, double *out)
{
	gsl_matrix *k = gsl_matrix_alloc(N, N);
	gsl_permutation *p = gsl_permutation_alloc(N);
	int sign;
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			double noise = i == j ? gp_noise_variance(g) * s->w[i] : 0;
			gsl_matrix_set(k, (size_t)i, (size_t)j,
				       kernel(g, s->x + i * D, s->x + j * D) + noise);
		}
	}
	gsl_vector_const_view from = gsl_vector_const_view_array(b, N);
	gsl_vector_view to = gsl_vector_view_array(out, N);
	gsl_linalg_LU_decomp(k, p, &sign);
	gsl_linalg_LU_solve(k, p, &from.vector, &to.vector);
	gsl_permutation_free(p);
	gsl_matrix_free(k);
}

static double dot(const double *a, const double *b)
{
	double sum = 0;
	for (int i = 0; i < N; i++) {
		sum += a[i] * b[i];
	}
	return sum;
}

static void prediction_is_that_of_a_direct_solve(void **state)
{
	(void)state;
	struct sample s;
	double k[2][N], alpha[N], half[2][N], beta[N], mean, variance, v2;
	const double at[2][D] = {{0.3, 0.5, 0.9, 0.5 / 3}, {0.35, 0.5 / 3, 0.1, 0.5}};
	fill(&s);
	struct gp *g = fitted(&s, N, true);
	for (int i = 0; i < N; i++) {
		k[0][i] = kernel(g, at[0], s.x + i * D);
		k[1][i] = kernel(g, at[1], s.x + i * D);
	}
	solve(g, &s, s.y, alpha);
	solve(g, &s, k[0], beta);
	gp_predict(g, at[0], &mean, &variance, half[0]);
	assert_near(mean, dot(k[0], alpha), 1e-5);
	assert_near(variance, kernel(g, at[0], at[0]) - dot(k[0], beta), 1e-5);
	gp_predict(g, at[1], &mean, &v2, half[1]);
	double covariance = kernel(g, at[0], at[1]) - dot(k[1], beta);
	assert_near(gp_covariance(g, at[0], half[0], at[1], half[1]), covariance, 1e-5);
	/* a difference, as a sum with weights */
	double difference, spread;
	gp_difference(g, at[0], at[1], &difference, &spread);
	assert_near(difference, dot(k[0], alpha) - dot(k[1], alpha), 1e-5);
	assert_near(spread, variance + v2 - 2 * covariance, 1e-5);
	/* without room for halves */
	double m2;
	gp_predict(g, at[1], &m2, &v2, NULL);
	assert_near(m2, mean, 1e-12);
	gp_destroy(g);
}

static void leave_one_out_is_leaving_one_out(void **state)
{
	(void)state;
	struct sample s, rest;
	double residual[N];
	struct err e;
	fill(&s);
	struct gp *g = fitted(&s, N, true);
	gp_leave_one_out(g, residual);
	for (int out = 0; out < N; out += 4) {
		double mean, variance;
		rest = s;
		memmove(rest.x + out * D, rest.x + (out + 1) * D,
			(size_t)(N - 1 - out) * D * sizeof(double));
		memmove(rest.y + out, rest.y + out + 1, (size_t)(N - 1 - out) * sizeof(double));
		memmove(rest.w + out, rest.w + out + 1, (size_t)(N - 1 - out) * sizeof(double));
		rest.data = (struct gp_data){
			.n = N - 1, .x = rest.x, .y = rest.y, .w = rest.w, .noise = 0.1};
		struct gp *h = fitted(&s, N, false);
		memcpy(h->theta, g->theta, sizeof(h->theta));
		assert_int_equal(gp_set(h, &rest.data, false, &e), 0);
		gp_predict(h, s.x + out * D, &mean, &variance, NULL);
		double sd = sqrt(variance + gp_noise_variance(h) * s.w[out]);
		assert_near(residual[out], (s.y[out] - mean) / sd, 1e-4);
		gp_destroy(h);
	}
	gp_destroy(g);
}

static void a_fit_is_better_than_its_prior(void **state)
{
	(void)state;
	struct sample s;
	double theta[GP_THETA_MAX], spread;
	fill(&s);
	struct gp *g = fitted(&s, N, true);
	double best = gp_log_posterior(g);
	for (size_t t = 0; t < gp_theta_count(g); t++) {
		gp_prior(g, t, &theta[t], &spread);
	}
	double prior = -gp_minus_log_posterior((unsigned)gp_theta_count(g), theta, NULL, g);
	assert_true(best > prior + 1);
	gp_destroy(g);
}

static void odd_values_are_refused(void **state)
{
	(void)state;
	struct sample s;
	struct err e;
	fill(&s);
	struct gp *g = fitted(&s, N, true);
	double mean, again, variance;
	gp_predict(g, s.x, &mean, &variance, NULL);
	const double odd[] = {NAN, INFINITY, -INFINITY};
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		double y = s.y[3], x = s.x[3], w = s.w[3];
		s.y[3] = odd[i];
		assert_int_equal(gp_set(g, &s.data, true, &e), -EDOM);
		s.y[3] = y;
		s.x[3] = odd[i];
		assert_int_equal(gp_set(g, &s.data, true, &e), -EDOM);
		s.x[3] = x;
		s.w[3] = odd[i];
		assert_int_equal(gp_set(g, &s.data, true, &e), -EDOM);
		s.w[3] = w;
		struct gp_data none = s.data;
		none.noise = odd[i] > 0 ? 0 : odd[i];
		assert_int_equal(gp_set(g, &none, true, &e), -EDOM);
	}
	struct gp_data empty = s.data;
	empty.n = 0;
	assert_int_equal(gp_set(g, &empty, true, &e), -EDOM);
	gp_predict(g, s.x, &again, &variance, NULL); /* what was known is still known */
	assert_near(again, mean, 0);
	gp_destroy(g);
}

/* Levels of groups must not be taken for differences between points. */
static void levels_of_groups_drop_out(void **state)
{
	(void)state;
	struct sample s;
	double low, high, variance;
	fill(&s);
	for (int i = 0; i < N; i++) {
		s.origin[i] = (struct gp_origin){.group = i < N / 2};
		s.x[i * D] = i < N / 2 ? 0.2 : 0.8; /* no overlap but in time of night */
		memcpy(s.x + i * D + 1, s.x + 1, (D - 1) * sizeof(double));
		s.y[i] = i < N / 2 ? 1 : -1;
	}
	struct gp *plain = fitted(&s, N, true);
	s.data.origin = s.origin;
	s.data.group_variance = 25;
	struct gp *grouped = fitted(&s, N, true);
	gp_difference(plain, s.x, s.x + (N - 1) * D, &high, &variance);
	gp_difference(grouped, s.x, s.x + (N - 1) * D, &low, &variance);
	assert_true(high > 1.6); /* without groups the difference is the points' */
	assert_true(low < 0.5);	 /* with groups most of it is the groups' */
	gp_destroy(plain);
	gp_destroy(grouped);
}

static void points_may_be_equal_or_one(void **state)
{
	(void)state;
	struct sample s;
	double mean, variance;
	fill(&s);
	for (int i = 1; i < N; i++) {
		memcpy(s.x + i * D, s.x, D * sizeof(double));
	}
	struct gp *g = fitted(&s, N, true);
	gp_predict(g, s.x, &mean, &variance, NULL);
	assert_true(isfinite(mean) && variance < 0.2);
	gp_destroy(g);
	g = fitted(&s, 1, true);
	gp_predict(g, s.x, &mean, &variance, NULL);
	assert_true(isfinite(mean) && variance > 0);
	gp_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradient_is_that_of_finite_differences),
		cmocka_unit_test(gradient_with_groups_and_drift_too),
		cmocka_unit_test(prediction_is_that_of_a_direct_solve),
		cmocka_unit_test(leave_one_out_is_leaving_one_out),
		cmocka_unit_test(a_fit_is_better_than_its_prior),
		cmocka_unit_test(odd_values_are_refused),
		cmocka_unit_test(levels_of_groups_drop_out),
		cmocka_unit_test(points_may_be_equal_or_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
