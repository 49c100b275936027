/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sockets of all tests have in common: the address, the buffers, binding, one option after
 * another with its name in the error. Called by tcp.c and udp.c.
 */
#include "cleanup.h"
#include "stream_private.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define LIGHT_RECEIVE_BUFFER (4 * 1024 * 1024)

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
static int address_parse(const struct stream_options *o, int kind, struct stream_address *out,
			 struct err *e)
{
	struct addrinfo *list,
		hints = {.ai_socktype = kind, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	char port[8];
	snprintf(port, sizeof(port), "%d", o->port);
	int r = getaddrinfo(o->address, port, &hints, &list);
	if (r != 0) {
		return err_set(e, -EINVAL, "%s: address %s: %s", stream_role(o), o->address,
			       r == EAI_NONAME ? "not an address in numbers" : gai_strerror(r));
	}
	memcpy(&out->addr, list->ai_addr, list->ai_addrlen);
	out->len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}

int socket_set(int fd, int level, int name, int value, const char *what,
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
static bool has_room_for_light(int kind)
{
	int size = LIGHT_RECEIVE_BUFFER, granted = 0;
	socklen_t len = sizeof(granted);
	auto_close int fd = socket(AF_INET, kind | SOCK_CLOEXEC, 0);
	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &len) == 0 && granted >= size;
}

/* Buffers decide the window scale, so they are set before listen and connect, and only if asked:
 * setting one ends its autotuning. */
static int buffers_set(int fd, int kind, const struct stream_options *o, struct err *e)
{
	int64_t receive = o->asked.receive_buffer;
	int r = 0;
	if (receive < 0 && o->light && o->receives && !o->autotune && has_room_for_light(kind)) {
		receive = LIGHT_RECEIVE_BUFFER;
	}
	if (receive > 0) {
		r = socket_set(fd, SOL_SOCKET, SO_RCVBUF, (int)receive, "socket.receive_buffer", o,
			       e);
	}
	if (r == 0 && o->asked.send_buffer > 0) {
		r = socket_set(fd, SOL_SOCKET, SO_SNDBUF, (int)o->asked.send_buffer,
			       "socket.send_buffer", o, e);
	}
	return r;
}

int socket_pacing(int fd, const struct stream_options *o, struct err *e)
{
	uint64_t bytes_per_s = (uint64_t)o->asked.pacing_rate / 8;
	if (o->asked.pacing_rate <= 0) {
		return 0;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)) < 0) {
		return err_set(e, -errno, "%s: socket.pacing_rate cannot be set: %s",
			       stream_role(o), strerror(errno));
	}
	return 0;
}

int socket_open(const struct stream_options *o, int kind, struct stream_address *addr, int *out,
		struct err *e)
{
	int r = address_parse(o, kind, addr, e);
	if (r < 0) {
		return r;
	}
	auto_close int fd = socket(addr->addr.ss_family, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return err_set(e, -errno, "%s: no socket for %s: %s", stream_role(o), o->address,
			       strerror(errno));
	}
	r = buffers_set(fd, kind, o, e);
	if (r == 0) {
		*out = take_fd(fd);
	}
	return r;
}

/* sin_port and sin6_port lie at the same place */
static in_port_t *port_of(struct stream_address *a)
{
	return &((struct sockaddr_in *)&a->addr)->sin_port;
}

int socket_bind(int fd, const struct stream_options *o, struct stream_address *addr, int *port,
		struct err *e)
{
	int one = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr->addr, addr->len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr->addr, &addr->len) < 0) {
		return err_set(e, -errno, "%s: cannot listen on %s port %d: %s", stream_role(o),
			       o->address, o->port, strerror(errno));
	}
	*port = ntohs(*port_of(addr));
	return 0;
}

void socket_bind_local(int fd, const struct stream_options *o, int i,
		       const struct stream_address *to)
{
	int one = 1;
	struct stream_address own = {.len = to->len};
	if (i >= o->n_local || o->local[i] <= 0) {
		return;
	}
	own.addr.ss_family = to->addr.ss_family;
	*port_of(&own) = htons((uint16_t)o->local[i]);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* Someone else has it by now: any other port is better than no sample. */
	(void)!bind(fd, (struct sockaddr *)&own.addr, own.len);
}

int socket_port(int fd)
{
	struct stream_address a = {.len = sizeof(a.addr)};
	return getsockname(fd, (struct sockaddr *)&a.addr, &a.len) == 0 ? ntohs(*port_of(&a)) : 0;
}
