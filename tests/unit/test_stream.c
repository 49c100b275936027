/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stream endpoints as the agent sees them: JSON lines on a socket pair, real TCP over loopback.
 * Each side is served by a process of its own, or by one process for both.
 */
#include "cleanup.h"
#include "protocol.h"
#include "stream.h"
#include "stream_private.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

struct peer {
	pid_t pid;
	int fd;
	struct channel c;
};

static void peer_start(struct peer *p, int close_fd)
{
	int fd[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		close(fd[0]);
		if (close_fd >= 0) {
			close(close_fd);
		}
		_exit(stream_serve(fd[1], -1));
	}
	close(fd[1]);
	p->fd = fd[0];
	assert_int_equal(channel_init(&p->c, fd[0], fd[0]), 0);
}

static void peer_end(struct peer *p)
{
	int status;
	close(p->fd);
	channel_clear(&p->c);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The answer, or NULL with e. */
static json_t *ask(struct peer *p, json_t *request, struct err *e)
{
	json_t *answer = NULL;
	assert_non_null(request);
	json_object_set_new(request, "v", json_integer(PROTOCOL_VERSION));
	json_object_set_new(request, "id", json_integer(7));
	assert_int_equal(channel_send(&p->c, request, e), 0);
	json_decref(request);
	assert_int_equal(channel_recv(&p->c, 10000, &answer, e), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "id")), 7);
	if (protocol_result(answer, e) < 0) {
		json_decref(answer);
		return NULL;
	}
	return answer;
}

static void must(struct peer *p, json_t *request)
{
	struct err e = {0};
	json_t *answer = ask(p, request, &e);
	if (!answer) {
		fail_msg("%s", e.text);
	}
	json_decref(answer);
}

static json_t *opening(const char *op, const char *address, int port)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s}", "op", op, "type", "tcp_stream",
			 "address", address, "port", port, "streams", 1, "token", "a-token-of-32",
			 "drive", "classic");
}

static json_t *plain(const char *op)
{
	return json_pack("{s:s}", "op", op);
}

static double number(const json_t *answer, const char *key)
{
	return json_number_value(json_object_get(answer, key));
}

static json_t *read_of(struct peer *p)
{
	struct err e = {0};
	json_t *answer = ask(p, plain("read"), &e);
	if (!answer) {
		fail_msg("%s", e.text);
	}
	return answer;
}

static int listen_at(struct peer *p, json_t *request)
{
	struct err e = {0};
	auto_json json_t *answer = ask(p, request, &e);
	if (!answer) {
		fail_msg("%s", e.text);
	}
	return (int)number(answer, "port");
}

static void sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&ts, NULL);
}

static void set(json_t *request, const char *key, json_t *value)
{
	json_object_set_new(request, key, value);
}

static void with(json_t *request, const char *type, const char *drive, int streams, json_t *socket)
{
	set(request, "type", json_string(type));
	set(request, "drive", json_string(drive));
	set(request, "streams", json_integer(streams));
	set(request, "socket", socket);
}

static void check_error_free(json_t *r)
{
	json_t *error = json_object_get(r, "error");
	if (!json_is_null(error)) {
		fail_msg("%s", json_string_value(error));
	}
}

/* Until the data's receiver has that many: how long it takes is the machine's affair. */
static double wait_for_bytes(struct peer *p, double least)
{
	for (int i = 0; i < 500; i++) {
		auto_json json_t *r = read_of(p);
		check_error_free(r);
		if (number(r, "bytes") >= least) {
			return number(r, "bytes");
		}
		sleep_ms(10);
	}
	fail_msg("not %.0f bytes in 5 s", least);
	return 0;
}

/* One sample up to at least so many bytes received; returns how many. from connects. */
static double sample(struct peer *from, struct peer *to, const char *address, const char *type,
		     const char *drive, int streams, const char *socket, double least)
{
	json_t *l = opening("listen", address, 0), *c;
	with(l, type, drive, streams, json_loads(socket, 0, NULL));
	int port = listen_at(to, l);
	assert_true(port > 0);
	c = opening("connect", address, port);
	with(c, type, drive, streams, json_loads(socket, 0, NULL));
	must(from, c);
	must(to, plain("start"));
	must(from, plain("start"));
	bool reverse = strcmp(type, "tcp_maerts") == 0;
	double bytes = wait_for_bytes(reverse ? from : to, least);
	auto_json json_t *s = read_of(reverse ? to : from);
	check_error_free(s);
	must(from, plain("stop"));
	must(to, plain("stop"));
	return bytes;
}

static void pair_start(struct peer *a, struct peer *b)
{
	peer_start(a, -1);
	peer_start(b, a->fd);
}

static void pair_end(struct peer *a, struct peer *b)
{
	peer_end(b);
	peer_end(a);
}

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

static void test_one_process_for_both(void **state)
{
	(void)state;
	struct peer p;
	peer_start(&p, -1);
	int port = listen_at(&p, opening("listen", "127.0.0.1", 0));
	must(&p, opening("connect", "127.0.0.1", port));
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
	refused(&p, but("type", json_string("udp_stream")), "udp_stream");
	refused(&p, but("type", json_string("tcp_rr")), "not there yet");
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

static int pair_run(struct peer *a, struct peer *b)
{
	int port = listen_at(b, opening("listen", "127.0.0.1", 0));
	must(a, opening("connect", "127.0.0.1", port));
	must(b, plain("start"));
	must(a, plain("start"));
	return port;
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
		cmocka_unit_test(test_moves_bytes),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_one_process_for_both),
		cmocka_unit_test(test_effective),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_strays_are_dropped),
		cmocka_unit_test(test_token_in_pieces),
		cmocka_unit_test(test_frozen_receiver),
		cmocka_unit_test(test_silent_sender),
		cmocka_unit_test(test_peer_gone),
		cmocka_unit_test(test_missing_connections),
		cmocka_unit_test(test_no_leaks),
		cmocka_unit_test(test_end_of_input),
		cmocka_unit_test(test_garbage_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
