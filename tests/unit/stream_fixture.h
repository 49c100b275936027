/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of the stream endpoints: a process that serves them, requests to it over a socket
 * pair, and one whole sample over loopback between two of them.
 */
#ifndef TUNESWEEP_STREAM_FIXTURE_H
#define TUNESWEEP_STREAM_FIXTURE_H

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

static inline void peer_start(struct peer *p, int close_fd)
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
		_exit(stream_serve(fd[1], NULL));
	}
	close(fd[1]);
	p->fd = fd[0];
	assert_int_equal(channel_init(&p->c, fd[0], fd[0]), 0);
}

static inline void peer_end(struct peer *p)
{
	int status;
	close(p->fd);
	channel_clear(&p->c);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The answer, or NULL with e. */
static inline json_t *ask(struct peer *p, json_t *request, struct err *e)
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

static inline void must(struct peer *p, json_t *request)
{
	struct err e = {0};
	json_t *answer = ask(p, request, &e);
	if (!answer) {
		fail_msg("%s", e.text);
	}
	json_decref(answer);
}

static inline json_t *opening(const char *op, const char *address, int port)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s}", "op", op, "type", "tcp_stream",
			 "address", address, "port", port, "streams", 1, "token", "a-token-of-32",
			 "drive", "classic");
}

static inline json_t *plain(const char *op)
{
	return json_pack("{s:s}", "op", op);
}

static inline double number(const json_t *answer, const char *key)
{
	return json_number_value(json_object_get(answer, key));
}

static inline json_t *read_of(struct peer *p)
{
	struct err e = {0};
	json_t *answer = ask(p, plain("read"), &e);
	if (!answer) {
		fail_msg("%s", e.text);
	}
	return answer;
}

static inline int listen_at(struct peer *p, json_t *request)
{
	struct err e = {0};
	auto_json json_t *answer = ask(p, request, &e);
	if (!answer) {
		fail_msg("%s", e.text);
	}
	return (int)number(answer, "port");
}

static inline void sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&ts, NULL);
}

static inline void set(json_t *request, const char *key, json_t *value)
{
	json_object_set_new(request, key, value);
}

static inline void with(json_t *request, const char *type, const char *drive, int streams,
			json_t *socket)
{
	set(request, "type", json_string(type));
	set(request, "drive", json_string(drive));
	set(request, "streams", json_integer(streams));
	set(request, "socket", socket);
}

static inline void check_error_free(json_t *r)
{
	json_t *error = json_object_get(r, "error");
	if (!json_is_null(error)) {
		fail_msg("%s", json_string_value(error));
	}
}

/* Until the data's receiver has that many: how long it takes is the machine's affair. */
static inline double wait_for_bytes(struct peer *p, double least)
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
static inline double sample(struct peer *from, struct peer *to, const char *address,
			    const char *type, const char *drive, int streams, const char *socket,
			    double least)
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

/* Three streams on CPU 0. */
static inline void type_start(struct peer *a, struct peer *b, const char *type, const char *drive,
			      const char *socket, double rate)
{
	json_t *l = opening("listen", "127.0.0.1", 0), *c;
	with(l, type, drive, 3, json_loads(socket, 0, NULL));
	c = opening("connect", "127.0.0.1", listen_at(b, l));
	with(c, type, drive, 3, json_loads(socket, 0, NULL));
	set(c, "rate", json_real(rate));
	set(c, "cpus", json_pack("[i]", 0));
	must(a, c);
	must(b, plain("start"));
	must(a, plain("start"));
}

static inline void both_stop(struct peer *a, struct peer *b)
{
	must(a, plain("stop"));
	must(b, plain("stop"));
}

static inline void pair_start(struct peer *a, struct peer *b)
{
	peer_start(a, -1);
	peer_start(b, a->fd);
}

static inline void pair_end(struct peer *a, struct peer *b)
{
	peer_end(b);
	peer_end(a);
}

static inline int pair_run(struct peer *a, struct peer *b)
{
	int port = listen_at(b, opening("listen", "127.0.0.1", 0));
	must(a, opening("connect", "127.0.0.1", port));
	must(b, plain("start"));
	must(a, plain("start"));
	return port;
}

#endif
