/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list in blocks of a fixed number of items. Knows nothing of what is in it.
 */
#include "chunks.h"
#include <stdlib.h>
#include <string.h>

#define ITEMS 64 /* of a block */

void *chunks_at(const struct chunks *c, size_t i)
{
	return (char *)c->block[i / ITEMS] + i % ITEMS * c->size;
}

static void *add_block(struct chunks *c)
{
	size_t blocks = c->room / ITEMS;
	if ((blocks & (blocks - 1)) == 0) { /* a power of two: the list of blocks is full */
		void **more = reallocarray(c->block, blocks ? 2 * blocks : 1, sizeof(*more));
		if (!more) {
			return NULL;
		}
		c->block = more;
	}
	c->block[blocks] = malloc(ITEMS * c->size);
	c->room += c->block[blocks] ? ITEMS : 0;
	return c->block[blocks];
}

void *chunks_add(struct chunks *c, size_t size)
{
	c->size = size;
	if (c->n == c->room && !add_block(c)) {
		return NULL;
	}
	return memset(chunks_at(c, c->n++), 0, c->size);
}

void chunks_drop(struct chunks *c)
{
	c->n--;
}

void chunks_clear(struct chunks *c)
{
	for (size_t i = 0; i < c->room / ITEMS; i++) {
		free(c->block[i]);
	}
	free(c->block);
	*c = (struct chunks){0};
}
