/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine where something goes wrong: what it refuses, a receiver that is frozen, an
 * agent that is gone, a host that cannot be reached.
 */
#include "builtin_fixture.h"

static void test_refusals(void **state)
{
	(void)state;
	struct fixture f;
	struct err e = {0};
	void *none;
	fixture_begin(&f, "tcp_stream", false, 1);
	struct engine_env env = f.env;
	env.sender = NULL;
	assert_true(engine_builtin.create(&env, &none, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	snprintf(f.spec.test.type, sizeof(f.spec.test.type), "udp_maerts");
	assert_true(engine_builtin.create(&f.env, &none, &e) < 0);
	assert_non_null(strstr(e.text, "udp_maerts"));
	fixture_end(&f);
}

static void test_frozen_receiver(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 20};
	int ms;
	fixture_begin(&f, "tcp_stream", false, 1);
	assert_int_equal(engine_builtin.start(f.state, &run, &e), 0);
	kill(f.b.pid, SIGSTOP);
	int r = 0;
	for (int i = 0; i < 100 && r == 0; i++) {
		struct timespec ts = {0, 50000000};
		nanosleep(&ts, NULL);
		r = engine_builtin.poll(f.state, &s, &ms, &e);
	}
	assert_int_equal(r, -EIO);
	assert_non_null(strstr(e.text, "receiver"));
	assert_non_null(strstr(e.text, "127.0.0.1 port "));
	kill(f.b.pid, SIGCONT);
	fixture_end(&f);
}

static void test_agent_gone(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 5};
	int ms;
	fixture_begin(&f, "tcp_stream", false, 1);
	assert_int_equal(engine_builtin.start(f.state, &run, &e), 0);
	f.b.gone = true;
	struct timespec ts = {0, 60000000};
	nanosleep(&ts, NULL);
	assert_int_equal(engine_builtin.poll(f.state, &s, &ms, &e), -EHOSTDOWN);
	engine_builtin.stop(f.state);
	assert_int_equal(engine_builtin.start(f.state, &run, &e), -EHOSTDOWN);
	engine_builtin.stop(f.state);
	/* no sample is under way */
	assert_true(engine_builtin.poll(f.state, &s, &ms, &e) < 0);
	fixture_end(&f);
}

static void test_no_way_through(void **state)
{
	(void)state;
	struct fixture f;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 1};
	fixture_begin(&f, "tcp_stream", false, 1);
	engine_builtin.destroy(f.state);
	f.env.receiver_address = "198.51.100.9";
	assert_int_equal(engine_builtin.create(&f.env, &f.state, &e), 0);
	int r = engine_builtin.start(f.state, &run, &e);
	assert_true(r < 0 && r != -EHOSTDOWN && r != -ETIMEDOUT && r != -EPIPE);
	assert_non_null(strstr(e.text, "198.51.100.9"));
	engine_builtin.stop(f.state);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_frozen_receiver),
		cmocka_unit_test(test_agent_gone),
		cmocka_unit_test(test_no_way_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
