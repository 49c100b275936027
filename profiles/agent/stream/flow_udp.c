/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Datagrams: a sender that numbers them and keeps to a rate if one is asked, a receiver that
 * counts them and remembers the highest number. Who lost the others is found out elsewhere, from
 * the sockets' and the host's counters.
 */
#include "cleanup.h"
#include "flow_private.h"
#include "udp_marker.h"
#include "udp_segments.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define BATCH	     32
#define BURST_S	     0.001 /* of a paced sender: what it sends between two sleeps */
#define BUSY_SLEEP_S 0.0001

struct batch {
	char *memory;
	size_t size;
	int bundle; /* so many in one call, by the kernel's own cutting; 0: none */
	struct mmsghdr m[BATCH];
	struct iovec v[BATCH];
};

static bool batch_init(struct batch *b, struct flow_lane *lane, size_t size)
{
	memset(b, 0, sizeof(*b));
	b->size = size;
	b->memory = flow_map(lane, BATCH * size);
	for (int i = 0; b->memory && i < BATCH; i++) {
		b->v[i] = (struct iovec){b->memory + (size_t)i * size, size};
		b->m[i].msg_hdr.msg_iov = &b->v[i];
		b->m[i].msg_hdr.msg_iovlen = 1;
	}
	return b->memory != NULL;
}

static void batch_clear(struct batch *b, struct flow_lane *lane)
{
	flow_unmap(lane, b->memory, BATCH * b->size);
}

static void sleep_s(double s)
{
	struct timespec ts = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

struct pace {
	double interval; /* s a datagram; 0: as fast as it goes */
	double start;	 /* of the schedule */
	uint64_t due;	 /* datagrams since then */
};

/* How many may go now, at most n; sleeps until it is at least one. A sender that was held up for
 * long does not make up for it in one burst. */
static int pace_take(struct pace *p, struct flow_lane *lane, int n)
{
	while (p->interval > 0 && !flow_is_stopping(lane)) {
		double now = stream_now();
		double behind = (now - p->start) / p->interval - (double)p->due;
		if (behind > 2 * BURST_S / p->interval + BATCH) {
			p->start = now;
			p->due = 0;
		} else if (behind >= 1) {
			n = behind < n ? (int)behind : n;
			break;
		} else {
			/* To the next group, not to the next datagram: a sleep costs more. */
			double group = BURST_S > p->interval ? BURST_S : p->interval;
			sleep_s(group);
			flow_add(&lane->bursts, 1);
		}
	}
	p->due += (uint64_t)n;
	return n;
}

/* What a full queue or a firewall does to a datagram is loss, not the end of the test. */
static bool is_only_loss(int error)
{
	return error == ENOBUFS || error == EPERM || error == EAGAIN || error == EINTR ||
	       error == ENOMEM;
}

static void bundle_end(struct flow_lane *lane, struct batch *b)
{
	udp_segments_send_off(lane->flow->fd);
	atomic_store(&lane->note, "gso: refused on this way; plain");
	b->bundle = 0;
}

static void bundle_begin(struct flow_lane *lane, struct batch *b)
{
	int most = udp_segments_most(b->size);
	if (lane->flow->o->send != SEND_GSO || most < 2) {
		return;
	}
	if (!udp_segments_send_on(lane->flow->fd, b->size)) {
		atomic_store(&lane->note, "gso: not in this kernel; plain");
		return;
	}
	b->bundle = most < BATCH ? most : BATCH;
}

static int send_some(struct flow_lane *lane, struct batch *b, int n, uint64_t *number)
{
	for (int i = 0; i < n; i++) {
		udp_number_write(b->v[i].iov_base, *number + 1 + (uint64_t)i);
	}
	int fd = lane->flow->fd;
	int done = n > 1 && b->bundle == 0 ? sendmmsg(fd, b->m, (unsigned)n, MSG_NOSIGNAL)
		   : send(fd, b->memory, (size_t)n * b->size, MSG_NOSIGNAL) < 0 ? -1
										: n;
	if (done < 0) {
		int error = errno;
		if (b->bundle > 0 && udp_segments_is_refusal(error)) {
			bundle_end(lane, b);
			return 0;
		}
		if (!is_only_loss(error)) {
			return error;
		}
		/* The first was offered and refused; it is lost on this side. */
		flow_add(&lane->offered, 1);
		if (error == ENOBUFS || error == ENOMEM) {
			sleep_s(BUSY_SLEEP_S);
		}
		return 0;
	}
	*number += (uint64_t)done;
	flow_add(&lane->offered, (uint64_t)done);
	flow_add(&lane->packets_out, (uint64_t)done);
	flow_add(&lane->sent, (uint64_t)done * b->size);
	return 0;
}

int flow_udp_send(struct flow_lane *lane)
{
	const struct stream_options *o = lane->flow->o;
	double rate = o->rate / o->streams;
	struct pace pace = {.interval = rate > 0 ? 8.0 * (double)o->send_size / rate : 0,
			    .start = stream_now()};
	struct batch b;
	uint64_t number = 0;
	int error = 0;
	if (!batch_init(&b, lane, o->send_size)) {
		return ENOMEM;
	}
	bundle_begin(lane, &b);
	while (!error && !flow_is_stopping(lane)) {
		int n = pace_take(&pace, lane, b.bundle ? b.bundle : o->light ? BATCH : 1);
		error = flow_is_stopping(lane) ? 0 : send_some(lane, &b, n, &number);
	}
	batch_clear(&b, lane);
	return error;
}

static void take_marker(struct flow_lane *lane, uint64_t number)
{
	if (atomic_load(&lane->told_at) == 0) {
		atomic_store(&lane->told, number);
		atomic_store(&lane->told_at, (uint64_t)(stream_now() * 1e6));
	}
}

/* The token of a sender that has not seen it come back is answered; a number counts. */
static void take(struct flow_lane *lane, const char *data, size_t size)
{
	bool is_marker;
	const char *token = lane->flow->o->token;
	if (size == strlen(token) && memcmp(data, token, size) == 0) {
		send(lane->flow->fd, token, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		return;
	}
	uint64_t number = udp_number_read(data, size, &is_marker);
	if (is_marker) {
		take_marker(lane, number);
		return;
	}
	if (number > atomic_load_explicit(&lane->highest, memory_order_relaxed)) {
		atomic_store_explicit(&lane->highest, number, memory_order_relaxed);
	} else if (number <= atomic_load_explicit(&lane->mark, memory_order_relaxed)) {
		flow_add(&lane->late, 1);
	}
	flow_add(&lane->received, size);
	flow_add(&lane->packets_in, 1);
}

static int receive_bundle(struct flow_lane *lane, struct batch *b)
{
	size_t segment;
	ssize_t n = udp_segments_receive(lane->flow->fd, b->memory, b->size, &segment);
	for (size_t at = 0; n > 0 && at < (size_t)n; at += segment) {
		size_t left = (size_t)n - at;
		take(lane, b->memory + at, left < segment ? left : segment);
	}
	return n < 0 ? errno : 0;
}

static int receive_some(struct flow_lane *lane, struct batch *b)
{
	if (b->bundle) {
		return receive_bundle(lane, b);
	}
	if (!lane->flow->o->light) {
		ssize_t n = recv(lane->flow->fd, b->memory, b->size, 0);
		if (n > 0) {
			take(lane, b->memory, (size_t)n);
		}
		return n < 0 ? errno : 0;
	}
	int n = recvmmsg(lane->flow->fd, b->m, BATCH, MSG_WAITFORONE, NULL);
	for (int i = 0; i < n; i++) {
		take(lane, b->v[i].iov_base, b->m[i].msg_len);
	}
	return n < 0 ? errno : 0;
}

int flow_udp_receive(struct flow_lane *lane)
{
	/* A datagram socket is not in all kernels woken by shutdown. */
	struct timeval tick = {.tv_usec = 100000};
	size_t size = lane->flow->o->receive_size;
	struct batch b;
	int error = 0;
	setsockopt(lane->flow->fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof(tick));
	if (!batch_init(&b, lane, size)) {
		return ENOMEM;
	}
	b.bundle = lane->flow->o->gro && udp_segments_receive_on(lane->flow->fd);
	if (lane->flow->o->gro && !b.bundle) {
		atomic_store(&lane->note, "gro: not in this kernel; one by one");
	}
	while (!error && !flow_is_stopping(lane)) {
		error = receive_some(lane, &b);
		/* A refusal is the answer to our own answer to the token: the sender decides. */
		error = is_only_loss(error) || error == ECONNREFUSED ? 0 : error;
	}
	batch_clear(&b, lane);
	return error;
}
