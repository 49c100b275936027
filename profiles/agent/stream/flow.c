/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One connection and the thread that moves its bytes, as fast as it can, in blocking calls. The
 * struct is local: others read the counter and stop it through the functions. It reads no clock;
 * who wants a rate takes the counter and the time together (endpoint.c).
 */
#include "cleanup.h"
#include "stream_private.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define STACK_SIZE (256 * 1024)

/* End of stream, told apart from every errno. */
#define PEER_CLOSED 100000

struct flow {
	int fd;
	bool sends, running;
	size_t call_size;
	int ring;
	char peer[STREAM_NAME_MAX];
	pthread_t thread;
	atomic_bool stopping;
	atomic_int error;
	/* Written by the thread at each call: a cache line of its own, away from the above. */
	_Alignas(64) atomic_uint_least64_t bytes;
};

/* Not all zeros, so that nothing on the way can find it easy. */
static void fill(char *buf, size_t size)
{
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i + sizeof(x) <= size; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(buf + i, &x, sizeof(x));
	}
}

static void count(struct flow *f, size_t n)
{
	/* This thread alone writes it: no locked instruction is needed. */
	uint64_t b = atomic_load_explicit(&f->bytes, memory_order_relaxed);
	atomic_store_explicit(&f->bytes, b + n, memory_order_relaxed);
}

static bool is_stopping(struct flow *f)
{
	return atomic_load_explicit(&f->stopping, memory_order_relaxed);
}

/* Each returns 0 when it was stopped, else why it ended. */
static int send_loop(struct flow *f, char *buf)
{
	for (int slot = 0; !is_stopping(f); slot = slot + 1 < f->ring ? slot + 1 : 0) {
		ssize_t n = send(f->fd, buf + (size_t)slot * f->call_size, f->call_size,
				 MSG_NOSIGNAL);
		if (n > 0) {
			count(f, (size_t)n);
		} else if (n < 0 && errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static int receive_loop(struct flow *f, char *buf)
{
	while (!is_stopping(f)) {
		ssize_t n = recv(f->fd, buf, f->call_size, 0);
		if (n > 0) {
			count(f, (size_t)n);
		} else if (n == 0) {
			return PEER_CLOSED;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static void *flow_main(void *arg)
{
	struct flow *f = arg;
	size_t size = f->call_size * (size_t)f->ring;
	/* Made and first touched here, so that the pages are near the CPU that uses them. */
	char *buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED) {
		atomic_store(&f->error, ENOMEM);
		return NULL;
	}
	if (f->sends) {
		fill(buf, size);
	} else {
		memset(buf, 0x55, size);
	}
	int error = f->sends ? send_loop(f, buf) : receive_loop(f, buf);
	munmap(buf, size);
	if (error && !is_stopping(f)) {
		atomic_store(&f->error, error);
	}
	return NULL;
}

int flow_create(int fd, const struct stream_options *o, struct flow **out, struct err *e)
{
	struct flow *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	if (!f) {
		close(fd);
		return err_set(e, -ENOMEM, "%s: no memory for a stream", stream_role(o));
	}
	memset(f, 0, sizeof(*f));
	f->fd = fd;
	f->sends = o->sends;
	f->call_size = o->call_size;
	f->ring = o->ring;
	tcp_name(fd, true, f->peer, sizeof(f->peer));
	*out = f;
	return 0;
}

int flow_start(struct flow *f, struct err *e)
{
	pthread_attr_t attr;
	sigset_t all, old;
	if (f->running) {
		return 0;
	}
	/* Signals are for the thread that serves the requests. */
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&f->thread, &attr, flow_main, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (r != 0) {
		return err_set(e, -r, "%s: no thread for a stream: %s",
			       f->sends ? "sender" : "receiver", strerror(r));
	}
	f->running = true;
	return 0;
}

int flow_fd(const struct flow *f)
{
	return f->fd;
}

uint64_t flow_bytes(const struct flow *f)
{
	return atomic_load_explicit(&f->bytes, memory_order_relaxed);
}

bool flow_failed(const struct flow *f, char *why, size_t size)
{
	int error = atomic_load(&f->error);
	if (!error) {
		return false;
	}
	snprintf(why, size, "%s: connection %s %s: %s", f->sends ? "sender" : "receiver",
		 f->sends ? "to" : "from", f->peer,
		 error == PEER_CLOSED ? "closed by the other side" : strerror(error));
	return true;
}

void flow_wake(struct flow *f)
{
	atomic_store(&f->stopping, true);
	if (f->fd >= 0) {
		shutdown(f->fd, SHUT_RDWR);
	}
}

void flow_stop(struct flow *f)
{
	/* A reset instead of an orderly end: what is still queued must not run into the next
	 * sample. */
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	flow_wake(f);
	if (f->running) {
		pthread_join(f->thread, NULL);
		f->running = false;
	}
	if (f->fd >= 0) {
		setsockopt(f->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(f->fd);
		f->fd = -1;
	}
}

void flow_destroy(struct flow *f)
{
	if (f) {
		flow_stop(f);
		free(f);
	}
}
