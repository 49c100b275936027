/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine over agents that are not there: a sample of each type, on one host and on
 * two, and that nothing of it is lost at its end.
 */
#include "builtin_fixture.h"

static void run_well(struct fixture *f, struct sample *out)
{
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 0.3};
	if (run_one(f, &run, out, &e) != 1) {
		fail_msg("%s", e.text);
	}
	assert_true(out->ok);
	assert_true(out->m[METRIC_THROUGHPUT] > 1e6);
	/* never shorter; longer only as a busy machine makes it */
	assert_true(out->m[METRIC_SECONDS] >= 0.3 - 1e-6 && out->m[METRIC_SECONDS] < 10);
	assert_true(out->m[METRIC_SERVICE_DEMAND] > 0.01 && out->m[METRIC_SERVICE_DEMAND] < 1000);
	assert_true(out->m[METRIC_CPU_SENDER] > 0 && out->m[METRIC_CPU_SENDER] <= 1.05);
	assert_true(out->warmup >= 0.3 && out->warmup < 3.5);
	assert_true(out->m[METRIC_RTT] > 0);
	assert_true(out->m[METRIC_CWND] > 0);
	assert_true(out->cpu_error >= 0 && out->cpu_error < 1);
	assert_true(out->cpu_source[0] != '\0');
	assert_true(json_array_size(json_object_get(out->detail, "intervals")) > 5);
}

static void test_two_hosts(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	fixture_begin(&f, "tcp_stream", false, 1);
	for (int i = 0; i < 2; i++) {
		run_well(&f, &s);
		near(s.m[METRIC_SERVICE_DEMAND],
		     s.m[METRIC_SERVICE_DEMAND_SENDER] + s.m[METRIC_SERVICE_DEMAND_RECEIVER], 1e-9);
		sample_clear(&s);
	}
	fixture_end(&f);
}

/* On one host its CPUs are counted once: half of what two hosts with the same CPUs would give. */
static void test_one_host(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	fixture_begin(&f, "tcp_maerts", true, 2);
	run_well(&f, &s);
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND_SENDER]));
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND_RECEIVER]));
	json_t *r = json_object_get(s.detail, "receiver");
	double expected = json_get_number(r, "cpu_busy") / json_get_number(r, "seconds") * 1e6 /
			  (s.m[METRIC_THROUGHPUT] / 8 / 1024);
	near(s.m[METRIC_SERVICE_DEMAND] / expected, 1, 0.15);
	sample_clear(&s);
	fixture_end(&f);
}

static void run_type(const char *type, struct sample *s)
{
	struct fixture f;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 0.3};
	fixture_begin(&f, type, true, 2);
	f.spec.test.background = 0.02;
	/* a sample may fail where others keep the CPUs for a second; three in a row do not */
	int rc = run_one(&f, &run, s, &e);
	for (int again = 0; again < 2 && (rc != 1 || !s->ok); again++) {
		sample_clear(s);
		rc = run_one(&f, &run, s, &e);
	}
	fixture_end(&f);
	if (rc != 1) {
		fail_msg("%s: %s", type, e.text);
	}
	assert_true(s->ok);
	assert_true(s->m[METRIC_THROUGHPUT] > 0);
	assert_true(s->m[METRIC_SERVICE_DEMAND] > 0);
	json_t *sender = json_object_get(s->detail, "sender");
	double background = json_get_number(sender, "cpu_background");
	assert_true(background >= 0 && background <= 1.05);
	assert_true(json_array_size(json_object_get(sender, "per_cpu")) > 0);
}

static void test_types(void **state)
{
	(void)state;
	struct sample s;
	run_type("tcp_bidir", &s);
	assert_true(s.m[METRIC_RETRANSMITS] >= 0);
	sample_clear(&s);
	run_type("udp_stream", &s);
	assert_true(s.m[METRIC_SENT] > 0 && s.m[METRIC_LOST] >= 0);
	assert_true(s.m[METRIC_OFFERED] > 0);
	sample_clear(&s);
	run_type("tcp_rr", &s);
	assert_true(s.m[METRIC_LATENCY_P50] > 1);
	assert_true(s.m[METRIC_LATENCY_P99] >= s.m[METRIC_LATENCY_P50]);
	assert_true(sample_metric(&s, "transactions_per_second") > 10);
	sample_clear(&s);
}

static void test_one_agent(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	fixture_begin(&f, "tcp_stream", true, 1);
	engine_builtin.destroy(f.state);
	f.env.receiver = &f.a;
	assert_int_equal(engine_builtin.create(&f.env, &f.state, &e), 0);
	run_well(&f, &s);
	sample_clear(&s);
	fixture_end(&f);
}

/* All that was sent has come in at the end, and more than in the window alone. False where a busy
 * machine has not come to the end in the time that a sample has for it. */
static bool is_drained(const struct sample *s)
{
	json_t *from = json_object_get(s->detail, "sender");
	json_t *to = json_object_get(s->detail, "receiver");
	if (!json_is_true(json_object_get(from, "drained")) ||
	    !json_is_true(json_object_get(to, "drained"))) {
		return false;
	}
	near(json_get_number(to, "received_in_all"), json_get_number(from, "sent_in_all"), 0);
	assert_true(json_get_number(to, "received_in_all") >= json_get_number(to, "bytes"));
	return true;
}

static void run_until_drained(struct fixture *f)
{
	struct sample s;
	struct err e = {0};
	/* soon, and with the patience of a second's sample */
	struct engine_run run = {.number = 1, .duration = 1, .stop_below = 1e15};
	bool drained = false;
	for (int i = 0; i < 10 && !drained; i++) {
		if (run_one(f, &run, &s, &e) != 1) {
			fail_msg("%s", e.text);
		}
		drained = is_drained(&s);
		sample_clear(&s);
	}
	assert_true(drained);
}

static void test_drained(void **state)
{
	(void)state;
	static const char *const types[] = {"tcp_stream", "tcp_maerts", "tcp_bidir"};
	struct err e = {0};
	for (int i = 0; i < 6; i++) {
		struct fixture f;
		fixture_begin(&f, types[i / 2], true, 2);
		f.spec.test.no_warmup = true;
		if (i % 2) {
			engine_builtin.destroy(f.state);
			f.env.receiver = &f.a;
			assert_int_equal(engine_builtin.create(&f.env, &f.state, &e), 0);
		}
		run_until_drained(&f);
		fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_hosts), cmocka_unit_test(test_one_host),
		cmocka_unit_test(test_types),	  cmocka_unit_test(test_one_agent),
		cmocka_unit_test(test_drained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
