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
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define LIGHT_RECEIVE_BUFFER (4 * 1024 * 1024)
#define LIGHT_RECEIVE_LOWAT  (1024 * 1024)
#define USER_TIMEOUT_MS	     5000

double stream_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

const char *tcp_name(int fd, bool far, char *buf, size_t size)
{
	struct stream_address a = {.len = sizeof(a.addr)};
	struct sockaddr *sa = (struct sockaddr *)&a.addr;
	char host[NI_MAXHOST], port[NI_MAXSERV];
	int r = far ? getpeername(fd, sa, &a.len) : getsockname(fd, sa, &a.len);
	if (r < 0 || getnameinfo(sa, a.len, host, sizeof(host), port, sizeof(port),
				 NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		snprintf(buf, size, "?");
	} else {
		snprintf(buf, size, "%.*s port %s", (int)(size > 16 ? size - 16 : 0), host, port);
	}
	return buf;
}

/* Numbers only, also with a scope ("fe80::1%eth0"): no name service may delay or falsify a test. */
static int address_parse(const struct stream_options *o, struct stream_address *out, struct err *e)
{
	struct addrinfo *list,
		hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	char port[8];
	snprintf(port, sizeof(port), "%d", o->port);
	int r = getaddrinfo(o->address, port, &hints, &list);
	if (r != 0) {
		return err_set(e, -EINVAL, "%s: address %s: %s", stream_role(o), o->address,
			       gai_strerror(r));
	}
	memcpy(&out->addr, list->ai_addr, list->ai_addrlen);
	out->len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}

static int option_set(int fd, int level, int name, int value, const char *what,
		      const struct stream_options *o, struct err *e)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) < 0) {
		return err_set(e, -errno, "%s: %s cannot be set to %d: %s", stream_role(o), what,
			       value, strerror(errno));
	}
	return 0;
}

/* Would the kernel grant light's receive buffer? A buffer cut down to rmem_max is worse than
 * autotuning, and setting it cannot be undone on the same socket. */
static bool has_room_for_light(void)
{
	int size = LIGHT_RECEIVE_BUFFER, granted = 0;
	socklen_t len = sizeof(granted);
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &len) == 0 && granted >= size;
}

/* Buffers decide the window scale, so they are set before listen and connect, and only if asked:
 * setting one ends its autotuning. */
static int buffers_set(int fd, const struct stream_options *o, struct err *e)
{
	int64_t receive = o->asked.receive_buffer;
	int r = 0;
	if (receive < 0 && o->light && !o->sends && !o->autotune && has_room_for_light()) {
		receive = LIGHT_RECEIVE_BUFFER;
	}
	if (receive > 0) {
		r = option_set(fd, SOL_SOCKET, SO_RCVBUF, (int)receive, "socket.receive_buffer", o,
			       e);
	}
	if (r == 0 && o->asked.send_buffer > 0) {
		r = option_set(fd, SOL_SOCKET, SO_SNDBUF, (int)o->asked.send_buffer,
			       "socket.send_buffer", o, e);
	}
	return r;
}

static int pacing_set(int fd, const struct stream_options *o, struct err *e)
{
	uint64_t bytes_per_s = (uint64_t)o->asked.pacing_rate / 8;
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)) < 0) {
		return err_set(e, -errno, "%s: socket.pacing_rate cannot be set: %s",
			       stream_role(o), strerror(errno));
	}
	return 0;
}

int tcp_prepare(int fd, const struct stream_options *o, struct err *e)
{
	bool light_receiver = o->light && !o->sends && !o->autotune;
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
		int r = option_set(fd, options[i].level, options[i].name, (int)options[i].value,
				   options[i].what, o, e);
		if (r < 0) {
			return r;
		}
	}
	return o->asked.pacing_rate > 0 ? pacing_set(fd, o, e) : 0;
}

static int socket_open(const struct stream_options *o, struct stream_address *addr, int *out,
		       struct err *e)
{
	int r = address_parse(o, addr, e);
	if (r < 0) {
		return r;
	}
	auto_close int fd = socket(addr->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   0);
	if (fd < 0) {
		return err_set(e, -errno, "%s: no socket: %s", stream_role(o), strerror(errno));
	}
	r = buffers_set(fd, o, e);
	if (r == 0) {
		*out = take_fd(fd);
	}
	return r;
}

int tcp_listen(const struct stream_options *o, int *out, int *port, struct err *e)
{
	struct stream_address addr;
	auto_close int fd = -1;
	int one = 1, r = socket_open(o, &addr, &fd, e);
	if (r < 0) {
		return r;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr.addr, addr.len) < 0 ||
	    listen(fd, o->streams + ACCEPTOR_PENDING_MAX) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr.addr, &addr.len) < 0) {
		return err_set(e, -errno, "%s: cannot listen on %s port %d: %s", stream_role(o),
			       o->address, o->port, strerror(errno));
	}
	/* sin_port and sin6_port lie at the same place */
	*port = ntohs(((struct sockaddr_in *)&addr.addr)->sin_port);
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

int tcp_connect(const struct stream_options *o, double deadline, int *out, struct err *e)
{
	struct stream_address addr;
	auto_close int fd = -1;
	int r = socket_open(o, &addr, &fd, e);
	if (r < 0) {
		return r;
	}
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
