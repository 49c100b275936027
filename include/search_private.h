/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the members of the family share: cells, and a memory of what was told. Seen by
 * sweep/search.c and sweep/search/ only.
 */
#ifndef TUNESWEEP_SEARCH_PRIVATE_H
#define TUNESWEEP_SEARCH_PRIVATE_H

#include "chunks.h"
#include "hash_index.h"
#include "search.h"

extern const struct search_ops search_surrogate, search_sobol, search_random, search_grid,
	search_coordinate, search_nlopt;

/* Moves a point to the middle of its cell in each dimension with levels; clips to the cube. */
void search_snap(const struct search_problem *p, double *x);
/* Middle of cell k of a dimension with levels. */
double search_cell(int k, int levels);
/* The starting point: the baseline's coordinates, 0.5 where unknown; snapped. */
void search_start(const struct search_problem *p, double *x);

struct search_told {	 /* one distinct point */
	const double *x; /* good until more is remembered */
	double mean;
};

struct search_memory {	    /* zero: empty */
	struct chunks rows; /* of each point: how often it was told, the mean, its coordinates */
	struct hash_index by_point;
};

/* x is snapped by the caller. -ENOMEM: forgotten, which only costs a repeated measurement. */
int search_remember(struct search_memory *m, const struct search_problem *p, const double *x,
		    double y);
/* False: nothing was told of x. */
bool search_recall(const struct search_memory *m, const struct search_problem *p, const double *x,
		   struct search_told *out);
/* The first of the best; false if there is none. */
bool search_best(const struct search_memory *m, struct search_told *out);
void search_forget(struct search_memory *m);

/* Is this the name of an NLopt algorithm that can be used here? -EINVAL with why not, -ENOENT if
 * it is no NLopt name at all (nothing is written to e then). */
int search_nlopt_find(const char *name, int *algorithm, struct err *e);
#endif
