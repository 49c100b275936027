/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The emulated line: when each frame leaves, and which are dropped. A frame waits until the line
 * is free (rate), leaves, and arrives a delay later; the line's backlog in bytes is what the
 * drop-tail queue is compared with. Used by link.c only.
 */
#include "link_queue.h"
#include <errno.h>
#include <sys/mman.h>

#define RING_MIN  ((size_t)16 << 20)
#define RING_OPEN ((size_t)128 << 20) /* without a rate nothing says how much is under way */
#define RING_MAX  ((size_t)1 << 30)
#define ALIGNMENT 16

struct record {
	uint64_t due;
	size_t len;
};

/* Twice the line's own content and its queue, since a record is larger than its frame. */
static size_t ring_size(const struct link_queue *q, const struct lab_link *link)
{
	double want = RING_OPEN;
	if (link->rate_bps > 0) {
		want = 2 * (link->rate_bps / 8 * link->delay_s + (double)q->queue_bytes);
	}
	if (want < (double)RING_MIN) {
		return RING_MIN;
	}
	return want > (double)RING_MAX ? RING_MAX : (size_t)want / ALIGNMENT * ALIGNMENT;
}

int link_queue_init(struct link_queue *q, const struct lab_link *link, uint64_t seed,
		    struct link_counters *count)
{
	*q = (struct link_queue){
		.delay_ns = (uint64_t)(link->delay_s * 1e9),
		.ns_per_byte = link->rate_bps > 0 ? 8e9 / link->rate_bps : 0,
		.queue_bytes = link->queue_bytes > 0 ? link->queue_bytes : LINK_QUEUE_BYTES,
		.loss = link->loss,
		.random = seed | 1,
		.count = count,
	};
	q->size = ring_size(q, link);
	q->ring = mmap(NULL, q->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (q->ring == MAP_FAILED) {
		q->ring = NULL;
		return -ENOMEM;
	}
	return 0;
}

void link_queue_clear(struct link_queue *q)
{
	if (q->ring) {
		munmap(q->ring, q->size);
	}
	q->ring = NULL;
}

static bool wrapped(const struct link_queue *q)
{
	return q->end != 0;
}

void *link_queue_reserve(struct link_queue *q)
{
	const size_t need = sizeof(struct record) + LINK_FRAME_MAX + ALIGNMENT;
	if (q->n == 0) { /* start over at the front: warm memory */
		q->head = q->tail = q->end = 0;
	}
	if (!wrapped(q) && q->size - q->tail < need && q->head > need) {
		q->end = q->tail;
		q->tail = 0;
	}
	size_t room = wrapped(q) ? q->head - q->tail : q->size - q->tail;
	return room > need ? q->ring + q->tail + sizeof(struct record) : NULL;
}

/* xorshift64*: good enough for loss, and the same on every machine. */
static double draw(struct link_queue *q)
{
	q->random ^= q->random >> 12;
	q->random ^= q->random << 25;
	q->random ^= q->random >> 27;
	return (double)((q->random * 2685821657736338717ull) >> 11) / 9007199254740992.0;
}

bool link_queue_commit(struct link_queue *q, size_t len, size_t wire, uint64_t arrival)
{
	uint64_t leaves = arrival;
	if (q->loss > 0 && draw(q) < q->loss) {
		q->count->loss_drops++;
		return false;
	}
	if (q->ns_per_byte > 0) {
		uint64_t start = q->busy_until > arrival ? q->busy_until : arrival;
		double backlog = (double)(start - arrival) / q->ns_per_byte;
		if (start > arrival && backlog + (double)wire > (double)q->queue_bytes) {
			q->count->queue_drops++;
			return false;
		}
		leaves = start + (uint64_t)((double)wire * q->ns_per_byte);
		q->busy_until = leaves;
	}
	struct record *r = (struct record *)(q->ring + q->tail);
	*r = (struct record){.due = leaves + q->delay_ns, .len = len};
	q->tail += (sizeof(*r) + len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	q->n++;
	q->count->frames++;
	q->count->bytes += wire;
	return true;
}

const void *link_queue_peek(const struct link_queue *q, size_t *len, uint64_t *due)
{
	if (q->n == 0) {
		return NULL;
	}
	const struct record *r = (const struct record *)(q->ring + q->head);
	*len = r->len;
	*due = r->due;
	return r + 1;
}

void link_queue_pop(struct link_queue *q)
{
	const struct record *r = (const struct record *)(q->ring + q->head);
	q->head += (sizeof(*r) + r->len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	q->n--;
	if (wrapped(q) && q->head == q->end) {
		q->head = 0;
		q->end = 0;
	}
}
