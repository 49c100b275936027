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

enum { COUNT, MEAN, POINT }; /* of a row */

static size_t hash_point(const double *x, size_t n)
{
	size_t hash = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		memcpy(&bits, &x[i], sizeof(bits));
		hash = hash_mix(hash, bits);
	}
	return hash;
}

static double *find(const struct search_memory *m, const struct search_problem *p, const double *x)
{
	size_t i, at = hash_point(x, p->n);
	while ((i = hash_index_next(&m->by_point, &at)) != SIZE_MAX) {
		double *row = chunks_at(&m->rows, i);
		if (memcmp(row + POINT, x, p->n * sizeof(*x)) == 0) {
			return row;
		}
	}
	return NULL;
}

static size_t hash_of(const void *items, size_t i)
{
	const struct chunks *rows = items;
	const double *row = chunks_at(rows, i);
	return hash_point(row + POINT, rows->size / sizeof(*row) - POINT);
}

/* NULL: out of memory. */
static double *add_row(struct search_memory *m, const struct search_problem *p, const double *x)
{
	double *row = chunks_add(&m->rows, (POINT + p->n) * sizeof(*row));
	if (!row) {
		return NULL;
	}
	memcpy(row + POINT, x, p->n * sizeof(*x));
	if (hash_index_add(&m->by_point, hash_of, &m->rows) < 0) {
		chunks_drop(&m->rows);
		return NULL;
	}
	return row;
}

int search_remember(struct search_memory *m, const struct search_problem *p, const double *x,
		    double y)
{
	double *row = find(m, p, x);
	row = row ? row : add_row(m, p, x);
	if (!row) {
		return -ENOMEM;
	}
	row[MEAN] += (y - row[MEAN]) / ++row[COUNT];
	return 0;
}

static bool tell(const double *row, struct search_told *out)
{
	if (row) {
		*out = (struct search_told){.x = row + POINT, .mean = row[MEAN]};
	}
	return row;
}

bool search_recall(const struct search_memory *m, const struct search_problem *p, const double *x,
		   struct search_told *out)
{
	return tell(find(m, p, x), out);
}

bool search_best(const struct search_memory *m, struct search_told *out)
{
	const double *best = NULL;
	for (size_t i = 0; i < m->rows.n; i++) {
		const double *row = chunks_at(&m->rows, i);
		best = !best || row[MEAN] > best[MEAN] ? row : best;
	}
	return tell(best, out);
}

void search_forget(struct search_memory *m)
{
	chunks_clear(&m->rows);
	hash_index_clear(&m->by_point);
}
