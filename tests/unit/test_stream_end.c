/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The orderly end of a test: what was sent has all come in when the sender's end marker is seen,
 * in each way of sending, in both directions, with datagrams; and several requests in one line.
 */
#include "stream_fixture.h"

#define PATIENCE 8.0 /* s: how long it takes is the machine's affair */

static json_t *stop_request(const char *side)
{
	json_t *r = json_pack("{s:s, s:f, s:b}", "op", "stop", "drain", PATIENCE, "cpu", 0);
	if (side) {
		set(r, "side", json_string(side));
	}
	return r;
}

static void send_request(struct peer *p, json_t *request)
{
	struct err e = {0};
	set(request, "v", json_integer(PROTOCOL_VERSION));
	set(request, "id", json_integer(7));
	assert_int_equal(channel_send(&p->c, request, &e), 0);
	json_decref(request);
}

static json_t *take_answer(struct peer *p)
{
	struct err e = {0};
	json_t *answer = NULL;
	if (channel_recv(&p->c, 10000, &answer, &e) < 0 || protocol_result(answer, &e) < 0) {
		fail_msg("%s", e.text);
	}
	return answer;
}

/* Both at once, as the engine does: each needs the other to come to its end. */
static void stop_both(struct peer *a, struct peer *b, json_t **from, json_t **to)
{
	send_request(a, stop_request(NULL));
	send_request(b, stop_request(NULL));
	*from = take_answer(a);
	*to = take_answer(b);
	check_error_free(*from);
	check_error_free(*to);
	assert_true(json_is_true(json_object_get(*from, "drained")));
	assert_true(json_is_true(json_object_get(*to, "drained")));
}

static bool same(const json_t *a, const char *key_a, const json_t *b, const char *key_b)
{
	return json_integer_value(json_object_get(a, key_a)) ==
	       json_integer_value(json_object_get(b, key_b));
}

static void test_streams(void **state)
{
	(void)state;
	static const char *const ways[] = {"plain", "sendfile", "splice", "zerocopy"};
	struct peer a, b;
	pair_start(&a, &b);
	for (size_t i = 0; i < 3 * ARRAY_SIZE(ways); i++) {
		json_t *l = opening("listen", "127.0.0.1", 0), *c;
		const char *drive = i / ARRAY_SIZE(ways) == 1 ? "light" : "classic";
		auto_json json_t *from = NULL, *to = NULL;
		set(l, "drive", json_string(drive));
		set(l, "receive", json_string(i / ARRAY_SIZE(ways) == 2 ? "discard" : "copy"));
		c = opening("connect", "127.0.0.1", listen_at(&b, l));
		set(c, "drive", json_string(drive));
		set(c, "send", json_string(ways[i % ARRAY_SIZE(ways)]));
		must(&a, c);
		must(&b, plain("start"));
		must(&a, plain("start"));
		wait_for_bytes(&b, 1e6);
		stop_both(&a, &b, &from, &to);
		assert_true(same(from, "sent", to, "received"));
		assert_true(number(to, "received") >= 1e6);
	}
	pair_end(&a, &b);
}

static void test_both_ways(void **state)
{
	(void)state;
	struct peer a, b;
	auto_json json_t *from = NULL, *to = NULL;
	pair_start(&a, &b);
	type_start(&a, &b, "tcp_bidir", "classic", "{}", 0);
	wait_for_bytes(&b, 1e6);
	stop_both(&a, &b, &from, &to);
	assert_true(same(from, "sent", to, "received"));
	assert_true(same(to, "sent", from, "received"));
	pair_end(&a, &b);
}

/* At a small rate none is lost; the marker says how many there were, and is none of them. */
static void test_datagrams(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	for (int i = 0; i < 2; i++) {
		auto_json json_t *from = NULL, *to = NULL;
		type_start(&a, &b, "udp_stream", i ? "light" : "classic", "{\"message_size\": 200}",
			   1e6);
		wait_for_bytes(&b, 1e4);
		auto_json json_t *mark = read_of(&b);
		stop_both(&a, &b, &from, &to);
		json_t *su = json_object_get(from, "udp"), *ru = json_object_get(to, "udp");
		assert_true(same(su, "sent", ru, "told"));
		assert_true(same(su, "sent", ru, "received"));
		assert_true(same(ru, "expected", ru, "received"));
		/* in their order: none comes late */
		assert_true(same(ru, "late", json_object_get(mark, "udp"), "late"));
	}
	pair_end(&a, &b);
}

static void bundles_start(struct peer *a, struct peer *b, const char *send, const char *receive,
			  int size, double rate)
{
	json_t *l = opening("listen", "127.0.0.1", 0), *c;
	set(l, "type", json_string("udp_stream"));
	set(l, "receive", json_string(receive));
	c = opening("connect", "127.0.0.1", listen_at(b, l));
	set(c, "type", json_string("udp_stream"));
	set(c, "send", json_string(send));
	set(c, "rate", json_real(rate));
	set(c, "socket", json_pack("{s:i}", "message_size", size));
	must(a, c);
	must(b, plain("start"));
	must(a, plain("start"));
}

/* In bundles at one end or at both the same datagrams arrive, each counted; a size that makes no
 * bundle goes one by one. */
static void test_bundles(void **state)
{
	(void)state;
	static const char *const ways[][2] = {{"gso", "copy"}, {"plain", "gro"}, {"gso", "gro"}};
	struct peer a, b;
	pair_start(&a, &b);
	for (int i = 0; i < 6; i++) {
		auto_json json_t *from = NULL, *to = NULL;
		int size = i < 3 ? 1200 : 60000;
		bundles_start(&a, &b, ways[i % 3][0], ways[i % 3][1], size, size * 8e2);
		wait_for_bytes(&b, 10.0 * size);
		stop_both(&a, &b, &from, &to);
		json_t *su = json_object_get(from, "udp"), *ru = json_object_get(to, "udp");
		assert_true(same(su, "sent", ru, "told"));
		/* a busy machine may leave some in a full socket */
		assert_in_range(number(ru, "received"), 1, number(su, "sent"));
		assert_int_equal(number(to, "received"), number(ru, "received") * size);
	}
	pair_end(&a, &b);
}

/* A socket of the test's own, which sends by hand: 1, 3, 4, an end of the window, then 2 and 5. */
static void test_late_datagram(void **state)
{
	(void)state;
	static const unsigned char order[] = {1, 3, 4, 2, 5};
	struct peer b;
	struct sockaddr_in to = {.sin_family = AF_INET};
	char token[64], datagram[UDP_HEADER] = {0};
	peer_start(&b, -1);
	json_t *l = opening("listen", "127.0.0.1", 0);
	set(l, "type", json_string("udp_stream"));
	to.sin_port = htons((uint16_t)listen_at(&b, l));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	auto_close int fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, "a-token-of-32", 13, 0), 13);
	assert_int_equal(recv(fd, token, sizeof(token), 0), 13);
	must(&b, plain("start"));
	for (int i = 0; i < 5; i++) {
		datagram[7] = (char)order[i];
		assert_int_equal(send(fd, datagram, sizeof(datagram), 0), sizeof(datagram));
		if (i == 2 || i == 4) {
			wait_for_bytes(&b, (i + 1) * UDP_HEADER);
			json_decref(read_of(&b));
		}
	}
	auto_json json_t *r = read_of(&b);
	json_t *udp = json_object_get(r, "udp");
	assert_int_equal(number(udp, "expected"), 5);
	assert_int_equal(number(udp, "received"), 5);
	assert_int_equal(number(udp, "late"), 1);
	assert_int_equal(number(udp, "told"), 0);
	must(&b, plain("stop"));
	peer_end(&b);
}

/* A receiver that does not read: the sender waits no longer than it was told. */
static void test_limit(void **state)
{
	(void)state;
	struct peer a, b;
	struct err e = {0};
	pair_start(&a, &b);
	pair_run(&a, &b);
	kill(b.pid, SIGSTOP);
	sleep_ms(100);
	double before = stream_now();
	json_t *stop = stop_request(NULL);
	set(stop, "drain", json_real(0.1));
	auto_json json_t *from = ask(&a, stop, &e);
	assert_non_null(from);
	assert_true(json_is_false(json_object_get(from, "drained")));
	assert_true(stream_now() - before >= 0.09 && stream_now() - before < 5);
	kill(b.pid, SIGCONT);
	must(&b, plain("stop"));
	pair_end(&a, &b);
}

static void test_batch(void **state)
{
	(void)state;
	struct peer p;
	struct err e = {0};
	peer_start(&p, -1);
	int port = listen_at(&p, opening("listen", "127.0.0.1", 0));
	json_t *list = json_pack("[o, {s:s, s:s}, {s:s, s:s}, {s:s, s:s}]",
				 opening("connect", "127.0.0.1", port), "op", "start", "side",
				 "listen", "op", "start", "side", "connect", "op", "read", "side",
				 "listen");
	auto_json json_t *answer = ask(&p, json_pack("{s:s, s:o}", "op", "batch", "requests", list),
				       &e);
	json_t *replies = json_object_get(answer, "replies");
	assert_int_equal(json_array_size(replies), 4);
	assert_int_equal(number(json_array_get(replies, 0), "port"), port);
	assert_true(number(json_array_get(replies, 3), "t") > 0);
	wait_for_bytes(&p, 1e6);
	/* both sides are here: the first that stops ends the sending of the other, too */
	list = json_pack("[o, o]", stop_request("listen"), stop_request("connect"));
	auto_json json_t *end = ask(&p, json_pack("{s:s, s:o}", "op", "batch", "requests", list),
				    &e);
	replies = json_object_get(end, "replies");
	assert_true(
		same(json_array_get(replies, 0), "received", json_array_get(replies, 1), "sent"));
	/* up to the first that fails; none in another */
	list = json_pack("[{s:s}, {s:s}]", "op", "read", "op", "nonsense");
	assert_null(ask(&p, json_pack("{s:s, s:o}", "op", "batch", "requests", list), &e));
	assert_non_null(strstr(e.text, "no listen or connect"));
	list = json_pack("[{s:s, s:[]}]", "op", "batch", "requests");
	assert_null(ask(&p, json_pack("{s:s, s:o}", "op", "batch", "requests", list), &e));
	assert_non_null(strstr(e.text, "batch"));
	assert_null(ask(&p, plain("batch"), &e));
	peer_end(&p);
}

static double read_at(struct peer *p, double at)
{
	struct err e = {0};
	auto_json json_t *r = ask(p, json_pack("{s:s, s:b, s:f}", "op", "read", "cpu", 0, "at", at),
				  &e);
	assert_non_null(r);
	return number(r, "t");
}

/* A read is put off until the instant that it names, not further than a moment, and is not put off
 * if that is over. */
static void test_instant(void **state)
{
	(void)state;
	struct peer p;
	peer_start(&p, -1);
	listen_at(&p, opening("listen", "127.0.0.1", 0));
	double now = stream_now();
	assert_true(read_at(&p, now + 0.1) >= now + 0.1);
	now = stream_now();
	assert_true(read_at(&p, now - 100) >= now);
	assert_true(read_at(&p, 0) >= now);
	double t = read_at(&p, now + 1e9);
	assert_true(t >= now + 1 && t < now + 60);
	must(&p, plain("stop"));
	peer_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),	      cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_datagrams),     cmocka_unit_test(test_bundles),
		cmocka_unit_test(test_late_datagram), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_batch),	      cmocka_unit_test(test_instant),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
