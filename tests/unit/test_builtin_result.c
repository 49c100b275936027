/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine's arithmetic on made-up reads, where the right numbers are known: window to
 * sample, what cannot be, and when a series of rates is steady.
 */
#include "builtin_made_up.h"
#include "json_util.h"

static void test_result(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_THROUGHPUT], 12e9, 1);
	near(s.m[METRIC_SECONDS], 2, 1e-12);
	near(s.m[METRIC_CPU_SENDER], 1.0 / 8, 1e-12);
	near(s.m[METRIC_CPU_RECEIVER], 3.0 / 8, 1e-12);
	/* us of CPU over KB of its own bytes */
	near(s.m[METRIC_SERVICE_DEMAND_SENDER], 1e6 / (4e9 / 1024), 1e-9);
	near(s.m[METRIC_SERVICE_DEMAND_RECEIVER], 3e6 / (3e9 / 1024), 1e-9);
	near(s.m[METRIC_SERVICE_DEMAND], 0.256 + 1.024, 1e-9);
	near(s.m[METRIC_RETRANSMITS], 40, 1e-9);
	near(s.m[METRIC_RETRANSMITS_PER_GB], 40 / 3.0, 1e-9);
	near(s.cpu_error, 0.004 / 4, 1e-12);
	assert_string_equal(s.limited_by, "");
	sample_clear(&s);
	/* what has arrived, where the sender knows it, and not what its calls have taken */
	m.s.first.acked = 1e9;
	m.s.last.acked = 4e9;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_SERVICE_DEMAND_SENDER], 1e6 / (3e9 / 1024), 1e-9);
	sample_clear(&s);
	made_up_window(&m, true);
	m.s.last.busy = 54;
	m.r.last.busy = 14;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_SERVICE_DEMAND], 4e6 / (3e9 / 1024), 1e-9);
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND_SENDER]));
	sample_clear(&s);
}

static void test_result_unknown_cpu(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.s.last.cpus = 0;
	m.s.last.busy = NAN;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND]));
	assert_true(isnan(s.m[METRIC_CPU_SENDER]));
	near(s.m[METRIC_SERVICE_DEMAND_RECEIVER], 1.024, 1e-9);
	near(s.m[METRIC_THROUGHPUT], 12e9, 1);
	/* the detail is valid JSON: what is unknown is null */
	auto_free char *text = json_dumps(s.detail, 0);
	assert_non_null(text);
	assert_null(strstr(text, "nan"));
	sample_clear(&s);
}

static double cell(const json_t *o, const char *name, size_t i)
{
	return json_number_value(json_array_get(json_object_get(o, name), i));
}

static void cannot_be(struct made_up *m, const char *word)
{
	struct sample s;
	struct err e = {0};
	assert_int_equal(builtin_result(&m->w, &s, &e), -EIO);
	assert_false(s.ok);
	if (!strstr(e.text, word)) {
		fail_msg("\"%s\" is not in: %s", word, e.text);
	}
	sample_clear(&s);
}

static void test_result_cannot_be(void **state)
{
	(void)state;
	struct made_up m;
	made_up_window(&m, false);
	m.r.last.busy = 10 + 8.1; /* of 4 CPUs in 2 s */
	cannot_be(&m, "receiver");
	made_up_window(&m, false);
	m.s.last.busy = 49;
	cannot_be(&m, "sender");
	made_up_window(&m, false);
	m.r.last.self = 2 + 3.1; /* above the whole host's 3 s */
	cannot_be(&m, "less than");
	made_up_window(&m, true);
	m.r.last.busy = m.s.last.busy = 13; /* 3 s in all, 3.4 s of both processes */
	m.s.first.busy = 10;
	cannot_be(&m, "less than");
	made_up_window(&m, false);
	m.r.last.t = m.r.first.t;
	cannot_be(&m, "cannot be");
	made_up_window(&m, false);
	m.r.last.bytes = -1;
	cannot_be(&m, "cannot be");
	/* idle times of the far side that jump: 70 million per cent */
	made_up_window(&m, false);
	m.r.last.busy = 10 + 4 * 2 * 7e5;
	cannot_be(&m, "receiver");
}

/* Counters of 32 bits that began again within the window. */
static void test_wrapped(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.s.first.retransmits = 4294967290.0;
	m.s.last.retransmits = 3;
	m.r.first.json = json_pack("{s:{s:[I, i]}}", "host", "softnet_packets",
				   (json_int_t)4294967295, 10);
	m.r.last.json = json_pack("{s:{s:[i, i]}}", "host", "softnet_packets", 99, 30);
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	assert_true(isnan(s.m[METRIC_RETRANSMITS]) && isnan(s.m[METRIC_RETRANSMITS_PER_GB]));
	json_t *counters = json_object_get(json_object_get(s.detail, "receiver"), "counters");
	near(cell(counters, "softnet_packets", 0), 100, 0);
	near(cell(counters, "softnet_packets", 1), 20, 0);
	sample_clear(&s);
	made_up_clear(&m);
}

/* Of both hosts' packages and memory, or of none; of one machine once. */
static void test_energy(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.s.first.energy = 100;
	m.s.last.energy = 130;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	assert_true(isnan(s.m[METRIC_JOULES_PER_GB]));
	sample_clear(&s);
	m.r.first.energy = 7;
	m.r.last.energy = 67;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_JOULES_PER_GB], (30 + 60) / 3.0, 1e-9);
	sample_clear(&s);
	m.w.one_host = m.w.one_process = true;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_JOULES_PER_GB], 60 / 3.0, 1e-9);
	sample_clear(&s);
}

/* Only a suspension within the window: MONOTONIC stands still in it and BOOTTIME does not. */
static void test_suspended(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.s.first.json = json_pack("{s:f}", "suspended", 100.0);
	m.s.last.json = json_pack("{s:f}", "suspended", 100.0005);
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	sample_clear(&s);
	json_object_set_new(m.s.last.json, "suspended", json_real(107.5));
	assert_int_equal(builtin_result(&m.w, &s, &e), -EIO);
	m.s.role = "sender";
	assert_int_equal(builtin_result(&m.w, &s, &e), -EIO);
	assert_non_null(strstr(e.text, "sender: its machine was suspended for 7.5 s"));
	made_up_clear(&m);
}

/* 3 of 8 that were sent were refused by the sender's own host, 2 of 10 lost on the way, by the
 * receiver's own count, and 1 of these at its socket. */
static void test_udp(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.w.type = BUILTIN_UDP;
	m.s.first.json = json_loads("{\"sent\": 0, \"udp\": {\"offered\": 0, \"sent\": 0}}", 0,
				    NULL);
	m.s.last.json = json_loads("{\"sent\": 800, \"udp\": {\"offered\": 11, \"sent\": 8}}", 0,
				   NULL);
	m.r.first.json = json_loads("{\"udp\": {\"expected\": 5, \"received\": 5, \"drops\": 0}}",
				    0, NULL);
	m.r.last.json = json_loads("{\"udp\": {\"expected\": 15, \"received\": 13, \"drops\": 1}}",
				   0, NULL);
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_SENT], 8, 0);
	near(s.m[METRIC_LOST], 2, 0);
	near(s.m[METRIC_OFFERED], 11 * 100 * 8 / 2.0, 1e-9);
	assert_true(isnan(s.m[METRIC_RETRANSMITS]));
	json_t *udp = json_object_get(s.detail, "udp");
	near(json_number_value(json_object_get(udp, "refused_at_sender")), 3, 0);
	near(json_number_value(json_object_get(udp, "lost_at_receiver_socket")), 1, 0);
	near(json_number_value(json_object_get(udp, "lost_elsewhere")), 1, 0);
	sample_clear(&s);
	/* one of the two came after the window; of what came in it one was sent before */
	json_object_set_new(json_object_get(m.r.first.json, "udp"), "late", json_integer(3));
	json_object_set_new(json_object_get(m.r.last.json, "udp"), "late", json_integer(4));
	m.r.final = json_loads("{\"udp\": {\"received\": 17, \"late\": 6, \"told\": 20}}", 0, NULL);
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_LOST], 2 + 1 - 2, 0);
	udp = json_object_get(s.detail, "udp");
	near(json_number_value(json_object_get(udp, "came_late")), 2, 0);
	near(json_number_value(json_object_get(udp, "lost_in_all")), 3, 0);
	sample_clear(&s);
	json_decref(m.r.final);
	m.r.final = NULL;
	/* none came: all that were sent */
	json_decref(m.r.last.json);
	m.r.last.json = json_deep_copy(m.r.first.json);
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_LOST], 8, 0);
	sample_clear(&s);
	made_up_clear(&m);
}

static void test_both_ways(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.w.type = BUILTIN_BIDIR;
	m.s.last.received = 1e9;
	m.s.last.sent = 3e9;
	m.r.last.received = 3e9;
	m.r.last.sent = 1e9;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	near(s.m[METRIC_THROUGHPUT], 16e9, 1);
	near(s.m[METRIC_SERVICE_DEMAND], 4e6 / (4e9 / 1024), 1e-9);
	sample_clear(&s);
	made_up_clear(&m);
}

static void test_discarding(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	struct spec_test test = {.discard = true};
	made_up_window(&m, false);
	m.w.test = &test;
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	assert_true(isnan(s.m[METRIC_THROUGHPUT]));
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND]));
	near(sample_metric(&s, "throughput_discarding"), 12e9, 1);
	near(sample_metric(&s, "service_demand_discarding"), 1.28, 1e-9);
	sample_clear(&s);
}

static json_t *buckets(const char *text)
{
	json_t *j = json_loads(text, 0, NULL);
	assert_non_null(j);
	return j;
}

/* Bucket 64 is 64 ns and on; 704 is 2^16 ns, and each of its 64 is 1024 ns wide. */
static void test_latency(void **state)
{
	(void)state;
	auto_json json_t *none = json_array();
	auto_json json_t *a = buckets("[[10, 4], [704, 10]]");
	auto_json json_t *b = buckets("[[10, 4], [64, 50], [704, 60]]");
	assert_true(isnan(builtin_latency(none, none, 0.5)));
	assert_true(isnan(builtin_latency(a, a, 0.5)));
	near(builtin_latency(a, b, 0.25), 0.0645, 1e-9);
	near(builtin_latency(a, b, 0.75), (65536 + 512) / 1000.0, 1e-9);
	near(builtin_latency(none, a, 0.99), 65.536 + 1.024 * (13.86 - 4) / 10, 1e-9);
}

/* Rates in bytes an interval, and cwnd, at 50 ms. */
static bool steady(const double *rate, const double *cwnd, size_t n)
{
	struct builtin_series *s = calloc(1, sizeof(*s));
	struct builtin_read a = {.rtt = 20000}, b = {0};
	a.cwnd = cwnd ? cwnd[0] : 1000;
	builtin_series_add(s, &a, &b);
	for (size_t i = 0; i < n; i++) {
		a.cwnd = cwnd ? cwnd[i] : 1000;
		b.t += 0.05;
		b.bytes += rate[i];
		builtin_series_add(s, &a, &b);
	}
	bool r = builtin_series_steady(s);
	free(s);
	return r;
}

static void test_steady(void **state)
{
	(void)state;
	double flat[20], growing[20];
	for (int i = 0; i < 20; i++) {
		flat[i] = 1000 + i * 37 % 5 * 10;
		growing[i] = 100 * pow(1.5, i);
	}
	assert_true(steady(flat, NULL, 20));
	assert_false(steady(flat, NULL, 5));
	assert_false(steady(growing, NULL, 20));
	assert_false(steady(flat, growing, 20));
}

static void counters_at(struct builtin_counters *c, double t, double packets, double drops)
{
	auto_json json_t *j = json_pack("{s:{s:f, s:f, s:f, s:s, s:[i]}}", "host", "rx_packets",
					packets, "softnet_drops", drops, "TcpInErrs", 3.0, "device",
					"eth0", "softnet_packets", 7);
	builtin_counters_add(c, &(struct builtin_read){.t = t, .json = j});
}

/* What the host has counted, from look to look; two looks are the ends of the window. */
static void test_counters(void **state)
{
	(void)state;
	struct builtin_counters c = {0};
	counters_at(&c, 10, 100, 0);
	counters_at(&c, 10.5, 1100, 0);
	auto_json json_t *ends = builtin_counters_json(&c, 9.75);
	assert_true(json_is_null(ends));
	counters_at(&c, 11, 1350, 9007199254740993.0);
	builtin_counters_add(&c, &(struct builtin_read){.t = 11.2});
	auto_json json_t *o = builtin_counters_json(&c, 9.75);
	assert_int_equal(json_object_size(o), 4);
	near(json_get_number(o, "begins"), 0.25, 1e-9);
	near(cell(o, "t", 0), 0.5, 1e-9);
	near(cell(o, "t", 1), 1, 1e-9);
	near(cell(o, "rx_packets", 0), 1000, 0);
	near(cell(o, "rx_packets", 1), 250, 0);
	near(cell(o, "softnet_drops", 0), 0, 0);
	near(cell(o, "softnet_drops", 1), 9007199254740992.0, 1);
	for (int i = 0; i < 2 * BUILTIN_COUNTERS_MAX; i++) {
		counters_at(&c, 12 + i, 2000 + i, 0);
	}
	assert_int_equal(c.n, BUILTIN_COUNTERS_MAX);
	builtin_counters_clear(&c);
	assert_int_equal(c.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),		 cmocka_unit_test(test_result_unknown_cpu),
		cmocka_unit_test(test_result_cannot_be), cmocka_unit_test(test_energy),
		cmocka_unit_test(test_suspended),	 cmocka_unit_test(test_udp),
		cmocka_unit_test(test_both_ways),	 cmocka_unit_test(test_discarding),
		cmocka_unit_test(test_counters),	 cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_latency),		 cmocka_unit_test(test_steady),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
