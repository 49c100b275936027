/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of items by their hash, some eight bytes each, so that an item is found again in the same
 * time however many there are. It holds neither items nor hashes: whoever looks compares, and gives
 * the hashes again when it grows. Used by the sweep's tables.
 */
#ifndef TUNESWEEP_HASH_INDEX_H
#define TUNESWEEP_HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct hash_index {	 /* zero: empty */
	uint32_t *slots; /* an item's number + 1; 0: free */
	size_t room, n;	 /* room is a power of two, or 0 */
};

/* Each item that may have this hash, then SIZE_MAX: begin with *at = hash. Others are among them.
 */
size_t hash_index_next(const struct hash_index *x, size_t *at);

/* Adds item number n. hash_of gives the hash of an item of items, also of those before. -ENOMEM. */
int hash_index_add(struct hash_index *x, size_t (*hash_of)(const void *items, size_t item),
		   const void *items);
void hash_index_clear(struct hash_index *x);

/* A hash of an earlier one (or any constant) and a number. */
size_t hash_mix(size_t hash, uint64_t number);

#endif
