/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts as small numbers, so that many rows are grouped and put in order by numbers. Used by the
 * tables over runs.
 */
#ifndef TUNESWEEP_INTERN_H
#define TUNESWEEP_INTERN_H

#include <jansson.h>
#include <stddef.h>

struct intern {
	json_t *index;	   /* {text: number} */
	const char **text; /* by number; borrowed from index */
	size_t n, room;
};

/* The number of a text, from 0 in order of appearance; SIZE_MAX without memory. */
size_t intern_text(struct intern *in, const char *text);
/* rank[number] = its place when the texts are in order. -ENOMEM. */
int intern_ranks(const struct intern *in, int (*compare)(const char *, const char *), size_t *rank);
void intern_clear(struct intern *in);

#endif
