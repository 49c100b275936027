/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moves frames between two AF_PACKET sockets at the times that link_queue.c gives. Frames travel
 * as large as TCP made them (GSO, by the virtio header), so that gigabits cost few system calls.
 * It sleeps between due times instead of waking for each frame: the kernel stamps arrivals, so a
 * late look loses no accuracy. Called by lab.c in a process of its own.
 */
#include "link.h"
#include "cleanup.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* newer than the headers of Debian 12's libc */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define BATCH	    128
#define PORT_BUFFER (64 << 20)
#define QUANTUM_MAX 1000000u /* ns between two looks at the inputs while frames are under way */
#define QUANTUM_MIN 50000u   /* below this the inputs are polled */
#define EARLY	    20000u   /* ns a frame may leave early, to save a wake-up */
#define RETRY	    20000u
#define COUNT_EVERY 1000000000u

struct direction {
	int in, out;
	struct link_queue queue;
	uint64_t drained; /* when the input was last seen empty: nothing waiting is older */
};

struct line {
	struct direction way[2];
	uint64_t quantum;
	uint64_t counted;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

static void grow_buffers(int fd)
{
	if (set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, PORT_BUFFER)) {
		set_option(fd, SOL_SOCKET, SO_RCVBUF, PORT_BUFFER);
	}
	if (set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, PORT_BUFFER)) {
		set_option(fd, SOL_SOCKET, SO_SNDBUF, PORT_BUFFER);
	}
}

int link_open_port(const char *device, struct err *e)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ALL),
				 .sll_ifindex = (int)if_nametoindex(device)};
	struct packet_mreq all = {.mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
	auto_close int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || at.sll_ifindex == 0 || set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) ||
	    set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) ||
	    set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all))) {
		return err_set(e, errno, "raw socket on %s: %s", device, strerror(errno));
	}
	set_option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
	grow_buffers(fd);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		return err_set(e, errno, "raw socket on %s: %s", device, strerror(errno));
	}
	return take_fd(fd);
}

/* Bytes that a wire would carry: a large frame is cut there, each piece with headers of its own. */
static size_t wire_bytes(const char *data, size_t len)
{
	const struct virtio_net_hdr *h = (const struct virtio_net_hdr *)data;
	const char *frame = data + sizeof(*h);
	len -= sizeof(*h);
	size_t head = h->csum_start + 8u; /* UDP */
	if (h->gso_type == VIRTIO_NET_HDR_GSO_NONE || h->gso_size == 0) {
		return len;
	}
	if (h->gso_type != VIRTIO_NET_HDR_GSO_UDP_L4 && h->csum_start + 13u < len) {
		head = h->csum_start + (size_t)((frame[h->csum_start + 12] >> 4) & 15) * 4;
	}
	if (head >= len) {
		return len;
	}
	size_t pieces = (len - head + h->gso_size - 1) / h->gso_size;
	return len + (pieces - 1) * head;
}

/* How long ago the kernel took the frame in, ns; at most the time since the input was empty, so
 * that a step of the clock cannot put a frame into the past. */
static uint64_t frame_age(struct msghdr *m, uint64_t real, uint64_t at_most)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct timespec t;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) {
		return 0;
	}
	memcpy(&t, CMSG_DATA(c), sizeof(t));
	uint64_t stamp = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	uint64_t age = stamp < real ? real - stamp : 0;
	return age < at_most ? age : at_most;
}

/* One frame into the queue. 0, or -errno when there is none. */
static int receive_one(struct direction *d, uint64_t now, uint64_t real)
{
	char control[CMSG_SPACE(sizeof(struct timespec))], scrap[sizeof(struct virtio_net_hdr)];
	char *room = link_queue_reserve(&d->queue);
	struct iovec v = {.iov_base = room ? room : scrap,
			  .iov_len = room ? LINK_FRAME_MAX : sizeof(scrap)};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(d->in, &m, 0);
	if (n < 0) {
		return -errno;
	}
	if (!room || (m.msg_flags & MSG_TRUNC) || (size_t)n <= sizeof(struct virtio_net_hdr)) {
		d->queue.count->ring_drops++;
		return 0;
	}
	uint64_t arrival = now - frame_age(&m, real, now - d->drained);
	link_queue_commit(&d->queue, (size_t)n, wire_bytes(room, (size_t)n), arrival);
	return 0;
}

/* Returns how many came, 0 to BATCH. */
static int receive_all(struct direction *d)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), real = now_ns(CLOCK_REALTIME);
	for (int i = 0; i < BATCH; i++) {
		int rc = receive_one(d, now, real);
		if (rc == -EAGAIN) {
			d->drained = now;
		}
		if (rc < 0) {
			return i;
		}
	}
	return BATCH;
}

/* Sends what is due; returns when to look again, UINT64_MAX if nothing waits. */
static uint64_t send_due(struct direction *d)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), due = 0;
	size_t len = 0;
	for (int i = 0; i < BATCH; i++) {
		const void *frame = link_queue_peek(&d->queue, &len, &due);
		if (!frame) {
			return UINT64_MAX;
		}
		if (due > now + EARLY) {
			return due;
		}
		if (send(d->out, frame, len, 0) < 0) {
			if (errno == EAGAIN || errno == ENOBUFS) {
				return now + RETRY;
			}
			d->queue.count->send_drops++;
		}
		link_queue_pop(&d->queue);
	}
	return now;
}

/* Frames that the socket's buffer had no room for; the kernel counts them since the last asking. */
static void count_overflows(struct line *l)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	if (now - l->counted < COUNT_EVERY) {
		return;
	}
	l->counted = now;
	for (int i = 0; i < 2; i++) {
		struct tpacket_stats s;
		socklen_t n = sizeof(s);
		if (getsockopt(l->way[i].in, SOL_PACKET, PACKET_STATISTICS, &s, &n) == 0) {
			l->way[i].queue.count->ring_drops += s.tp_drops;
		}
	}
}

/* While frames are under way only the clock matters; an idle line, or one with hardly any delay,
 * waits for its inputs. */
static void rest(struct line *l, uint64_t next, bool busy)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	struct pollfd p[2] = {{.fd = l->way[0].in, .events = POLLIN},
			      {.fd = l->way[1].in, .events = POLLIN}};
	if (busy && l->quantum && next > now + l->quantum) {
		next = now + l->quantum;
	}
	if (next <= now) {
		return;
	}
	struct timespec t = {.tv_sec = (time_t)((next - now) / 1000000000u),
			     .tv_nsec = (long)((next - now) % 1000000000u)};
	if (busy && l->quantum) {
		nanosleep(&t, NULL);
	} else {
		ppoll(p, 2, next == UINT64_MAX ? NULL : &t, NULL);
	}
}

static int start_line(struct line *l, const int port[2], const struct lab_link *link,
		      struct link_counters counters[2], struct err *e)
{
	for (int i = 0; i < 2; i++) {
		l->way[i].in = port[i];
		l->way[i].out = port[1 - i];
		l->way[i].drained = now_ns(CLOCK_MONOTONIC);
		if (link_queue_init(&l->way[i].queue, link, 1u + (unsigned)i, &counters[i])) {
			return err_set(e, -ENOMEM, "no memory for the link's queue");
		}
	}
	uint64_t quarter = l->way[0].queue.delay_ns / 4;
	l->quantum = quarter > QUANTUM_MAX ? QUANTUM_MAX : quarter;
	if (l->quantum < QUANTUM_MIN) {
		l->quantum = 0;
	}
	return 0;
}

int link_forward(const int port[2], const struct lab_link *link, struct link_counters counters[2],
		 struct err *e)
{
	struct line l = {0};
	int rc = start_line(&l, port, link, counters, e);
	if (rc) {
		return rc;
	}
	prctl(PR_SET_TIMERSLACK, 1000UL);
	for (;;) {
		uint64_t next = UINT64_MAX;
		bool busy = false;
		for (int i = 0; i < 2; i++) {
			int got = receive_all(&l.way[i]);
			uint64_t due = send_due(&l.way[i]);
			busy |= got > 0 || due != UINT64_MAX;
			due = got == BATCH ? 0 : due; /* there is more: no rest */
			next = due < next ? due : next;
		}
		count_overflows(&l);
		rest(&l, next, busy);
	}
}
