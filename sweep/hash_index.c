/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Open addressing with linear probing, at most three quarters full. Nothing is ever taken out.
 */
#include "hash_index.h"
#include <errno.h>
#include <stdlib.h>

#define ROOM_LEAST 64

/* By Fibonacci's multiplier (Knuth, The Art of Computer Programming 3, 6.4); the shift brings the
 * upper bits, which it mixes best, down to those that choose the slot. */
size_t hash_mix(size_t hash, uint64_t number)
{
	uint64_t h = (hash ^ number) * 0x9e3779b97f4a7c15u;
	return (size_t)(h ^ h >> 29);
}

size_t hash_index_next(const struct hash_index *x, size_t *at)
{
	uint32_t slot = x->room ? x->slots[*at & (x->room - 1)] : 0;
	*at += 1;
	return slot ? slot - 1 : SIZE_MAX;
}

static void put(struct hash_index *x, size_t item, size_t hash)
{
	while (x->slots[hash & (x->room - 1)]) {
		hash++;
	}
	x->slots[hash & (x->room - 1)] = (uint32_t)item + 1;
}

static int grow(struct hash_index *x, size_t (*hash_of)(const void *items, size_t item),
		const void *items)
{
	size_t room = x->room ? 2 * x->room : ROOM_LEAST;
	uint32_t *slots = calloc(room, sizeof(*slots));
	if (!slots) {
		return -ENOMEM;
	}
	free(x->slots);
	x->slots = slots;
	x->room = room;
	for (size_t i = 0; i < x->n; i++) {
		put(x, i, hash_of(items, i));
	}
	return 0;
}

int hash_index_add(struct hash_index *x, size_t (*hash_of)(const void *items, size_t item),
		   const void *items)
{
	if (4 * (x->n + 1) > 3 * x->room && grow(x, hash_of, items) < 0) {
		return -ENOMEM;
	}
	put(x, x->n, hash_of(items, x->n));
	x->n++;
	return 0;
}

void hash_index_clear(struct hash_index *x)
{
	free(x->slots);
	*x = (struct hash_index){0};
}
