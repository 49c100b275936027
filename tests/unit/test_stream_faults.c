/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stream endpoints when something is wrong: strays, a frozen or vanished peer, connections that
 * do not come, an end in the midst.
 */
#include "stream_fixture.h"

/* A plain connection of this test's own to an endpoint that listens. */
static int stray(int port, const char *text)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	if (*text) {
		assert_true(send(fd, text, strlen(text), MSG_NOSIGNAL) > 0);
	}
	return fd;
}

static void test_strays_are_dropped(void **state)
{
	(void)state;
	struct peer a, b;
	int fd[40];
	pair_start(&a, &b);
	int port = listen_at(&b, opening("listen", "127.0.0.1", 0));
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = stray(port, i % 3 == 0 ? "" : i % 3 == 1 ? "a-token-of-33" : "a-tok");
	}
	must(&a, opening("connect", "127.0.0.1", port));
	must(&b, plain("start"));
	must(&a, plain("start"));
	wait_for_bytes(&b, 1e6);
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++) {
		char c;
		/* closed or reset by the other side, not waiting for more */
		assert_true(recv(fd[i], &c, 1, 0) <= 0);
		close(fd[i]);
	}
	pair_end(&a, &b);
}

/* The token may come in pieces, and the byte after it is data. */
static void test_token_in_pieces(void **state)
{
	(void)state;
	struct peer b;
	peer_start(&b, -1);
	int port = listen_at(&b, opening("listen", "127.0.0.1", 0));
	int fd = stray(port, "a-to");
	sleep_ms(20);
	assert_int_equal(send(fd, "ken-of-32xyz", 12, 0), 12);
	must(&b, plain("start"));
	assert_int_equal(wait_for_bytes(&b, 3), 3);
	close(fd);
	peer_end(&b);
}

static void expect_error(struct peer *p, const char *const words[])
{
	const char *text = NULL;
	for (int i = 0; i < 60; i++) {
		auto_json json_t *r = read_of(p);
		text = json_string_value(json_object_get(r, "error"));
		if (text) {
			for (; *words; words++) {
				if (!strstr(text, *words)) {
					fail_msg("\"%s\" is not in: %s", *words, text);
				}
			}
			return;
		}
		sleep_ms(50);
	}
	fail_msg("no error within 3 s");
}

static void test_frozen_receiver(void **state)
{
	(void)state;
	struct peer a, b;
	char where[32];
	pair_start(&a, &b);
	snprintf(where, sizeof(where), "127.0.0.1 port %d", pair_run(&a, &b));
	kill(b.pid, SIGSTOP);
	expect_error(&a, (const char *const[]){"sender", "nothing moved", where, NULL});
	/* also with its thread blocked in send */
	must(&a, plain("stop"));
	kill(b.pid, SIGCONT);
	must(&b, plain("stop"));
	sample(&a, &b, "127.0.0.1", "tcp_stream", "classic", 1, "{}", 1e6);
	pair_end(&a, &b);
}

static void test_silent_sender(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	int port = listen_at(&b, opening("listen", "127.0.0.1", 0));
	must(&a, opening("connect", "127.0.0.1", port));
	must(&b, plain("start"));
	expect_error(&b,
		     (const char *const[]){"receiver", "nothing moved", "127.0.0.1 port", NULL});
	must(&b, plain("stop"));
	must(&a, plain("stop"));
	pair_end(&a, &b);
}

static void test_peer_gone(void **state)
{
	(void)state;
	struct peer a, b;
	char where[32];
	pair_start(&a, &b);
	snprintf(where, sizeof(where), "127.0.0.1 port %d", pair_run(&a, &b));
	sleep_ms(20);
	kill(b.pid, SIGKILL);
	expect_error(&a, (const char *const[]){"sender", where, NULL});
	waitpid(b.pid, NULL, 0);
	close(b.fd);
	channel_clear(&b.c);
	must(&a, plain("stop"));
	peer_end(&a);
}

static void test_missing_connections(void **state)
{
	(void)state;
	struct peer b;
	struct err e = {0};
	peer_start(&b, -1);
	json_t *l = opening("listen", "127.0.0.1", 0);
	set(l, "streams", json_integer(2));
	listen_at(&b, l);
	double before = stream_now();
	assert_null(ask(&b, plain("start"), &e));
	assert_non_null(strstr(e.text, "0 of 2 connections"));
	assert_int_not_equal(e.code, -ETIMEDOUT);
	assert_true(stream_now() - before < 7);
	must(&b, plain("stop"));
	peer_end(&b);
}

/* End of input in the midst of a sample ends the process, its threads with it. */
static void test_end_of_input(void **state)
{
	(void)state;
	struct peer a, b;
	pair_start(&a, &b);
	pair_run(&a, &b);
	sleep_ms(20);
	pair_end(&a, &b);
}

static void test_garbage_ends_it(void **state)
{
	(void)state;
	struct peer p;
	int status;
	peer_start(&p, -1);
	assert_int_equal(write(p.fd, "not JSON\n", 9), 9);
	assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	close(p.fd);
	channel_clear(&p.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strays_are_dropped),
		cmocka_unit_test(test_token_in_pieces),
		cmocka_unit_test(test_frozen_receiver),
		cmocka_unit_test(test_silent_sender),
		cmocka_unit_test(test_peer_gone),
		cmocka_unit_test(test_missing_connections),
		cmocka_unit_test(test_end_of_input),
		cmocka_unit_test(test_garbage_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
