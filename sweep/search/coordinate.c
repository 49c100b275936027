/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One dimension after the other, as people tune by hand: a few values of one, the best kept, then
 * the next; in each further round the steps around the best are half as wide. If enough has been
 * told before the first question, it begins around the best of that.
 */
#include "search_private.h"

#include "cleanup.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define VALUES	   5 /* of a number in one pass */
#define ROUNDS_MAX 24

struct coordinate {
	struct search_problem p;
	struct search_memory memory;
	double at[SEARCH_DIMS_MAX], next[SEARCH_DIMS_MAX]; /* best of the passes so far */
	size_t dim;
	int step, round;
	bool outstanding, started;
};

static int coordinate_create(const struct search_problem *p, const char *algorithm, void **state,
			     struct err *e)
{
	(void)algorithm;
	struct coordinate *c = calloc(1, sizeof(*c));
	if (!c) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	c->p = *p;
	search_start(p, c->at);
	*state = c;
	return 0;
}

static bool tries_all(const struct search_dim *d)
{
	return d->levels > 0 && (d->category || d->levels <= VALUES);
}

/* The step-th value of the dimension in this round; false when there are no more. */
static bool candidate(const struct coordinate *c, double *u)
{
	const struct search_dim *d = &c->p.dims[c->dim];
	if (tries_all(d)) {
		*u = search_cell(c->step, d->levels);
		return c->step < d->levels;
	}
	double place = (double)c->step / (VALUES - 1); /* 0 to 1 over the whole dimension */
	*u = c->round == 0 ? place : c->at[c->dim] + (place - 0.5) * ldexp(1, -c->round);
	return c->step < VALUES;
}

/* False: nothing was told yet. */
static bool go_to_best(struct coordinate *c)
{
	struct search_told best;
	if (!search_best(&c->memory, &best)) {
		return false;
	}
	memcpy(c->at, best.x, c->p.n * sizeof(*c->at));
	return true;
}

static void next_dimension(struct coordinate *c)
{
	go_to_best(c);
	c->step = 0;
	if (++c->dim == c->p.n) {
		c->dim = 0;
		c->round++;
	}
}

static bool advance(struct coordinate *c);

/* The first point: the start. If that is known there is none, and round 0, which looks at whole
 * dimensions, is left out when the whole space has been looked at already. */
static bool begin(struct coordinate *c)
{
	bool told = go_to_best(c);
	if (told) {
		c->round = c->memory.rows.n > c->p.n;
	}
	memcpy(c->next, c->at, sizeof(c->next));
	return !told || advance(c);
}

/* Moves on to the next point that is not known; false when the rounds are used up. */
static bool advance(struct coordinate *c)
{
	if (!c->started) {
		c->started = true;
		return begin(c);
	}
	while (c->round < ROUNDS_MAX) {
		struct search_told known;
		double u;
		if (!candidate(c, &u)) {
			next_dimension(c);
			continue;
		}
		c->step++;
		memcpy(c->next, c->at, sizeof(c->next));
		c->next[c->dim] = u;
		search_snap(&c->p, c->next);
		if (!search_recall(&c->memory, &c->p, c->next, &known)) {
			return true;
		}
	}
	return false;
}

static int coordinate_ask(void *state, double *x, struct err *e)
{
	struct coordinate *c = state;
	(void)e;
	if (!c->outstanding) {
		if (!advance(c)) {
			return 0;
		}
		c->outstanding = true;
	}
	memcpy(x, c->next, c->p.n * sizeof(*x));
	return 1;
}

static void coordinate_tell(void *state, const double *x, double y, bool failed)
{
	struct coordinate *c = state;
	(void)failed;
	c->outstanding = false;
	search_remember(&c->memory, &c->p, x, y);
}

static void coordinate_destroy(void *state)
{
	struct coordinate *c = state;
	search_forget(&c->memory);
	free(c);
}

const struct search_ops search_coordinate = {
	.name = "coordinate",
	.help = "one tunable after the other, as people tune by hand",
	.create = coordinate_create,
	.ask = coordinate_ask,
	.tell = coordinate_tell,
	.destroy = coordinate_destroy,
};
