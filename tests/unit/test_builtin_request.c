/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the built-in engine asks of the endpoints: which values, which ports, in how few messages.
 */
#include "builtin_fixture.h"

/* Samples of one path have all ports in common, and there are several paths. */
static void test_same_ports(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	double ports[6];
	fixture_begin(&f, "tcp_stream", false, 2);
	f.spec.test.no_warmup = true;
	for (int i = 0; i < 6; i++) {
		struct engine_run run = {.number = i + 1, .duration = 0.05, .path = 1 + i / 2};
		json_array_clear(f.a.seen);
		if (run_one(&f, &run, &s, &e) != 1) {
			fail_msg("%s", e.text);
		}
		ports[i] = json_get_number(json_array_get(f.a.seen, 0), "port");
		json_t *local = json_object_get(json_array_get(f.a.seen, 0), "local_ports");
		assert_int_equal(json_array_size(local), i % 2 ? 2 : 0);
		sample_clear(&s);
	}
	near(ports[1], ports[0], 0);
	near(ports[3], ports[2], 0);
	assert_true(ports[0] != ports[2] || ports[2] != ports[4]);
	fixture_end(&f);
}

/* The messages that a sample takes beyond those within its window: with one agent three (listen;
 * connect, start, first reads; last reads, stop), with two as few as the order allows. */
static void test_few_lines(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct engine_run run = {.number = 1, .duration = 0.01};
	fixture_begin(&f, "tcp_stream", true, 1);
	f.spec.test.no_warmup = true;
	if (run_one(&f, &run, &s, &e) != 1) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(f.a.lines, 3);
	assert_int_equal(f.b.lines, 4);
	sample_clear(&s);
	engine_builtin.destroy(f.state);
	f.env.receiver = &f.a;
	assert_int_equal(engine_builtin.create(&f.env, &f.state, &e), 0);
	f.a.lines = 0;
	if (run_one(&f, &run, &s, &e) != 1) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(f.a.lines, 3);
	sample_clear(&s);
	fixture_end(&f);
}

/* How often a request has a key. */
static size_t asked(const struct agent *a, const char *key)
{
	size_t i, n = 0;
	json_t *request;
	json_array_foreach(a->seen, i, request)
	{
		n += json_object_get(request, key) != NULL;
	}
	return n;
}

/* A window ends when each host's own clock says so, not when a message arrives; and what the hosts
 * count besides is looked at within a long one, and at the ends alone of a short one. */
static void test_window(void **state)
{
	(void)state;
	struct fixture f;
	struct err e = {0};
	const double durations[] = {0.05, 0.8};
	fixture_begin(&f, "tcp_stream", false, 1);
	f.spec.test.no_warmup = true;
	for (int i = 0; i < 2; i++) {
		struct sample s;
		struct engine_run run = {.number = 1, .duration = durations[i]};
		json_array_clear(f.a.seen);
		json_array_clear(f.b.seen);
		if (run_one(&f, &run, &s, &e) != 1) {
			fail_msg("%s", e.text);
		}
		assert_int_equal(asked(&f.a, "at"), 1);
		assert_int_equal(asked(&f.b, "at"), 1);
		assert_true(s.m[METRIC_SECONDS] >= durations[i] - 1e-6);
		json_t *sender = json_object_get(s.detail, "sender");
		assert_true(json_get_number(sender, "seconds") >= durations[i] - 1e-6);
		json_t *series = json_object_get(sender, "counter_series");
		json_t *t = json_object_get(series, "t");
		size_t between = asked(&f.a, "counters");
		assert_int_equal(asked(&f.b, "counters"), between);
		/* the loads of a machine move them */
		assert_in_range(between, i ? 1 : 0, i ? 3 : 0);
		assert_int_equal(json_array_size(t), between ? between + 1 : 0);
		assert_true(json_is_object(series) == (between > 0));
		sample_clear(&s);
	}
	fixture_end(&f);
}

static const struct tunable any_tunable = {.name = "any"};

static void dimension_set(struct dimension *d, struct spec_tunable *t, const char *name, int host)
{
	memset(d, 0, sizeof(*d));
	memset(t, 0, sizeof(*t));
	t->host = host;
	d->tunable = t;
	d->target.setting.tunable = &any_tunable;
	snprintf(d->target.setting.name, sizeof(d->target.setting.name), "%s", name);
}

static json_t *first_request(const struct agent *a)
{
	return json_array_get(a->seen, 0);
}

static void test_run_scope_values(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	struct dimension d[4];
	struct spec_tunable t[4];
	struct space space = {.n = 4, .dims = d};
	auto_free struct configuration *c = calloc(1, sizeof(*c));
	struct engine_run run = {.number = 1, .duration = 0.05, .space = &space, .config = c};
	dimension_set(&d[0], &t[0], "socket.message_size", -1);
	dimension_set(&d[1], &t[1], "socket.receive_buffer", 1);
	dimension_set(&d[2], &t[2], "socket.send_buffer", 0);
	dimension_set(&d[3], &t[3], "net.ipv4.tcp_congestion_control", 0);
	c->n = 4;
	c->v[0] = value_int(65536);
	c->v[1] = value_int(100000);
	c->v[2] = value_int(0);
	c->v[3] = value_text("cubic");
	fixture_begin(&f, "tcp_stream", false, 1);
	if (run_one(&f, &run, &s, &e) != 1) {
		fail_msg("%s", e.text);
	}
	json_t *from = json_object_get(first_request(&f.a), "socket");
	json_t *to = json_object_get(first_request(&f.b), "socket");
	assert_int_equal(json_object_size(from), 2);
	near(json_get_number(from, "message_size"), 65536, 0);
	near(json_get_number(from, "send_buffer"), 0, 0);
	assert_int_equal(json_object_size(to), 2);
	near(json_get_number(to, "receive_buffer"), 100000, 0);
	/* a fresh token for each sample */
	const char *token = json_get_text(first_request(&f.a), "token", "");
	assert_int_equal(strlen(token), 32);
	assert_string_equal(token, json_get_text(first_request(&f.b), "token", ""));
	json_t *effective = json_object_get(json_object_get(s.detail, "receiver"), "effective");
	near(json_get_number(effective, "receive_buffer"), 200000, 0);
	sample_clear(&s);
	fixture_end(&f);
}

static void test_autotune(void **state)
{
	(void)state;
	struct dimension d[2];
	struct spec_tunable t[2];
	struct space space = {.n = 2, .dims = d};
	dimension_set(&d[0], &t[0], "socket.message_size", -1);
	dimension_set(&d[1], &t[1], "net.ipv4.tcp_congestion_control", 0);
	assert_false(builtin_autotune(&space));
	assert_false(builtin_autotune(NULL));
	dimension_set(&d[1], &t[1], "net.core.wmem_max", 0);
	assert_true(builtin_autotune(&space));
	dimension_set(&d[1], &t[1], "net.ipv4.tcp_rmem", 1);
	assert_true(builtin_autotune(&space));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_ports), cmocka_unit_test(test_few_lines),
		cmocka_unit_test(test_window),	   cmocka_unit_test(test_run_scope_values),
		cmocka_unit_test(test_autotune),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
