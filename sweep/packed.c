/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values as words, texts as pointers to the one copy. Knows no tunable; called by tried.c and
 * replay.c.
 */
#include "packed.h"
#include <stdlib.h>
#include <string.h>

struct packed {
	uint32_t n, hash;
	uint64_t word[]; /* n; behind them a byte each: its type */
};

static unsigned char *types(const struct packed *p)
{
	return (unsigned char *)(p->word + p->n);
}

static size_t hash_letters(const char *text)
{
	size_t hash = 0;
	for (; *text; text++) {
		hash = hash_mix(hash, (unsigned char)*text);
	}
	return hash;
}

static size_t hash_of(const void *items, size_t i)
{
	char *const *text = items;
	return hash_letters(text[i]);
}

static const char *add_text(struct packed_texts *t, const char *text)
{
	size_t n = t->by_letters.n;
	if (n == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		char **more = reallocarray(t->text, room, sizeof(*more));
		if (!more) {
			return NULL;
		}
		t->text = more;
		t->room = room;
	}
	t->text[n] = strdup(text);
	if (!t->text[n] || hash_index_add(&t->by_letters, hash_of, t->text) < 0) {
		free(t->text[n]);
		return NULL;
	}
	return t->text[n];
}

const char *packed_text(struct packed_texts *t, const char *text)
{
	size_t i, at = hash_letters(text);
	while ((i = hash_index_next(&t->by_letters, &at)) != SIZE_MAX) {
		if (strcmp(t->text[i], text) == 0) {
			return t->text[i];
		}
	}
	return add_text(t, text);
}

void packed_texts_clear(struct packed_texts *t)
{
	for (size_t i = 0; i < t->by_letters.n; i++) {
		free(t->text[i]);
	}
	free(t->text);
	hash_index_clear(&t->by_letters);
	*t = (struct packed_texts){0};
}

static bool pack(struct packed_texts *t, const struct value *v, uint64_t *word)
{
	const char *text;
	*word = 0;
	switch (v->type) {
	case VALUE_INT:
	case VALUE_BOOL:
		memcpy(word, &v->i, sizeof(v->i));
		return true;
	case VALUE_REAL:
		memcpy(word, &v->r, sizeof(v->r));
		return true;
	case VALUE_TEXT:
		text = packed_text(t, v->text);
		*word = (uintptr_t)text;
		return text;
	default:
		return true;
	}
}

static struct value unpack(uint64_t word, enum value_type type)
{
	struct value v = {.type = type};
	switch (type) {
	case VALUE_INT:
	case VALUE_BOOL:
		memcpy(&v.i, &word, sizeof(v.i));
		return v;
	case VALUE_REAL:
		memcpy(&v.r, &word, sizeof(v.r));
		return v;
	case VALUE_TEXT:
		return value_text((const char *)(uintptr_t)word);
	default:
		return v;
	}
}

uint32_t configuration_hash(const struct configuration *c)
{
	size_t hash = c->n;
	for (size_t i = 0; i < c->n; i++) {
		hash = hash_mix(hash, value_hash(&c->v[i]));
	}
	return (uint32_t)hash;
}

struct packed *packed_values(struct packed_texts *t, const struct configuration *c)
{
	struct packed *p = malloc(sizeof(*p) + c->n * (sizeof(*p->word) + 1));
	if (!p) {
		return NULL;
	}
	p->n = (uint32_t)c->n;
	p->hash = configuration_hash(c);
	for (size_t i = 0; i < p->n; i++) {
		types(p)[i] = (unsigned char)c->v[i].type;
		if (!pack(t, &c->v[i], &p->word[i])) {
			free(p);
			return NULL;
		}
	}
	return p;
}

void packed_unpack(const struct packed *p, struct configuration *out)
{
	*out = (struct configuration){.n = p->n};
	for (size_t i = 0; i < p->n; i++) {
		out->v[i] = unpack(p->word[i], types(p)[i]);
	}
}

bool packed_equal(const struct packed *p, const struct configuration *c)
{
	if (p->n != c->n) {
		return false;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct value v = unpack(p->word[i], types(p)[i]);
		if (!value_equal(&v, &c->v[i])) {
			return false;
		}
	}
	return true;
}

uint32_t packed_hash(const struct packed *p)
{
	return p->hash;
}
