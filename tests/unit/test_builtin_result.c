/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine's arithmetic on made-up reads, where the right numbers are known: window to
 * sample, what cannot be, what limits, and when a series of rates is steady.
 */
#include "builtin_private.h"
#include "cleanup.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define near(a, b, eps)                                                                            \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (eps))) {                                                   \
			fail_msg(#a " is %.9g, not %.9g", a_, b_);                                 \
		}                                                                                  \
	} while (0)

static struct builtin_read made_up(double t, double bytes, double busy, double self)
{
	return (struct builtin_read){.t = t,
				     .bytes = bytes,
				     .self = self,
				     .acked = NAN,
				     .rtt = 100,
				     .cwnd = 1000,
				     .retransmits = bytes / 1e8,
				     .cpu_t = t,
				     .busy = busy,
				     .resolution = 0.001,
				     .cpus = 4,
				     .tcp_busy = t * 1e6};
}

struct made_up {
	struct builtin_host s, r;
	struct builtin_series series;
	struct builtin_window w;
};

static void made_up_window(struct made_up *m, bool one_host)
{
	memset(m, 0, sizeof(*m));
	/* sender: 2 s, 4 GB, 1 s of CPU; receiver, on another clock: 2 s, 3 GB, 3 s of CPU */
	m->s.first = made_up(100, 1e9, 50, 1);
	m->s.last = made_up(102, 5e9, 51, 1.9);
	m->r.first = made_up(7, 0, 10, 2);
	m->r.last = made_up(9, 3e9, 13, 4.5);
	m->w = (struct builtin_window){
		.sender = &m->s, .receiver = &m->r, .one_host = one_host, .series = &m->series};
	builtin_series_add(&m->series, &m->s.first, &m->r.first);
	builtin_series_add(&m->series, &m->s.last, &m->r.last);
}

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
}

static void limited(struct made_up *m, const char *word)
{
	struct sample s;
	struct err e = {0};
	assert_int_equal(builtin_result(&m->w, &s, &e), 0);
	assert_string_equal(s.limited_by, word);
	sample_clear(&s);
}

static void test_limited_by(void **state)
{
	(void)state;
	struct made_up m;
	made_up_window(&m, false);
	m.s.last.rwnd_limited = 1.1e6;
	limited(&m, "receive window");
	m.s.first.rwnd_limited = 0.9e6;
	limited(&m, "");
	m.s.last.sndbuf_limited = 1.1e6;
	limited(&m, "send buffer");
	m.s.last.sndbuf_limited = NAN;
	m.r.first.json = json_loads("{\"cpu\": {\"per_cpu\": [1, 2, 3, 4]}}", 0, NULL);
	m.r.last.json = json_loads("{\"cpu\": {\"per_cpu\": [1, 2, 4.95, 4]}}", 0, NULL);
	limited(&m, "cpu");
	/* full, but hardly of this test */
	m.r.last.self = m.r.first.self + 0.1;
	limited(&m, "");
	m.r.last.self = 4.5;
	json_decref(m.r.last.json);
	m.r.last.json = json_loads("{\"cpu\": {\"per_cpu\": [1, 2, 4.5, 4]}}", 0, NULL);
	limited(&m, "");
	json_decref(m.r.first.json);
	json_decref(m.r.last.json);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),		 cmocka_unit_test(test_result_unknown_cpu),
		cmocka_unit_test(test_result_cannot_be), cmocka_unit_test(test_limited_by),
		cmocka_unit_test(test_steady),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
