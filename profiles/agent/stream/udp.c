/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sockets of a test of datagrams. One listens; whoever sends the token gets a socket of its own
 * there, connected back, so that the kernel drops the datagrams of strays. The token is sent again
 * until it comes back, as either may be lost. Moves no data; flow_udp.c does.
 */
#include "cleanup.h"
#include "stream_private.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define TOKEN_AGAIN_MS 100

int udp_listen(const struct stream_options *o, int *out, int *port, struct err *e)
{
	struct stream_address addr;
	auto_close int fd = -1;
	int r = socket_open(o, SOCK_DGRAM, &addr, &fd, e);
	if (r == 0 && o->port > 0) {
		/* Sharing is for this test's own sockets: a port in use is refused first. */
		auto_close int probe = socket(addr.addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (bind(probe, (struct sockaddr *)&addr.addr, addr.len) < 0) {
			return err_set(e, -errno, "%s: cannot listen on %s port %d: %s",
				       stream_role(o), o->address, o->port, strerror(errno));
		}
	}
	r = r < 0 ? r : socket_bind(fd, o, &addr, port, e);
	if (r == 0) {
		*out = take_fd(fd);
	}
	return r;
}

/* The token out and back, until the deadline. A wait that ends early sends nothing again. */
static int token_exchange(int fd, const char *token, double deadline, const struct udp_wait *wait)
{
	char buf[STREAM_TOKEN_MAX + 1];
	size_t size = strlen(token);
	double again = 0;
	for (double now = stream_now(); now < deadline; now = stream_now()) {
		ssize_t n = now < again ? 0 : send(fd, token, size, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EPERM && errno != ENOBUFS) {
			return -errno;
		}
		again = now < again ? again : now + TOKEN_AGAIN_MS / 1e3;
		wait->run(wait->arg, fd, (int)ceil((again - now) * 1e3));
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN) {
			return -errno;
		}
		if (n == (ssize_t)size && memcmp(buf, token, size) == 0) {
			return 0;
		}
	}
	return -ETIMEDOUT;
}

int udp_connect(const struct stream_options *o, int i, double deadline, const struct udp_wait *wait,
		int *out, struct err *e)
{
	struct stream_address addr;
	auto_close int fd = -1;
	int r = socket_open(o, SOCK_DGRAM, &addr, &fd, e);
	if (r < 0) {
		return r;
	}
	socket_bind_local(fd, o, i, &addr);
	r = connect(fd, (struct sockaddr *)&addr.addr, addr.len) < 0 ? -errno : 0;
	r = r < 0 ? r : token_exchange(fd, o->token, deadline, wait);
	if (r < 0) {
		return err_set(e, r, "%s: cannot reach %s port %d: %s", stream_role(o), o->address,
			       o->port, r == -ETIMEDOUT ? "no answer in time" : strerror(-r));
	}
	r = socket_pacing(fd, o, e);
	if (r == 0) {
		fcntl(fd, F_SETFL, 0);
		*out = take_fd(fd);
	}
	return r;
}

int udp_accept(int listen_fd, const struct stream_options *o)
{
	char buf[STREAM_TOKEN_MAX + 1];
	struct stream_address from = {.len = sizeof(from.addr)}, own = {.len = sizeof(own.addr)};
	struct stream_address parsed;
	struct err e;
	int one = 1;
	size_t size = strlen(o->token);
	ssize_t n = recvfrom(listen_fd, buf, sizeof(buf), MSG_DONTWAIT,
			     (struct sockaddr *)&from.addr, &from.len);
	if (n != (ssize_t)size || memcmp(buf, o->token, size) != 0) {
		return -1;
	}
	auto_close int fd = -1;
	if (socket_open(o, SOCK_DGRAM, &parsed, &fd, &e) < 0 ||
	    getsockname(listen_fd, (struct sockaddr *)&own.addr, &own.len) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&own.addr, own.len) < 0 ||
	    connect(fd, (struct sockaddr *)&from.addr, from.len) < 0 ||
	    send(fd, o->token, size, MSG_NOSIGNAL) < 0) {
		return -1;
	}
	fcntl(fd, F_SETFL, 0);
	return take_fd(fd);
}

uint64_t udp_drops(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(info);
	return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0 ? info[SK_MEMINFO_DROPS] : 0;
}
