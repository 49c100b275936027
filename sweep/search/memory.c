/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points by cells, and what was told of them. A search looks here before it asks, so that two
 * points of one cell, which are one configuration, are not measured twice by accident.
 */
#include "search_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double search_cell(int k, int levels)
{
	return (k + 0.5) / levels;
}

void search_snap(const struct search_problem *p, double *x)
{
	for (size_t i = 0; i < p->n; i++) {
		double u = x[i] > 0 ? fmin(x[i], 1) : 0; /* also for NaN */
		int levels = p->dims[i].levels;
		if (levels > 0) {
			int k = (int)(u * levels);
			u = search_cell(k < levels ? k : levels - 1, levels);
		}
		x[i] = u;
	}
}

void search_start(const struct search_problem *p, double *x)
{
	for (size_t i = 0; i < p->n; i++) {
		x[i] = isnan(p->dims[i].start) ? 0.5 : p->dims[i].start;
	}
	search_snap(p, x);
}

static struct search_told *find(const struct search_memory *m, const struct search_problem *p,
				const double *x)
{
	for (size_t i = 0; i < m->n; i++) {
		if (memcmp(m->items[i].x, x, p->n * sizeof(*x)) == 0) {
			return &m->items[i];
		}
	}
	return NULL;
}

int search_remember(struct search_memory *m, const struct search_problem *p, const double *x,
		    double y)
{
	struct search_told *t = find(m, p, x);
	if (!t) {
		if (m->n == m->capacity) {
			size_t capacity = m->capacity ? 2 * m->capacity : 64;
			struct search_told *items = realloc(m->items, capacity * sizeof(*items));
			if (!items) {
				return -ENOMEM;
			}
			m->items = items;
			m->capacity = capacity;
		}
		t = &m->items[m->n++];
		memset(t, 0, sizeof(*t));
		memcpy(t->x, x, p->n * sizeof(*x));
	}
	t->mean += (y - t->mean) / ++t->count;
	return 0;
}

const struct search_told *search_recall(const struct search_memory *m,
					const struct search_problem *p, const double *x)
{
	return find(m, p, x);
}

const struct search_told *search_best(const struct search_memory *m)
{
	const struct search_told *best = NULL;
	for (size_t i = 0; i < m->n; i++) {
		if (!best || m->items[i].mean > best->mean) {
			best = &m->items[i];
		}
	}
	return best;
}

void search_forget(struct search_memory *m)
{
	free(m->items);
	*m = (struct search_memory){.n = 0};
}
