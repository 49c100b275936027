/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The emulated line's arithmetic: delay, rate, drop-tail queue, loss, and a ring that wraps
 * without mixing frames up.
 */
#include "cleanup.h"
#include "link_queue.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

static bool put(struct link_queue *q, size_t len, uint64_t arrival, unsigned mark)
{
	unsigned *room = link_queue_reserve(q);
	if (!room) {
		return false;
	}
	memset(room, (int)(mark & 0xff), len);
	*room = mark;
	return link_queue_commit(q, len, len, arrival);
}

static uint64_t take(struct link_queue *q, size_t *len, unsigned *mark)
{
	uint64_t due = 0;
	const unsigned *frame = link_queue_peek(q, len, &due);
	assert_non_null(frame);
	*mark = *frame;
	for (size_t i = sizeof(*mark); i < *len; i += 97) {
		assert_int_equal(((const unsigned char *)frame)[i], *mark & 0xff);
	}
	link_queue_pop(q);
	return due;
}

static void test_delay_alone(void **state)
{
	(void)state;
	struct link_counters count = {0};
	struct link_queue q;
	struct lab_link link = {.delay_s = 0.02};
	size_t len;
	unsigned mark;
	assert_int_equal(link_queue_init(&q, &link, 1, &count), 0);
	assert_null(link_queue_peek(&q, &len, &(uint64_t){0}));
	for (unsigned i = 0; i < 100; i++) {
		assert_true(put(&q, 1000, i * MS, i));
	}
	for (unsigned i = 0; i < 100; i++) {
		assert_true(take(&q, &len, &mark) == (i + 20) * MS);
		assert_int_equal(mark, i);
		assert_int_equal(len, 1000);
	}
	assert_null(link_queue_peek(&q, &len, &(uint64_t){0}));
	assert_int_equal(count.frames, 100);
	assert_int_equal(count.bytes, 100000);
	link_queue_clear(&q);
}

/* 8 Mbit/s are 1000 bytes a millisecond: frames that come together leave one after the other. */
static void test_rate(void **state)
{
	(void)state;
	struct link_counters count = {0};
	struct link_queue q;
	struct lab_link link = {.delay_s = 0.001, .rate_bps = 8e6};
	size_t len;
	unsigned mark;
	assert_int_equal(link_queue_init(&q, &link, 1, &count), 0);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(put(&q, 1000, 0, i));
	}
	assert_true(put(&q, 1000, 50 * MS, 10)); /* after a pause the line is free: no credit */
	for (unsigned i = 0; i < 10; i++) {
		assert_true(take(&q, &len, &mark) == (i + 1 + 1) * MS);
	}
	assert_true(take(&q, &len, &mark) == 52 * MS);
	link_queue_clear(&q);
}

static void test_drop_tail(void **state)
{
	(void)state;
	struct link_counters count = {0};
	struct link_queue q;
	struct lab_link link = {.rate_bps = 8e6, .queue_bytes = 5000};
	unsigned taken = 0;
	assert_int_equal(link_queue_init(&q, &link, 1, &count), 0);
	for (unsigned i = 0; i < 20; i++) {
		taken += put(&q, 1000, 0, i);
	}
	assert_int_equal(taken, 5); /* as many as the queue holds */
	assert_int_equal(count.queue_drops, 15);
	assert_true(put(&q, 1000, 1 * MS, 20)); /* one has left by then */
	assert_false(put(&q, 1000, 1 * MS, 21));
	link_queue_clear(&q);

	/* A frame larger than the whole queue passes an empty line: it would never pass otherwise.
	 */
	assert_int_equal(link_queue_init(&q, &link, 1, &count), 0);
	assert_true(put(&q, 60000, 0, 1));
	assert_false(put(&q, 100, 0, 2));
	link_queue_clear(&q);
}

static void test_loss(void **state)
{
	(void)state;
	struct link_counters count = {0};
	struct link_queue q;
	struct lab_link link = {.loss = 0.1};
	size_t len;
	unsigned mark, kept = 0;
	assert_int_equal(link_queue_init(&q, &link, 7, &count), 0);
	for (unsigned i = 0; i < 20000; i++) {
		if (put(&q, 60, 0, i)) {
			kept++;
			take(&q, &len, &mark);
			assert_int_equal(mark, i);
		}
	}
	assert_true(kept > 17800 && kept < 18200); /* 18000 +- 4.7 standard deviations */
	assert_int_equal(count.loss_drops, 20000 - kept);
	link_queue_clear(&q);

	link.loss = 1;
	assert_int_equal(link_queue_init(&q, &link, 7, &count), 0);
	for (unsigned i = 0; i < 1000; i++) {
		assert_false(put(&q, 60, 0, i));
	}
	link_queue_clear(&q);
}

/* Sizes from a fixed generator, in and out in bursts, many times round the ring: each frame comes
 * out whole, in order; a full ring refuses and loses nothing that is in it. */
static void test_ring_wraps(void **state)
{
	(void)state;
	struct link_counters count = {0};
	struct link_queue q;
	struct lab_link link = {.rate_bps = 1e12}; /* nothing is dropped by the line */
	unsigned in = 0, out = 0, refused = 0, seed = 1;
	size_t len;
	unsigned mark;
	assert_int_equal(link_queue_init(&q, &link, 1, &count), 0);
	while (out < 20000) {
		unsigned burst = (seed = seed * 1664525u + 1013904223u) >> 23;
		for (unsigned i = 0; i < burst; i++) {
			seed = seed * 1664525u + 1013904223u;
			if (!link_queue_reserve(&q)) {
				refused++;
				break;
			}
			assert_true(put(&q, 4 + (seed >> 8) % (LINK_FRAME_MAX - 4), in * MS, in));
			in++;
		}
		for (unsigned i = (seed >> 9) % 500; i > 0 && out < in; i--) {
			take(&q, &len, &mark);
			assert_int_equal(mark, out);
			out++;
		}
	}
	assert_true(refused > 10); /* the case was there */
	link_queue_clear(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_alone), cmocka_unit_test(test_rate),
		cmocka_unit_test(test_drop_tail),   cmocka_unit_test(test_loss),
		cmocka_unit_test(test_ring_wraps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
