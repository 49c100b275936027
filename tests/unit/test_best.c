/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.json's object: every key of the interface, null for what is not known, and the
 * recommendation; and the profile that is made of assignments.
 */
#include "best.h"
#include "cleanup.h"
#include "json_util.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct sample baseline, best;
static json_t *baseline_values, *best_values;

static int set_up(void **state)
{
	(void)state;
	sample_init(&baseline);
	sample_init(&best);
	baseline.ok = best.ok = true;
	baseline.m[METRIC_THROUGHPUT] = 1e9;
	baseline.m[METRIC_SERVICE_DEMAND] = 0.1 + 0.2;
	best.m[METRIC_THROUGHPUT] = 2e9;
	baseline_values = json_pack("{s:i}", "net.ipv4.tcp_rmem.max@receiver", 1);
	best_values = json_pack("{s:i}", "net.ipv4.tcp_rmem.max@receiver", 2);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	json_decref(baseline_values);
	json_decref(best_values);
	return 0;
}

static struct best_inputs inputs(void)
{
	return (struct best_inputs){
		.run = "20260131-120000-ab12",
		.name = "x",
		.status = "complete",
		.samples = 40,
		.failed = 2,
		.seconds = 60.5,
		.baseline = {baseline_values, NULL, &baseline, 3e9},
		.best = {best_values, best_values, &best, 9e9},
		.has_gain = true,
		.score = {200, 150, 260, 0.95},
		.throughput = {100, 90, 110, 0.95},
		.service_demand = {NAN, -INFINITY, INFINITY, 0.95},
		.significant = true,
		.pairs = 8,
		.proof_baseline = {1.1e9, 0.4, 2.75e9},
		.proof_best = {1.9e9, NAN, 8e9},
		.restored = true,
		.store = "/tmp/results.db",
	};
}

/* Through text, as a reader gets it. */
static json_t *result(const struct best_inputs *in)
{
	auto_json json_t *o = best_result_json(in);
	auto_free char *text = json_dumps(o, 0);
	assert_non_null(text);
	json_t *back = json_loads(text, 0, NULL);
	assert_non_null(back);
	return back;
}

static void assert_keys(const json_t *o, const char *const *keys)
{
	for (; *keys; keys++) {
		if (!json_object_get(o, *keys)) {
			fail_msg("no key %s", *keys);
		}
	}
}

static void keys_of_the_interface(void **state)
{
	(void)state;
	static const char *const keys[] = {"tunesweep_result",
					   "run",
					   "name",
					   "status",
					   "samples",
					   "failed",
					   "seconds",
					   "baseline",
					   "best",
					   "gain",
					   "recommended",
					   "effects",
					   "model",
					   "restored",
					   "store",
					   NULL};
	static const char *const point_keys[] = {"values", "score", "throughput", "service_demand",
						 NULL};
	static const char *const gain_keys[] = {"percent",
						"interval",
						"level",
						"significant",
						"pairs",
						"throughput_percent",
						"service_demand_percent",
						"host_only",
						"application_only",
						NULL};
	struct best_inputs in = inputs();
	auto_json json_t *o = result(&in);
	const json_t *gain = json_object_get(o, "gain");
	assert_keys(o, keys);
	assert_keys(json_object_get(o, "baseline"), point_keys);
	assert_keys(json_object_get(o, "best"), point_keys);
	assert_keys(gain, gain_keys);
	assert_true(json_get_number(json_object_get(o, "baseline"), "service_demand") == 0.1 + 0.2);
	assert_true(json_is_null(json_object_get(json_object_get(o, "best"), "service_demand")));
	assert_null(json_object_get(json_object_get(o, "best"), "asked")); /* nothing differs */
	assert_true(json_get_number(gain, "percent") == 200);
	assert_true(json_real_value(json_array_get(json_object_get(gain, "interval"), 1)) == 260);
	assert_true(json_is_null(json_object_get(gain, "service_demand_percent")));
	assert_true(json_is_true(json_object_get(gain, "significant")));
	assert_string_equal(json_get_text(o, "recommended", ""), "best");
	assert_true(json_is_array(json_object_get(o, "effects")));
}

static void asked_where_it_differs(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	in.best.asked = baseline_values;
	auto_json json_t *o = result(&in);
	assert_true(
		json_equal(json_object_get(json_object_get(o, "best"), "asked"), baseline_values));
}

static void recommendation(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	assert_true(best_is_recommended(&in));
	in.significant = false;
	assert_false(best_is_recommended(&in));
	in = inputs();
	in.score.estimate = -20; /* significantly worse */
	assert_false(best_is_recommended(&in));
	in = inputs();
	in.has_gain = false;
	assert_false(best_is_recommended(&in));
	in = inputs();
	in.best.values = NULL;
	assert_false(best_is_recommended(&in));
}

static void failed_baseline(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	sample_fail(&baseline, "no route");
	auto_json json_t *o = result(&in);
	assert_true(json_is_null(json_object_get(o, "gain")));
	assert_string_equal(json_get_text(o, "recommended", ""), "best");
	assert_string_equal(json_get_text(json_object_get(o, "baseline"), "reason", ""),
			    "no route");
	in.baseline.sample = NULL;
	auto_json json_t *unknown = result(&in);
	assert_true(
		json_is_null(json_object_get(json_object_get(unknown, "baseline"), "throughput")));
}

static void nothing_known(void **state)
{
	(void)state;
	struct best_inputs in = {.seconds = NAN, .status = "failed", .name = "\xff"};
	auto_json json_t *o = result(&in);
	assert_true(json_is_null(json_object_get(o, "best")));
	assert_true(json_is_null(json_object_get(o, "baseline")));
	assert_true(json_is_null(json_object_get(o, "gain")));
	assert_true(json_is_null(json_object_get(o, "seconds")));
	assert_string_equal(json_get_text(o, "recommended", ""), "baseline");
}

static void scores_without_ratio(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	in.as_difference = true;
	in.score = (struct interval){0.25, 0.2, 0.3, 0.95};
	auto_json json_t *o = result(&in);
	const json_t *gain = json_object_get(o, "gain");
	assert_true(json_is_null(json_object_get(gain, "percent")));
	assert_true(json_get_number(gain, "difference") == 0.25);
	assert_string_equal(json_get_text(o, "recommended", ""), "best");
}

static void evidence(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	auto_json json_t *o = best_evidence(&in, "abc", 1);
	const json_t *gain = json_object_get(o, "gain");
	assert_string_equal(json_get_text(o, "spec_sha256", ""), "abc");
	assert_string_equal(json_get_text(gain, "level", ""), "95%");
	assert_true(json_get_number(o, "throughput") == 1.9e9); /* the proof's, not the search's */
	assert_null(json_object_get(o, "service_demand"));	/* not known: left out */
	assert_true(json_get_number(json_object_get(o, "baseline"), "throughput") == 1.1e9);
	assert_true(json_get_number(o, "boots") == 1);
}

/* Without a proof there are but the search's numbers. */
static void evidence_without_a_proof(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	in.has_gain = false;
	auto_json json_t *o = best_evidence(&in, "abc", 1);
	const json_t *was = json_object_get(o, "baseline");
	assert_true(json_get_number(was, "throughput") == 1e9);
	assert_true(json_get_number(was, "score") == 3e9);
}

static void medians_of_the_proof(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	auto_json json_t *o = result(&in);
	const json_t *medians = json_object_get(json_object_get(o, "gain"), "medians"),
		     *was = json_object_get(medians, "baseline"),
		     *then = json_object_get(medians, "best");
	assert_true(json_get_number(was, "throughput") == 1.1e9);
	assert_true(json_get_number(was, "service_demand") == 0.4);
	assert_true(json_get_number(then, "score") == 8e9);
	assert_null(json_object_get(then, "service_demand"));
	assert_true(json_get_number(json_object_get(o, "best"), "throughput") == 2e9);
}

/* The profile keeps the defaults: what a rejected best was measured at is no evidence for them. */
static void evidence_for_the_defaults(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	in.significant = false;
	auto_json json_t *o = best_evidence(&in, "abc", 1);
	assert_null(json_object_get(o, "gain"));
	assert_null(json_object_get(o, "throughput"));
	assert_null(json_object_get(o, "score"));
	assert_true(json_get_number(json_object_get(o, "baseline"), "score") == 2.75e9);
	assert_true(json_get_number(o, "samples") == 40);
}

static void parts_of_a_gain(void **state)
{
	(void)state;
	struct best_inputs in = inputs();
	struct best_part effects[2] = {
		{.key = "a.b", .pairs = 0},
		{.key = "c.d@e", .score = {2, 1, 3, 0.95}, .pairs = 9},
	};
	in.host_only = (struct best_part){
		.score = {5, 4, 6, 0.95}, .throughput = {NAN, NAN, NAN, 0.95}, .pairs = 8};
	in.effects = effects;
	in.n_effects = 2;
	auto_json json_t *o = result(&in);
	const json_t *gain = json_object_get(o, "gain"), *list = json_object_get(o, "effects");
	const json_t *host = json_object_get(gain, "host_only");
	assert_true(json_get_number(host, "percent") == 5);
	assert_true(json_is_null(json_object_get(host, "throughput_percent")));
	assert_true(json_is_null(json_object_get(gain, "application_only")));
	assert_int_equal(1, json_array_size(list));
	assert_string_equal("c.d@e", json_get_text(json_array_get(list, 0), "set", ""));
	assert_true(json_get_number(json_array_get(list, 0), "percent") == 2);
}

static void profile_of_settings(void **state)
{
	(void)state;
	static const struct tunable host_scope = {.name = "net.ipv4.tcp_rmem", .scope = SCOPE_HOST};
	static const struct tunable run_scope = {.name = "socket.message_size", .scope = SCOPE_RUN};
	struct err e = {0};
	struct profile p;
	struct best_setting s[3] = {
		{.host = "receiver", .was = value_int(1)}, {.host = NULL}, {.host = "receiver"}};
	s[0].assignment.setting.tunable = s[2].assignment.setting.tunable = &host_scope;
	s[1].assignment.setting.tunable = &run_scope;
	s[0].assignment.value = value_int(2);
	strcpy(s[2].assignment.field, "max");
	s[0].effect.estimate = s[1].effect.estimate = NAN;
	s[2].effect = (struct interval){8.1, 7, 9.2, 0.95};
	auto_json json_t *block = json_object();
	assert_int_equal(best_profile(&p, "x", s, 3, block, NULL, &e), 0);
	assert_string_equal(p.name, "x");
	assert_int_equal(p.n_settings, 2);
	assert_int_equal(p.n_application, 1);
	assert_string_equal(p.settings[0].host, "receiver");
	assert_int_equal(p.settings[0].was.i, 1);
	assert_int_equal(p.settings[0].assignment.value.i, 2);
	assert_true(isnan(p.settings[0].effect.percent));
	assert_string_equal(p.settings[1].assignment.field, "max");
	assert_true(p.settings[1].effect.percent == 8.1 && p.settings[1].effect.hi == 9.2);
	assert_string_equal(p.application[0].host, "");
	assert_ptr_equal(p.machine, block);
	assert_null(p.evidence);
	profile_clear(&p);
	assert_int_equal(best_profile(&p, "empty", NULL, 0, NULL, NULL, &e), 0);
	profile_clear(&p);
}

#define WITH_INPUTS(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_INPUTS(keys_of_the_interface),    WITH_INPUTS(parts_of_a_gain),
		WITH_INPUTS(asked_where_it_differs),   WITH_INPUTS(recommendation),
		WITH_INPUTS(failed_baseline),	       WITH_INPUTS(nothing_known),
		WITH_INPUTS(scores_without_ratio),     WITH_INPUTS(evidence),
		WITH_INPUTS(profile_of_settings),      WITH_INPUTS(evidence_for_the_defaults),
		WITH_INPUTS(evidence_without_a_proof), WITH_INPUTS(medians_of_the_proof),
	};
	return cmocka_run_group_tests_name("best", tests, NULL, NULL);
}
