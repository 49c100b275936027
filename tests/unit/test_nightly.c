/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nights on a clock and a machine of the test's own: the simulated engine measures, its level is
 * set by the test. A regression is put in on the third night; and all that may end a night.
 */
#include "nightly_world.h"
#include <errno.h>

static void a_regression_on_the_third_night(void **state)
{
	struct world *x = *state;
	for (int night = 0; night < 3; night++) {
		x->clock = night_at(night, 2);
		x->level = night == 2 ? 0.86 : 1;
		auto_json json_t *s = sleep_over(x, CONFIG, 0);
		const json_t *c = comparison(s, "throughput");
		assert_string_equal(status_of(s), "complete");
		assert_int_equal(alarms(s), night == 2);
		if (night == 0) {
			assert_string_equal(json_get_text(c, "verdict", ""), "first night");
		}
		if (night < 2) {
			assert_int_equal(x->measurements, 1);
			continue;
		}
		/* found, named, and confirmed by a second measurement */
		assert_true(json_is_true(json_object_get(c, "alarm")));
		assert_string_equal(json_get_text(c, "spec", ""), "night");
		assert_string_equal(json_get_text(c, "host", ""), "rack7");
		assert_string_equal(json_get_text(c, "night", ""), "2031-03-11");
		assert_string_equal(json_get_text(c, "change", ""), "worse");
		assert_true(fabs(json_get_number(c, "percent") + 14) < 2);
		assert_int_equal(x->measurements, 2);
		assert_false(
			json_is_true(json_object_get(comparison(s, "service_demand"), "alarm")));
	}
	assert_int_equal(x->sweeps, 1);
	assert_false(isinf(x->seconds));
	assert_true(x->seconds > 3 * 3600 && x->seconds <= 3.5 * 3600);
	/* A night that was an alarm is no reference: the next one is, too, until it is accepted. */
	x->clock = night_at(3, 2);
	auto_json json_t *fourth = sleep_over(x, CONFIG, 0);
	assert_int_equal(alarms(fourth), 1);
	struct nightly_config c;
	struct err e = {0};
	int records;
	assert_int_equal(0, nightly_config_load(config_path, "unused", &c, &e));
	assert_int_equal(0, nightly_accept(&c, "2031-03-12", &records, &e));
	assert_int_equal(records, 1);
	x->clock = night_at(4, 2);
	auto_json json_t *fifth = sleep_over(x, CONFIG, 0);
	assert_int_equal(alarms(fifth), 0);
}

static void what_is_not_seen_again_is_no_alarm(void **state)
{
	struct world *x = *state;
	for (int night = 0; night < 2; night++) {
		x->clock = night_at(night, 2);
		json_decref(sleep_over(x, CONFIG, 0));
	}
	x->clock = night_at(2, 2);
	x->level = 0.86;
	x->level_of_next = 1;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->measurements, 2);
	assert_int_equal(alarms(s), 0);
	assert_string_equal(json_get_text(comparison(s, "throughput"), "again", ""), "good");
}

/* From the fourth on it is nights that are compared, with the spread that they had. */
static void many_nights(void **state)
{
	struct world *x = *state;
	int false_alarms = 0;
	for (int night = 0; night < 9; night++) {
		x->clock = night_at(night, 2);
		x->level = night == 8 ? 0.86 : 1;
		auto_json json_t *s = sleep_over(x, CONFIG, 0);
		const json_t *c = comparison(s, "throughput");
		assert_string_equal(json_get_text(c, "by", ""), night > 3 ? "nights" : "samples");
		assert_int_equal(json_integer_value(json_object_get(c, "nights")), night);
		false_alarms += night < 8 ? (int)alarms(s) : 0;
		if (night == 8) {
			assert_int_equal(alarms(s), 1);
		}
	}
	assert_int_equal(false_alarms, 0);
}

static void a_gain_is_said_too(void **state)
{
	struct world *x = *state;
	for (int night = 0; night < 3; night++) {
		x->clock = night_at(night, 2);
		x->level = night == 2 ? 1.2 : 1;
		auto_json json_t *s = sleep_over(x, CONFIG, 0);
		assert_int_equal(alarms(s), 0);
		assert_string_equal(json_get_text(comparison(s, "throughput"), "change", ""),
				    night == 0	 ? "unknown"
				    : night == 1 ? "same"
						 : "better");
	}
}

static void outside_the_window_nothing_is_measured(void **state)
{
	struct world *x = *state;
	x->clock = night_at(0, 12);
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_string_equal(status_of(s), "outside the window");
	assert_int_equal(x->measurements + x->sweeps, 0);
}

static void a_machine_in_use_is_left_alone(void **state)
{
	struct world *x = *state;
	x->used = true;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_string_equal(status_of(s), "in use");
	assert_non_null(strstr(json_get_text(s, "reason", ""), "3 logged in"));
	assert_int_equal(x->measurements + x->sweeps, 0);
}

static void a_far_host_in_use_is_left_alone(void **state)
{
	struct world *x = *state;
	x->far = json_pack("{s:{s:f, s:f, s:f, s:f, s:b}}", "rx", "load", 0.1, "runnable", 0.0,
			   "logins", 1.0, "traffic", 0.0, "inhibited", 0);
	auto_json json_t *s = sleep_over(x, CONFIG "in_use: {logins: 0}\n", 0);
	const json_t *entry = json_array_get(json_object_get(s, "sweeps"), 0);
	assert_string_equal(json_get_text(entry, "status", ""), "in use");
	assert_string_equal(json_get_text(entry, "reason", ""), "host rx is in use: 1 logged in");
	assert_string_equal(status_of(s), "complete"); /* other rules want other hosts */
	assert_int_equal(x->measurements + x->sweeps, 0);
	json_object_set_new(json_object_get(x->far, "rx"), "logins", json_integer(0));
	json_object_set_new(json_object_get(x->far, "rx"), "inhibited", json_true());
	auto_json json_t *forbidden = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->measurements + x->sweeps, 0);
	json_object_set_new(json_object_get(x->far, "rx"), "inhibited", json_false());
	auto_json json_t *free = sleep_over(x, CONFIG "in_use: {logins: 0}\n", 0);
	assert_int_equal(x->measurements, 1);
	assert_int_equal(x->sweeps, 1);
}

static void a_sick_machine_is_measured_but_not_swept(void **state)
{
	struct world *x = *state;
	x->doctor_status = 1;
	auto_json json_t *s = sleep_over(x, CONFIG "doctor: required\n", 0);
	assert_string_equal(status_of(s), "not fit");
	assert_int_equal(x->measurements, 1);
	assert_int_equal(x->sweeps, 0);
	auto_json json_t *again = sleep_over(x, CONFIG, 0); /* doctor only advises */
	assert_string_equal(status_of(again), "complete");
	assert_int_equal(x->sweeps, 1);
}

static void a_night_cut_short_goes_on_in_the_next(void **state)
{
	struct world *x = *state;
	x->sweep_status = 130;
	auto_json json_t *first = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 1);
	assert_int_equal(x->resumed, 0);
	x->clock = night_at(1, 2);
	x->sweep_status = 0;
	auto_json json_t *second = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 2);
	assert_int_equal(x->resumed, 1);
	x->clock = night_at(2, 2); /* done, and not due again for a month */
	auto_json json_t *third = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 2);
	x->clock = night_at(31, 2);
	auto_json json_t *later = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 3);
	assert_int_equal(x->resumed, 1);
}

static void an_interrupt_is_one(void **state)
{
	struct world *x = *state;
	x->ends_at = 1;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_string_equal(status_of(s), "interrupted");
	assert_int_equal(x->sweeps, 0);
}

/* The clock of these nights is years ahead: what they have kept just now is old to them. */
static void old_runs_go_at_the_end_of_a_night(void **state)
{
	struct world *x = *state;
	auto_json json_t *kept = sleep_over(x, CONFIG "keep: {days: 36500}\n", 0);
	assert_int_equal(json_integer_value(json_object_get(kept, "pruned")), 0);
	auto_json json_t *large = sleep_over(x, CONFIG "keep: {size: 1GiB}\n", 0);
	assert_int_equal(json_integer_value(json_object_get(large, "pruned")), 0);
	auto_json json_t *gone = sleep_over(x, CONFIG "keep: {days: 30}\n", 0);
	assert_true(json_integer_value(json_object_get(gone, "pruned")) >= 3);
	auto_json json_t *asked = sleep_over(x, CONFIG, 0); /* only on demand */
	assert_null(json_object_get(asked, "pruned"));
}

/* Also in the middle of the last sweep, which then has ended in good order. */
static void an_interrupted_sweep_is_an_interrupted_night(void **state)
{
	struct world *x = *state;
	x->sweep_status = 130;
	x->stops_in_sweep = true;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 1);
	assert_string_equal(status_of(s), "interrupted");
}

static void a_spec_that_is_not_there_is_told_and_the_others_run(void **state)
{
	struct world *x = *state;
	auto_json json_t *s = sleep_over(x,
					 "tunesweep_nightly: 1\nstate: state\nsweeps:\n"
					 "  - {spec: none.yaml}\n  - {spec: night.yaml}\n",
					 -EINVAL);
	assert_int_equal(x->sweeps, 1);
	assert_string_equal(status_of(s), "failed");
	const json_t *entry = json_array_get(json_object_get(s, "sweeps"), 0);
	assert_non_null(strstr(json_get_text(entry, "reason", ""), "none.yaml"));
}

static void rules_choose_by_fingerprint(void **state)
{
	struct world *x = *state;
	auto_json json_t *s = sleep_over(x,
					 "tunesweep_nightly: 1\nstate: state\nsweeps:\n"
					 "  - {spec: none.yaml, when: {cpu: \"*EPYC*\"}}\n"
					 "  - {spec: none.yaml, when: {driver: ice}}\n"
					 "  - {spec: night.yaml, when: {cpu: \"Xe*\", hostname: "
					 "\"rack*\"}}\n",
					 0);
	assert_int_equal(json_array_size(json_object_get(s, "sweeps")), 1);
	assert_int_equal(x->sweeps, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NIGHT(a_regression_on_the_third_night),
		NIGHT(what_is_not_seen_again_is_no_alarm),
		NIGHT(many_nights),
		NIGHT(a_gain_is_said_too),
		NIGHT(outside_the_window_nothing_is_measured),
		NIGHT(a_machine_in_use_is_left_alone),
		NIGHT(a_far_host_in_use_is_left_alone),
		NIGHT(old_runs_go_at_the_end_of_a_night),
		NIGHT(a_sick_machine_is_measured_but_not_swept),
		NIGHT(a_night_cut_short_goes_on_in_the_next),
		NIGHT(an_interrupt_is_one),
		NIGHT(an_interrupted_sweep_is_an_interrupted_night),
		NIGHT(a_spec_that_is_not_there_is_told_and_the_others_run),
		NIGHT(rules_choose_by_fingerprint),
	};
	return cmocka_run_group_tests_name("nightly", tests, NULL, NULL);
}
