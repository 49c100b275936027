/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The TCP sockets of a test: listening and connecting with what was asked set at the right moment,
 * and what the kernel made of it. Moves no data; flow.c does. Every wait has a limit.
 */
#include "cleanup.h"
#include "stream_private.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define LIGHT_RECEIVE_LOWAT (2 * 1024 * 1024)
#define USER_TIMEOUT_MS	    5000

int tcp_prepare(int fd, const struct stream_options *o, struct err *e)
{
	bool light_receiver = o->light && o->receives && !o->autotune;
	int64_t lowat = o->asked.receive_lowat >= 0 ? o->asked.receive_lowat
			: light_receiver	    ? LIGHT_RECEIVE_LOWAT
						    : 0;
	const struct {
		int64_t value;
		int level, name;
		const char *what;
	} options[] = {
		{USER_TIMEOUT_MS, IPPROTO_TCP, TCP_USER_TIMEOUT, "TCP_USER_TIMEOUT"},
		{o->asked.nodelay, IPPROTO_TCP, TCP_NODELAY, "socket.nodelay"},
		{o->asked.cork, IPPROTO_TCP, TCP_CORK, "socket.cork"},
		{o->asked.notsent_lowat, IPPROTO_TCP, TCP_NOTSENT_LOWAT, "socket.notsent_lowat"},
		{o->asked.busy_poll, SOL_SOCKET, SO_BUSY_POLL, "socket.busy_poll"},
		{lowat, SOL_SOCKET, SO_RCVLOWAT, "socket.receive_lowat"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].value <= 0) {
			continue;
		}
		int r = socket_set(fd, options[i].level, options[i].name, (int)options[i].value,
				   options[i].what, o, e);
		if (r < 0) {
			return r;
		}
	}
	return socket_pacing(fd, o, e);
}

int tcp_listen(const struct stream_options *o, int *out, int *port, struct err *e)
{
	struct stream_address addr;
	auto_close int fd = -1;
	int r = socket_open(o, SOCK_STREAM, &addr, &fd, e);
	r = r < 0 ? r : socket_bind(fd, o, &addr, port, e);
	if (r < 0) {
		return r;
	}
	if (listen(fd, o->streams + ACCEPTOR_PENDING_MAX) < 0) {
		return err_set(e, -errno, "%s: cannot listen on %s port %d: %s", stream_role(o),
			       o->address, o->port, strerror(errno));
	}
	*out = take_fd(fd);
	return 0;
}

static int connect_wait(int fd, double deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = 0, n;
	socklen_t len = sizeof(error);
	do {
		double left = deadline - stream_now();
		n = left > 0 ? poll(&p, 1, (int)ceil(left * 1000)) : 0;
	} while (n < 0 && errno == EINTR);
	if (n <= 0) {
		return n < 0 ? -errno : -ETIMEDOUT;
	}
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? -errno : -error;
}

int tcp_connect(const struct stream_options *o, int i, double deadline, int *out, struct err *e)
{
	struct stream_address addr;
	auto_close int fd = -1;
	int r = socket_open(o, SOCK_STREAM, &addr, &fd, e);
	if (r < 0) {
		return r;
	}
	socket_bind_local(fd, o, i, &addr);
	if (connect(fd, (struct sockaddr *)&addr.addr, addr.len) < 0) {
		r = errno == EINPROGRESS ? connect_wait(fd, deadline) : -errno;
	}
	if (r < 0) {
		return err_set(e, r, "%s: cannot connect to %s port %d: %s", stream_role(o),
			       o->address, o->port,
			       r == -ETIMEDOUT ? "no answer in time" : strerror(-r));
	}
	ssize_t n = send(fd, o->token, strlen(o->token), MSG_NOSIGNAL);
	if (n != (ssize_t)strlen(o->token)) {
		return err_set(e, n < 0 ? -errno : -EIO, "%s: %s port %d does not take the token",
			       stream_role(o), o->address, o->port);
	}
	fcntl(fd, F_SETFL, 0);
	*out = take_fd(fd);
	return 0;
}
