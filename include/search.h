/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The family of searches: ask for a point of the unit cube, measure, tell. A search knows neither
 * tunables nor hosts. Each member is one const table of operations at the end of its file;
 * search.c is the only file that names them. Values told are to be maximised.
 */
#ifndef TUNESWEEP_SEARCH_H
#define TUNESWEEP_SEARCH_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_DIMS_MAX 64

struct search_dim {
	bool category; /* order means nothing */
	int levels;    /* number of distinct values, evenly spaced cells of [0,1]; 0: continuous */
	double start;  /* coordinate of the baseline, NaN if unknown */
};

struct search_problem {
	size_t n;
	struct search_dim dims[SEARCH_DIMS_MAX];
	int budget; /* measurements in all */
	uint64_t seed;
};

struct search;

struct search_ops {
	const char *name;
	const char *help;
	int (*create)(const struct search_problem *p, const char *algorithm, void **state,
		      struct err *e);
	/* Writes the next point. 1: a point; 0: the search has nothing more to ask; < 0: error. */
	int (*ask)(void *state, double *x, struct err *e);
	/* y is finite; failed: y is already a value below all that were seen. */
	void (*tell)(void *state, const double *x, double y, bool failed);
	void (*destroy)(void *state);
};

/* algorithm: auto, sobol, random, grid, coordinate, or any derivative-free NLopt algorithm by its
 * name, e.g. GN_DIRECT_L (an NLOPT_ in front is allowed). ERR_USAGE with the nearest name. */
int search_create(const char *algorithm, const struct search_problem *p, struct search **out,
		  struct err *e);
bool search_known(const char *algorithm, struct err *e);

/* 1: x is the next point to measure; 0: nothing more to ask (all is measured, or the budget is
 * used); < 0: error. Asking again before telling gives the same point. */
int search_ask(struct search *s, double *x, struct err *e);

/* Answers the last ask; also allowed without one, for points that were measured otherwise (the
 * baseline). ok false: a failed trial; y is ignored and the search is told a value below the worst
 * seen, never NaN or infinite. */
void search_tell(struct search *s, const double *x, double y, bool ok);
void search_destroy(struct search *s);

/* All names, NULL-terminated, for help and suggestions. */
const char *const *search_names(void);

#endif
