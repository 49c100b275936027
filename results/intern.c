/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts as numbers, over jansson's hash table. Knows no meaning of the texts.
 */
#include "intern.h"
#include "cleanup.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>

size_t intern_text(struct intern *in, const char *text)
{
	if (!in->index) {
		in->index = json_object();
	}
	const json_t *known = json_object_get(in->index, text);
	if (known) {
		return (size_t)json_integer_value(known);
	}
	if (in->n == in->room) {
		size_t room = in->room ? 2 * in->room : 64;
		const char **more = reallocarray(in->text, room, sizeof(*more));
		if (!more) {
			return SIZE_MAX;
		}
		in->text = more;
		in->room = room;
	}
	if (json_object_set_new(in->index, text, json_integer((json_int_t)in->n))) {
		return SIZE_MAX;
	}
	void *entry = json_object_iter_at(in->index, text);
	in->text[in->n] = json_object_iter_key(entry);
	return in->n++;
}

struct ordering {
	const struct intern *in;
	int (*compare)(const char *, const char *);
};

static int by_order(const void *a, const void *b, void *ctx)
{
	const struct ordering *o = ctx;
	return o->compare(o->in->text[*(const size_t *)a], o->in->text[*(const size_t *)b]);
}

int intern_ranks(const struct intern *in, int (*compare)(const char *, const char *), size_t *rank)
{
	auto_free size_t *order = malloc((in->n + 1) * sizeof(*order));
	struct ordering o = {in, compare};
	if (!order) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < in->n; i++) {
		order[i] = i;
	}
	qsort_r(order, in->n, sizeof(*order), by_order, &o);
	for (size_t i = 0; i < in->n; i++) {
		rank[order[i]] = i;
	}
	return 0;
}

void intern_clear(struct intern *in)
{
	json_decref(in->index);
	free(in->text);
	memset(in, 0, sizeof(*in));
}
