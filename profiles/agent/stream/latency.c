/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A histogram of times: buckets that grow with the value, so that it is as exact at a microsecond
 * as at a second. One thread adds while others read. Percentiles are the controller's affair
 * (sweep/engine/builtin_latency.c has the same buckets).
 */
#include "stream_private.h"
#include <stdatomic.h>

#define STEP_BITS 6 /* 64 buckets to each doubling: 1.6 % wide */

/* 0..63 as they are, then the six bits after the first. Beyond 2^37 ns (two minutes): the last. */
static unsigned bucket_of(uint64_t ns)
{
	if (ns < (1u << STEP_BITS)) {
		return (unsigned)ns;
	}
	unsigned exponent = 63 - (unsigned)__builtin_clzll(ns);
	unsigned bucket = ((exponent - STEP_BITS + 1) << STEP_BITS) +
			  (unsigned)(ns >> (exponent - STEP_BITS) & ((1u << STEP_BITS) - 1));
	return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

void latency_add(struct latency *l, uint64_t ns)
{
	_Atomic uint32_t *c = &l->count[bucket_of(ns)];
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

void latency_sum(struct latency *l, uint64_t sums[LATENCY_BUCKETS])
{
	for (int i = 0; i < LATENCY_BUCKETS; i++) {
		sums[i] += atomic_load_explicit(&l->count[i], memory_order_relaxed);
	}
}
