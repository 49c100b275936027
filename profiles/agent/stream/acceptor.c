/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door of a listening endpoint: whoever connects must bring the test's token first, all others
 * are dropped. It never waits, so that one who says nothing keeps nobody out. Called by endpoint.c.
 */
#include "stream_private.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void acceptor_init(struct acceptor *a, int listen_fd, const char *token)
{
	memset(a, 0, sizeof(*a));
	a->listen_fd = listen_fd;
	strncpy(a->token, token, STREAM_TOKEN_MAX);
	for (int i = 0; i < ACCEPTOR_PENDING_MAX; i++) {
		a->pending[i].fd = -1;
	}
}

size_t acceptor_poll(const struct acceptor *a, struct pollfd *p)
{
	size_t n = 0;
	if (a->listen_fd < 0) {
		return 0;
	}
	p[n++] = (struct pollfd){.fd = a->listen_fd, .events = POLLIN};
	for (int i = 0; i < ACCEPTOR_PENDING_MAX; i++) {
		if (a->pending[i].fd >= 0) {
			p[n++] = (struct pollfd){.fd = a->pending[i].fd, .events = POLLIN};
		}
	}
	return n;
}

static void pending_drop(struct acceptor *a, int i)
{
	close(a->pending[i].fd);
	a->pending[i].fd = -1;
}

/* A free place; if there is none, that of the one who has been silent for longest. */
static int pending_place(struct acceptor *a)
{
	int oldest = 0;
	for (int i = 0; i < ACCEPTOR_PENDING_MAX; i++) {
		if (a->pending[i].fd < 0) {
			return i;
		}
		if (a->pending[i].since < a->pending[oldest].since) {
			oldest = i;
		}
	}
	pending_drop(a, oldest);
	return oldest;
}

static void admit_all(struct acceptor *a)
{
	/* Bounded, so that a flood does not keep the rest waiting. */
	for (int k = 0; k < 4 * ACCEPTOR_PENDING_MAX; k++) {
		int fd = accept4(a->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			return;
		}
		int i = pending_place(a);
		a->pending[i].fd = fd;
		a->pending[i].got = 0;
		a->pending[i].since = stream_now();
	}
}

/* Reads no byte beyond the token: what follows is data. True when the token is complete. */
static bool token_read(struct acceptor *a, int i)
{
	char buf[STREAM_TOKEN_MAX];
	size_t got = a->pending[i].got, want = strlen(a->token) - got;
	ssize_t n = recv(a->pending[i].fd, buf, want, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (stream_now() - a->pending[i].since > STREAM_CONNECT_S) {
			pending_drop(a, i);
		}
		return false;
	}
	if (n <= 0 || memcmp(buf, a->token + got, (size_t)n) != 0) {
		pending_drop(a, i);
		return false;
	}
	a->pending[i].got += (size_t)n;
	return a->pending[i].got == strlen(a->token);
}

int acceptor_next(struct acceptor *a)
{
	if (a->listen_fd < 0) {
		return -1;
	}
	admit_all(a);
	for (int i = 0; i < ACCEPTOR_PENDING_MAX; i++) {
		if (a->pending[i].fd >= 0 && token_read(a, i)) {
			int fd = a->pending[i].fd;
			a->pending[i].fd = -1;
			fcntl(fd, F_SETFL, 0);
			return fd;
		}
	}
	return -1;
}

void acceptor_close(struct acceptor *a)
{
	if (a->listen_fd < 0) {
		return;
	}
	for (int i = 0; i < ACCEPTOR_PENDING_MAX; i++) {
		if (a->pending[i].fd >= 0) {
			pending_drop(a, i);
		}
	}
	close(a->listen_fd);
	a->listen_fd = -1;
}
