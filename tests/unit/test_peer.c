/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engines netperf and iperf3 without their programs: the words that they are started with, and
 * recorded outputs (netperf 2.7.1, iperf 3.12) with what they mean.
 */
#include "cleanup.h"
#include "peer_private.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define near(a, b, eps)                                                                            \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (eps))) {                                                   \
			fail_msg(#a " is %.9g, not %.9g", a_, b_);                                 \
		}                                                                                  \
	} while (0)

static struct spec_test make_test(const char *type)
{
	struct spec_test t = {.streams = 1};
	snprintf(t.type, sizeof(t.type), "%s", type);
	return t;
}

static struct peer_sample make_sample(const struct spec_test *t)
{
	return (struct peer_sample){
		.test = t, .address = "192.0.2.7", .port = 15210, .duration = 2};
}

static const char netperf_stream[] = "THROUGHPUT=2612.27\nTHROUGHPUT_UNITS=10^6bits/s\n"
				     "ELAPSED_TIME=1.02\nLOCAL_CPU_UTIL=60.00\n"
				     "REMOTE_CPU_UTIL=80.00\nLOCAL_SD=3.763\nREMOTE_SD=5.018\n"
				     "LOCAL_TRANSPORT_RETRANS=27\nREMOTE_TRANSPORT_RETRANS=-1\n";

static void test_netperf_stream(void **state)
{
	(void)state;
	struct spec_test t = make_test("tcp_stream");
	struct peer_sample p = make_sample(&t);
	struct sample s;
	struct err e = {0};
	assert_int_equal(peer_netperf.parse(&p, netperf_stream, &s, &e), 0);
	assert_true(s.ok);
	near(s.m[METRIC_THROUGHPUT], 2612.27e6, 1);
	near(s.m[METRIC_CPU_SENDER], 0.6, 1e-9);
	near(s.m[METRIC_CPU_RECEIVER], 0.8, 1e-9);
	near(s.m[METRIC_SERVICE_DEMAND], 8.781, 1e-9);
	near(s.m[METRIC_RETRANSMITS], 27, 0);
	near(s.m[METRIC_SECONDS], 1.02, 1e-9);
	assert_true(isnan(s.m[METRIC_RTT]));
	/* one host: its CPUs once */
	p.one_host = true;
	assert_int_equal(peer_netperf.parse(&p, netperf_stream, &s, &e), 0);
	near(s.m[METRIC_SERVICE_DEMAND], 3.763, 1e-9);
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND_SENDER]));
	/* reversed: the near end receives, and does not know the far one's retransmits */
	p.one_host = false;
	t = make_test("tcp_maerts");
	assert_int_equal(peer_netperf.parse(&p, netperf_stream, &s, &e), 0);
	near(s.m[METRIC_CPU_SENDER], 0.8, 1e-9);
	assert_true(isnan(s.m[METRIC_RETRANSMITS]));
}

/* Numbers that cannot be are unknown, and half a sum is none. */
static void test_netperf_cannot_be(void **state)
{
	(void)state;
	struct spec_test t = make_test("tcp_stream");
	struct peer_sample p = make_sample(&t);
	struct sample s;
	struct err e = {0};
	const char *odd = "THROUGHPUT=100.0\nTHROUGHPUT_UNITS=10^6bits/s\n"
			  "LOCAL_CPU_UTIL=70000000.00\nREMOTE_CPU_UTIL=nan\nLOCAL_SD=1\n"
			  "REMOTE_SD=-1.0\n";
	assert_int_equal(peer_netperf.parse(&p, odd, &s, &e), 0);
	assert_true(isnan(s.m[METRIC_CPU_SENDER]));
	assert_true(isnan(s.m[METRIC_CPU_RECEIVER]));
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND]));
	assert_true(isnan(s.m[METRIC_SECONDS]));
	assert_true(peer_netperf.parse(&p, "", &s, &e) < 0);
	assert_non_null(strstr(e.text, "192.0.2.7 port 15210"));
	assert_true(peer_netperf.parse(&p, "THROUGHPUT=nan\nTHROUGHPUT_UNITS=10^6bits/s\n", &s,
				       &e) < 0);
	assert_true(peer_netperf.parse(&p, "THROUGHPUT=3\nTHROUGHPUT_UNITS=MBytes/s\n", &s, &e) <
		    0);
	assert_true(peer_netperf.parse(&p, "MIGRATED UDP STREAM TEST\n 212992 1024\n", &s, &e) < 0);
}

static void test_netperf_others(void **state)
{
	(void)state;
	struct spec_test t = make_test("tcp_rr");
	struct peer_sample p = make_sample(&t);
	struct sample s;
	struct err e = {0};
	assert_int_equal(peer_netperf.parse(&p,
					    "THROUGHPUT=45770.51\nTHROUGHPUT_UNITS=Trans/s\n"
					    "P50_LATENCY=17\nP99_LATENCY=59\n",
					    &s, &e),
			 0);
	near(s.m[METRIC_LATENCY_P50], 17, 0);
	near(s.m[METRIC_LATENCY_P99], 59, 0);
	near(sample_metric(&s, "transactions_per_second"), 45770.51, 1e-9);
	assert_true(isnan(s.m[METRIC_THROUGHPUT]));
	t = make_test("udp_stream");
	assert_int_equal(peer_netperf.parse(&p,
					    "THROUGHPUT=358.3\nTHROUGHPUT_UNITS=10^6bits/s\n"
					    "LOCAL_SEND_THROUGHPUT=358.3\n"
					    "REMOTE_RECV_THROUGHPUT=71.76\n"
					    "LOCAL_SEND_CALLS=32200\nREMOTE_RECV_CALLS=6450\n",
					    &s, &e),
			 0);
	/* what was received is the result, not what was sent */
	near(s.m[METRIC_THROUGHPUT], 71.76e6, 1);
	near(s.m[METRIC_OFFERED], 358.3e6, 1);
	near(s.m[METRIC_LOST], 25750, 0);
	t = make_test("tcp_bidir");
	assert_true(peer_netperf.check(&t, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
}

static const char iperf3_stream[] =
	"{\"start\": {\"version\": \"iperf 3.12\"}, \"intervals\": [], \"end\": {\"streams\": "
	"[{\"sender\": {\"max_snd_cwnd\": 785796, \"mean_rtt\": 530}}], \"sum_sent\": "
	"{\"seconds\": "
	"1.004579, \"bytes\": 449576960, \"bits_per_second\": 3580221844.2, \"retransmits\": 4}, "
	"\"sum_received\": {\"seconds\": 1.010609, \"bytes\": 449576960, \"bits_per_second\": "
	"3558859737.0}, \"cpu_utilization_percent\": {\"host_total\": 14.4}}}";

static void test_iperf3(void **state)
{
	(void)state;
	struct spec_test t = make_test("tcp_stream");
	struct peer_sample p = make_sample(&t);
	struct sample s;
	struct err e = {0};
	assert_int_equal(peer_iperf3.parse(&p, iperf3_stream, &s, &e), 0);
	near(s.m[METRIC_THROUGHPUT], 3558859737.0, 1);
	near(s.m[METRIC_RETRANSMITS], 4, 0);
	near(s.m[METRIC_RTT], 530, 0);
	assert_true(isnan(s.m[METRIC_SERVICE_DEMAND])); /* its processes' CPU is not the host's */
	sample_clear(&s);
	t = make_test("udp_stream");
	assert_int_equal(peer_iperf3.parse(&p,
					   "{\"end\": {\"sum\": {\"seconds\": 1, \"packets\": 400, "
					   "\"lost_packets\": 100, \"bits_per_second\": 8e6}}}",
					   &s, &e),
			 0);
	near(s.m[METRIC_THROUGHPUT], 6e6, 1e-6);
	near(s.m[METRIC_LOST], 100, 0);
	sample_clear(&s);
	assert_true(peer_iperf3.parse(&p, "{\"end\": {}, \"error\": \"unable to connect\"}", &s,
				      &e) < 0);
	assert_non_null(strstr(e.text, "unable to connect"));
	assert_true(peer_iperf3.parse(&p, "iperf3: parameter error", &s, &e) < 0);
	t = make_test("tcp_stream");
	assert_true(peer_iperf3.parse(&p, "{\"end\": {}}", &s, &e) < 0);
	assert_non_null(strstr(e.text, "too old"));
}

static void test_iperf3_cannot_be(void **state)
{
	(void)state;
	struct spec_test t = make_test("tcp_stream"), udp = make_test("udp_stream");
	struct peer_sample p = make_sample(&t), q = make_sample(&udp);
	struct sample s;
	struct err e = {0};
	static const char below[] = "{\"end\": {\"sum_received\": {\"bits_per_second\": -5}}}";
	static const char lost[] = "{\"end\": {\"sum\": {\"bits_per_second\": 1e9, "
				   "\"packets\": 100, \"lost_packets\": 101}}}";
	assert_int_equal(peer_iperf3.parse(&p, below, &s, &e), -EPROTO);
	assert_int_equal(peer_iperf3.parse(&q, lost, &s, &e), -EPROTO);
}

static void words_text(const struct peer_words *w, char *out, size_t size)
{
	*out = '\0';
	for (size_t i = 0; i < w->n; i++) {
		size_t used = strlen(out);
		snprintf(out + used, size - used, "%s ", w->word[i]);
	}
}

static void test_words(void **state)
{
	(void)state;
	struct spec_test t = make_test("tcp_maerts");
	struct peer_sample p = make_sample(&t);
	struct peer_words w = {0};
	struct err e = {0};
	char text[1024];
	auto_json json_t *socket = json_pack("{s:i, s:i, s:b}", "message_size", 65536,
					     "send_buffer", 131072, "nodelay", 1);
	p.socket = socket;
	assert_int_equal(peer_iperf3.client(&p, &w, &e), 0);
	words_text(&w, text, sizeof(text));
	assert_string_equal(text, "iperf3 -J -c 192.0.2.7 -p 15210 -t 2 -P 1 -O 1 -R -l 65536 -w "
				  "131072 -N ");
	memset(&w, 0, sizeof(w));
	assert_int_equal(peer_netperf.client(&p, &w, &e), 0);
	words_text(&w, text, sizeof(text));
	assert_non_null(strstr(text, " -t omni -c -C -P 0 -f m -- -T tcp -d recv -k THROUGHPUT,"));
	assert_non_null(strstr(text, " -m 65536 -S 131072 -D "));
	/* what a tool cannot set is refused, not left out */
	json_object_set_new(socket, "receive_lowat", json_integer(1));
	assert_true(peer_netperf.client(&p, &w, &e) < 0);
	assert_non_null(strstr(e.text, "receive_lowat"));
	assert_true(peer_iperf3.client(&p, &w, &e) < 0);
	json_object_del(socket, "receive_lowat");
	json_object_set_new(socket, "receive_buffer", json_integer(1000));
	assert_true(peer_iperf3.client(&p, &w, &e) < 0);
}

static void fix(struct spec_test *t, const char *name, int end, int64_t value)
{
	struct spec_fixed *f = &t->fixed[t->n_fixed++];
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->end = end;
	f->value = value;
}

/* -s 1000,2000 -S 3000,4000: the data goes from the near send buffer to the far receive buffer, or
 * the other way round; the others are not in its way. */
static void test_buffers_of_both_ends(void **state)
{
	(void)state;
	const struct {
		const char *type;
		int send, receive;
		const char *words;
	} all[] = {{"tcp_stream", 1000, 4000, " -s 1000 -S 4000 "},
		   {"udp_stream", 1000, 4000, " -s 1000 -S 4000 "},
		   {"tcp_maerts", 3000, 2000, " -s 2000 -S 3000 "}};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct spec_test t = make_test(all[i].type);
		struct peer_sample p = make_sample(&t);
		struct peer_words w = {0};
		struct engine_run run = {.number = 1};
		struct err e = {0};
		char text[1024];
		fix(&t, "send_buffer", 0, 1000);
		fix(&t, "receive_buffer", 0, 2000);
		fix(&t, "send_buffer", 1, 3000);
		fix(&t, "receive_buffer", 1, 4000);
		auto_json json_t *socket = peer_socket_values(&t, &run);
		near(json_number_value(json_object_get(socket, "send_buffer")), all[i].send, 0);
		near(json_number_value(json_object_get(socket, "receive_buffer")), all[i].receive,
		     0);
		p.socket = socket;
		assert_int_equal(peer_netperf.client(&p, &w, &e), 0);
		words_text(&w, text, sizeof(text));
		assert_non_null(strstr(text, all[i].words));
	}
}

static void cpus_are(const struct peer_tool *tool, int near, int far, const char *words)
{
	struct spec_test t = make_test("tcp_stream");
	struct peer_sample p = make_sample(&t);
	struct peer_words w = {0};
	struct err e = {0};
	char text[1024];
	t.n_cpus[0] = near >= 0;
	t.n_cpus[1] = far >= 0;
	t.cpus[0][0] = near;
	t.cpus[1][0] = far;
	if (tool->check(&t, &e) < 0 || tool->client(&p, &w, &e) < 0) {
		assert_null(words);
		assert_int_equal(e.class, ERR_USAGE);
		return;
	}
	words_text(&w, text, sizeof(text));
	assert_non_null(words);
	assert_non_null(strstr(text, words));
}

static void test_cpus(void **state)
{
	(void)state;
	cpus_are(&peer_netperf, 1, 3, " -T 1,3 ");
	cpus_are(&peer_netperf, 1, -1, " -T 1, ");
	cpus_are(&peer_netperf, -1, 3, " -T ,3 ");
	cpus_are(&peer_iperf3, 1, 3, " -A 1,3 ");
	cpus_are(&peer_iperf3, 1, -1, " -A 1 ");
	cpus_are(&peer_iperf3, -1, 3, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netperf_stream),
		cmocka_unit_test(test_netperf_cannot_be),
		cmocka_unit_test(test_netperf_others),
		cmocka_unit_test(test_iperf3),
		cmocka_unit_test(test_iperf3_cannot_be),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_buffers_of_both_ends),
		cmocka_unit_test(test_cpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
