/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Observations as levels by boot: what belongs together, the spread within and between boots, and
 * history of the same kernel only.
 */
#include "check_sides.h"
#include "observation_fixture.h"
#include <math.h>

static void levels_of_boots(void **state)
{
	(void)state;
	struct observations o = observe_file("ipoib-reboot-variance");
	struct err e = {0};
	struct check_side s;
	double freedom;
	assert_int_equal(check_side_make(&o, NULL, COMPARE_THROUGHPUT, &s, &e), 0);
	assert_true(s.boots_known);
	assert_int_equal(s.n_boots, 2);
	assert_int_equal(s.n_samples, 3);
	assert_true(fabs(s.boot[0] - (log(3869.82e6) + log(3862.41e6)) / 2) < 1e-12);
	assert_true(fabs(s.boot[1] - log(4389.20e6)) < 1e-12);
	assert_true(s.within > 0 && s.within < 0.002);
	assert_true(check_side_same_boot(&s, &s));
	/* 9 % between the two boots, from one degree of freedom. */
	double sd = check_history(&o, COMPARE_THROUGHPUT, &freedom);
	assert_true(fabs(sd - 0.0897) < 0.0005);
	assert_true(freedom == 1);
	check_side_clear(&s);
	observations_clear(&o);
}

static void other_kernels_are_no_history(void **state)
{
	(void)state;
	struct observations o = observe_text("kernel,boot,throughput\n6.1,1,100\n6.2,2,50\n"
					     "6.3,3,100\n6.3,4,101\n");
	double freedom, sd = check_history(&o, COMPARE_THROUGHPUT, &freedom);
	assert_true(freedom == 1);
	assert_true(sd < 0.01);
	struct err e = {0};
	struct check_side s;
	auto_json json_t *wanted = json_pack("{s:s}", "kernel", "6.3");
	assert_int_equal(check_side_make(&o, wanted, COMPARE_THROUGHPUT, &s, &e), 0);
	assert_int_equal(s.n_boots, 2);
	check_side_clear(&s);
	assert_int_equal(check_side_make(&o, wanted, COMPARE_SERVICE_DEMAND, &s, &e), 0);
	assert_int_equal(s.n_samples, 0); /* nobody knows it */
	assert_false(s.boots_known);
	check_side_clear(&s);
	observations_clear(&o);
}

/* For what is to be small, more is better again. */
static void service_demand_turns_round(void **state)
{
	(void)state;
	struct observations o = observe_text(
		"boot,throughput,service_demand\n1,100,0.5\n2,100,1.0\n");
	struct err e = {0};
	struct check_side s;
	assert_int_equal(check_side_make(&o, NULL, COMPARE_SERVICE_DEMAND, &s, &e), 0);
	assert_true(s.boot[0] > s.boot[1]);
	check_side_clear(&s);
	observations_clear(&o);
}

static void unknown_boots(void **state)
{
	(void)state;
	struct observations o = observe_text("throughput\n100\n101\n");
	struct err e = {0};
	struct check_side s;
	double freedom;
	assert_int_equal(check_side_make(&o, NULL, COMPARE_THROUGHPUT, &s, &e), 0);
	assert_false(s.boots_known);
	assert_false(check_side_same_boot(&s, &s));
	assert_true(isnan(check_history(&o, COMPARE_THROUGHPUT, &freedom)));
	check_side_clear(&s);
	observations_clear(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(levels_of_boots),
		IN_FOLDER(other_kernels_are_no_history),
		IN_FOLDER(service_demand_turns_round),
		IN_FOLDER(unknown_boots),
	};
	return cmocka_run_group_tests_name("check_sides", tests, NULL, NULL);
}
