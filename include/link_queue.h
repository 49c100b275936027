/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One direction of the lab's user-space link as arithmetic: a rate, a drop-tail queue counted in
 * bytes, random loss, and a fixed delay, over a ring of frames. No sockets and no clock: the
 * caller gives arrival times. Used by link.c.
 */
#ifndef TUNESWEEP_LINK_QUEUE_H
#define TUNESWEEP_LINK_QUEUE_H

#include "launcher.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_FRAME_MAX	 66000	   /* virtio header and a frame of 64 KiB */
#define LINK_QUEUE_BYTES (4 << 20) /* where the user names no queue */

struct link_counters {
	uint64_t frames, bytes;		  /* passed on; bytes as on a wire */
	uint64_t queue_drops, loss_drops; /* frames: tail of the queue, chance */
	uint64_t ring_drops, send_drops;  /* frames: no memory here, refused by the device */
};

struct link_queue {
	char *ring;
	size_t size, head, tail, end, n; /* end: where the records before a wrap stop */
	uint64_t delay_ns, busy_until;
	double ns_per_byte;
	int64_t queue_bytes;
	double loss;
	uint64_t random;
	struct link_counters *count; /* borrowed */
};

/* -ENOMEM. seed decides which frames are lost. */
int link_queue_init(struct link_queue *q, const struct lab_link *link, uint64_t seed,
		    struct link_counters *count);
void link_queue_clear(struct link_queue *q);

/* Room for a frame of up to LINK_FRAME_MAX bytes, or NULL when the ring is full. The next reserve
 * gives the same room unless a commit came between. */
void *link_queue_reserve(struct link_queue *q);

/* Accepts the frame that was written to the reserved room: len bytes in memory, wire bytes on a
 * wire, come in at arrival (ns). false: dropped, and counted. */
bool link_queue_commit(struct link_queue *q, size_t len, size_t wire, uint64_t arrival);

/* The frame that leaves next and when; NULL if there is none. */
const void *link_queue_peek(const struct link_queue *q, size_t *len, uint64_t *due);
void link_queue_pop(struct link_queue *q);

#endif
