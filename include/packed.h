/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of a configuration as they are kept by the thousand: nine bytes each, each text once.
 * (A struct configuration has room for 64 values with their texts: 18 KB.) Used by what remembers
 * trials.
 */
#ifndef TUNESWEEP_PACKED_H
#define TUNESWEEP_PACKED_H

#include "hash_index.h"
#include "space.h"

struct packed; /* one configuration's; freed with free */

struct packed_texts { /* zero: empty; outlives what is packed with it */
	char **text;
	size_t room; /* of text; as many as by_letters has are there */
	struct hash_index by_letters;
};

/* NULL: out of memory. */
struct packed *packed_values(struct packed_texts *t, const struct configuration *c);
void packed_unpack(const struct packed *p, struct configuration *out);

/* As configuration_equal; and equal ones have equal hashes. */
bool packed_equal(const struct packed *p, const struct configuration *c);
uint32_t packed_hash(const struct packed *p);
uint32_t configuration_hash(const struct configuration *c);

/* The text that is kept for one with the same letters; NULL: out of memory. */
const char *packed_text(struct packed_texts *t, const char *text);
void packed_texts_clear(struct packed_texts *t);

#endif
