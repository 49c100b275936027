/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stream endpoints as the agent sees them: JSON lines on a socket pair, real TCP over loopback.
 * Each side is served by a process of its own, or by one process for both.
 */
#include "stream_fixture.h"
#include <math.h>

static void test_moves_bytes(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	sample(&a, &b, "127.0.0.1", "tcp_stream", "classic", 1, "{}", 1e6);
	sample(&a, &b, "127.0.0.1", "tcp_stream", "light", 1, "{}", 1e6);
	sample(&a, &b, "127.0.0.1", "tcp_maerts", "classic", 1, "{}", 1e6);
	sample(&a, &b, "127.0.0.1", "tcp_maerts", "light", 3, "{}", 1e6);
	sample(&a, &b, "127.0.0.1", "tcp_stream", "classic", 16, "{}", 1e6);
	sample(&a, &b, "127.0.0.1", "tcp_stream", "classic", 1,
	       "{\"message_size\": 1, \"receive_size\": 7, \"nodelay\": true}", 100);
	sample(&a, &b, "127.0.0.1", "tcp_stream", "classic", 1,
	       "{\"ring\": 8, \"send_buffer\": 65536, \"receive_buffer\": 65536, "
	       "\"notsent_lowat\": 131072, \"receive_lowat\": 1000, \"cork\": 1}",
	       1e6);
	pair_end(&a, &b);
}

/* Every way of sending moves the bytes, by falling back if it must. */
static void test_ways_of_sending(void **state)
{
	(void)state;
	static const char *const ways[] = {"plain", "sendfile", "splice", "zerocopy"};
	struct peer a, b;
	pair_start(&a, &b);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		json_t *l = opening("listen", "127.0.0.1", 0), *c;
		set(l, "receive", json_string(i % 2 ? "discard" : "copy"));
		c = opening("connect", "127.0.0.1", listen_at(&b, l));
		set(c, "send", json_string(ways[i / 2]));
		set(c, "socket", json_pack("{s:i, s:i}", "ring", 3, "message_size", 100000));
		must(&a, c);
		must(&b, plain("start"));
		must(&a, plain("start"));
		wait_for_bytes(&b, 1e7);
		must(&a, plain("stop"));
		must(&b, plain("stop"));
	}
	pair_end(&a, &b);
}

static void test_bidir(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	type_start(&a, &b, "tcp_bidir", "classic", "{}", 0);
	wait_for_bytes(&b, 1e6);
	wait_for_bytes(&a, 1e6);
	auto_json json_t *r = read_of(&b);
	assert_true(number(r, "sent") > 1e5);
	assert_true(number(r, "received") >= 1e6);
	both_stop(&a, &b);
	pair_end(&a, &b);
}

/* At a small rate nothing is lost on loopback, and the datagrams' numbers agree with their count.
 */
static void test_udp(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	for (int i = 0; i < 4; i++) {
		type_start(&a, &b, "udp_stream", i % 2 ? "light" : "classic",
			   i < 2 ? "{}" : "{\"message_size\": 8}", i < 2 ? 2e7 : 1e6);
		wait_for_bytes(&b, i < 2 ? 1e5 : 800);
		auto_json json_t *r = read_of(&b);
		auto_json json_t *s = read_of(&a);
		check_error_free(s);
		json_t *ru = json_object_get(r, "udp"), *su = json_object_get(s, "udp");
		assert_true(number(ru, "received") > 0);
		assert_true(number(ru, "expected") >= number(ru, "received"));
		assert_true(number(su, "sent") >= number(ru, "received"));
		assert_true(number(su, "offered") >= number(su, "sent"));
		assert_true(number(su, "bursts") > 0);
		both_stop(&a, &b);
	}
	pair_end(&a, &b);
}

static void test_rr(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	type_start(&a, &b, "tcp_rr", "classic", "{\"message_size\": 100, \"receive_size\": 200000}",
		   0);
	wait_for_bytes(&b, 1e6);
	auto_json json_t *r = read_of(&a);
	json_t *pair;
	double timed = 0;
	size_t i;
	json_array_foreach(json_object_get(r, "latency"), i, pair)
	{
		timed += json_number_value(json_array_get(pair, 1));
	}
	assert_true(timed >= 3);
	/* a turn or two a stream may have been counted and not yet timed, or the other way round */
	assert_true(fabs(timed - number(r, "transactions")) <= 1000);
	assert_true(number(r, "received") > 1000 * number(r, "sent"));
	both_stop(&a, &b);
	pair_end(&a, &b);
}

/* A share, or unknown; never below nothing. */
static void test_spin(void **state)
{
	(void)state;
	struct spin s = {0};
	int known = 0;
	for (int i = 0; i < 200; i++) {
		double stolen = spin_stolen(&s);
		known += isfinite(stolen);
		assert_true(!isfinite(stolen) || (stolen >= 0 && stolen < 1));
	}
	assert_true(known > 0 && s.least > 0);
	/* the worst look since the last answer, which then begins anew */
	s.worst = 1e6 * s.least;
	double stolen = spin_stolen(&s);
	assert_true(stolen > 0.999 && stolen < 1 && s.worst == 0);
	for (int i = 0; i < 200 && s.worst == 0; i++) {
		spin_look(&s);
	}
	assert_true(s.worst >= s.least);
}

static void test_ipv6(void **state)
{
	(void)state;
	struct peer a, b;
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	bool there = fd >= 0 && bind(fd, (struct sockaddr *)&in, sizeof(in)) == 0;
	close(fd);
	if (!there) {
		print_message("no IPv6 on loopback here\n");
		skip();
	}
	pair_start(&a, &b);
	sample(&a, &b, "::1", "tcp_stream", "classic", 2, "{}", 1e6);
	pair_end(&a, &b);
}

static void one_process_for_both(const char *type, int streams)
{
	struct peer p;
	json_t *l, *c;
	peer_start(&p, -1);
	l = opening("listen", "127.0.0.1", 0);
	with(l, type, "classic", streams, json_object());
	c = opening("connect", "127.0.0.1", listen_at(&p, l));
	with(c, type, "classic", streams, json_object());
	must(&p, c);
	must(&p, json_pack("{s:s, s:s}", "op", "start", "side", "listen"));
	must(&p, json_pack("{s:s, s:s}", "op", "start", "side", "connect"));
	wait_for_bytes(&p, 1e6); /* the listening side is meant where no side is named */
	struct err e = {0};
	auto_json json_t *r = ask(&p, json_pack("{s:s, s:s}", "op", "stop", "side", "listen"), &e);
	auto_json json_t *s = ask(&p, json_pack("{s:s, s:s}", "op", "stop", "side", "connect"), &e);
	assert_non_null(r);
	assert_non_null(s);
	assert_true(number(r, "bytes") > 1e5);
	assert_true(number(s, "bytes") > 1e5);
	peer_end(&p);
}

static void test_one_process_for_both(void **state)
{
	(void)state;
	one_process_for_both("tcp_stream", 1);
	one_process_for_both("udp_stream", 1);
	one_process_for_both("udp_stream", 20);
}

/* What is absent is not set, and what is set is reported as the kernel has it. */
static void test_effective(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	json_t *l = opening("listen", "127.0.0.1", 0);
	set(l, "socket", json_pack("{s:i, s:i}", "receive_buffer", 50000, "send_buffer", 0));
	int port = listen_at(&b, l);
	json_t *c = opening("connect", "127.0.0.1", port);
	set(c, "socket", json_pack("{s:i}", "send_buffer", 40000));
	must(&a, c);
	must(&b, plain("start"));
	auto_json json_t *s = read_of(&a), *r = read_of(&b);
	json_t *es = json_object_get(s, "effective"), *er = json_object_get(r, "effective");
	assert_int_equal(number(es, "send_buffer"), 80000);
	assert_int_equal(number(er, "receive_buffer"), 100000);
	assert_int_not_equal(number(er, "send_buffer"), 80000);
	assert_true(strlen(json_string_value(json_object_get(es, "congestion_control"))) > 0);
	/* nobody has started the sender */
	assert_true(number(s, "bytes") == 0 && number(r, "bytes") == 0);
	assert_true(json_is_object(json_object_get(s, "tcp")));
	auto_json json_t *no_cpu = NULL;
	struct err e = {0};
	no_cpu = ask(&a, json_pack("{s:s, s:b}", "op", "read", "cpu", 0), &e);
	assert_true(json_is_null(json_object_get(no_cpu, "cpu")));
	pair_end(&a, &b);
}

static void refused(struct peer *p, json_t *request, const char *word)
{
	struct err e = {0};
	json_t *answer = ask(p, request, &e);
	assert_null(answer);
	if (!strstr(e.text, word)) {
		fail_msg("\"%s\" is not in: %s", word, e.text);
	}
}

static json_t *but(const char *key, json_t *value)
{
	json_t *r = opening("listen", "127.0.0.1", 0);
	set(r, key, value);
	return r;
}

static void test_refusals(void **state)
{
	(void)state;
	struct peer p;
	peer_start(&p, -1);
	refused(&p, plain("fly"), "fly");
	refused(&p, json_object(), "operation");
	refused(&p, plain("read"), "no listen");
	refused(&p, plain("start"), "no listen");
	refused(&p, plain("stop"), "no listen");
	refused(&p, but("type", json_string("udp_maerts")), "udp_maerts");
	refused(&p, but("send", json_string("teleport")), "teleport");
	refused(&p, but("receive", json_integer(1)), "receive");
	refused(&p, but("rate", json_integer(-1)), "rate");
	refused(&p, but("cpus", json_string("0")), "cpus");
	refused(&p, but("cpus", json_pack("[i]", -1)), "cpus");
	refused(&p, but("cpus", json_pack("[i]", 1 << 20)), "cpus");
	json_t *u = but("type", json_string("udp_stream"));
	set(u, "socket", json_pack("{s:i}", "message_size", 65508));
	refused(&p, u, "65508");
	u = but("type", json_string("udp_stream"));
	set(u, "send", json_string("splice"));
	refused(&p, u, "plain or gso");
	refused(&p, but("send", json_string("gso")), "udp_stream");
	refused(&p, but("receive", json_string("gro")), "udp_stream");
	u = but("type", json_string("tcp_rr"));
	set(u, "receive", json_string("discard"));
	refused(&p, u, "tcp_rr");
	refused(&p, but("type", json_integer(3)), "type");
	refused(&p, but("drive", json_string("fast")), "fast");
	refused(&p, but("streams", json_integer(0)), "streams");
	refused(&p, but("streams", json_integer(100000)), "streams");
	refused(&p, but("port", json_integer(65536)), "port");
	refused(&p, but("token", json_string("")), "token");
	refused(&p, but("address", json_string("localhost")), "localhost");
	refused(&p, but("address", json_string("198.51.100.7")), "198.51.100.7");
	refused(&p, but("socket", json_array()), "object");
	refused(&p, but("socket", json_pack("{s:i}", "mesage_size", 1)), "mesage_size");
	refused(&p, but("socket", json_pack("{s:i}", "message_size", 0)), "message_size");
	refused(&p, but("socket", json_pack("{s:f}", "message_size", 1.5)), "whole number");
	refused(&p, but("socket", json_pack("{s:I}", "send_buffer", (json_int_t)1 << 31)),
		"send_buffer");
	json_t *c = opening("connect", "127.0.0.1", 1);
	set(c, "socket", json_pack("{s:i, s:i}", "message_size", 1 << 20, "ring", 1025));
	refused(&p, c, "1GiB");
	refused(&p, opening("connect", "127.0.0.1", 0), "port");
	refused(&p, opening("connect", "127.0.0.1", 1), "127.0.0.1 port 1");
	peer_end(&p);
}

static int entries(pid_t pid, const char *what)
{
	char path[64];
	int n = 0;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	DIR *d = opendir(path);
	assert_non_null(d);
	while (readdir(d)) {
		n++;
	}
	closedir(d);
	return n;
}

/* Descriptors and threads after many samples are as many as after one. A listen over a
 * running sample (its stop was lost) ends that. */
static void test_no_leaks(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	sample(&a, &b, "127.0.0.1", "tcp_stream", "classic", 2, "{}", 1);
	int fds = entries(a.pid, "fd"), tasks = entries(a.pid, "task");
	int fds_b = entries(b.pid, "fd"), tasks_b = entries(b.pid, "task");
	for (int i = 0; i < 200; i++) {
		if (i % 50 == 49) {
			pair_run(&a, &b);
		}
		sample(&a, &b, "127.0.0.1", i % 2 ? "tcp_stream" : "tcp_maerts",
		       i % 4 < 2 ? "classic" : "light", 1 + i % 3,
		       "{\"message_size\": 4096, \"receive_size\": 4096}", 0);
	}
	assert_int_equal(entries(a.pid, "fd"), fds);
	assert_int_equal(entries(a.pid, "task"), tasks);
	assert_int_equal(entries(b.pid, "fd"), fds_b);
	assert_int_equal(entries(b.pid, "task"), tasks_b);
	pair_end(&a, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves_bytes), cmocka_unit_test(test_ways_of_sending),
		cmocka_unit_test(test_bidir),	    cmocka_unit_test(test_udp),
		cmocka_unit_test(test_rr),	    cmocka_unit_test(test_spin),
		cmocka_unit_test(test_ipv6),	    cmocka_unit_test(test_one_process_for_both),
		cmocka_unit_test(test_effective),   cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_no_leaks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
