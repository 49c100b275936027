/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list that grows by blocks: what is in it never moves, growing copies nothing, and no more than
 * a block lies unused. Used by the sweep's tables.
 */
#ifndef TUNESWEEP_CHUNKS_H
#define TUNESWEEP_CHUNKS_H

#include <stddef.h>

struct chunks { /* zero: empty */
	size_t n, room;
	size_t size; /* of an item */
	void **block;
};

void *chunks_at(const struct chunks *c, size_t i);
/* A new item of so many bytes (each time as many), all zero; NULL: out of memory. */
void *chunks_add(struct chunks *c, size_t size);
/* Takes the newest out again. */
void chunks_drop(struct chunks *c);
void chunks_clear(struct chunks *c);

#endif
