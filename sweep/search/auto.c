/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user gets who names no algorithm: first the whole space, then the neighbourhood of the
 * best. It composes other members: an exploring one for the first part of the budget, then a local
 * one on the numbers, with the categories fixed at the best's; in between, one category of the best
 * is changed at a time.
 */
#include "search_private.h"

#include "cleanup.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define LOCAL_ALGORITHM "LN_SBPLX"
#define FLIP_EVERY	3 /* one ask in so many changes a category */

enum part { PART_EXPLORE, PART_LOCAL, PART_FLIP };

struct composed {
	struct search_problem p;
	struct search_memory memory;
	int explore, asked;
	void *explorer;
	const struct search_ops *explorer_ops;
	/* the local part: numbers only, the rest as in base */
	struct search_problem local_p;
	size_t local_dims[SEARCH_DIMS_MAX];
	void *local;
	double base[SEARCH_DIMS_MAX];
	enum part outstanding_part;
	bool outstanding, explored, local_done;
	double next[SEARCH_DIMS_MAX];
};

/* Few dimensions, or a small budget: DIRECT_L, which divides the space where it is promising; it
 * needs about 2 d + 1 points before it does. Otherwise Sobol points first. */
static const struct search_ops *choose_explorer(const struct search_problem *p, int explore)
{
	return explore >= 2 * (int)p->n + 1 ? &search_nlopt : &search_sobol;
}

static int composed_create(const struct search_problem *p, const char *algorithm, void **state,
			   struct err *e)
{
	(void)algorithm;
	struct composed *a = calloc(1, sizeof(*a));
	if (!a) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	a->p = *p;
	int least = 2 * (int)p->n + 1;
	a->explore = (int)ceil(0.6 * p->budget);
	a->explore = a->explore < least ? least : a->explore;
	struct search_problem part = *p;
	part.budget = a->explore;
	a->explorer_ops = choose_explorer(p, a->explore < p->budget ? a->explore : p->budget);
	int rc = a->explorer_ops->create(&part, "GN_DIRECT_L", &a->explorer, e);
	if (rc) {
		free(a);
		return rc;
	}
	*state = a;
	return 0;
}

static bool is_free_number(const struct search_dim *d)
{
	return !d->category && d->levels != 1;
}

static void project(const struct composed *a, const double *x, double *u)
{
	for (size_t i = 0; i < a->local_p.n; i++) {
		u[i] = x[a->local_dims[i]];
	}
}

/* Same categories as base: then what is known of it is known to the local search. */
static bool in_slice(const struct composed *a, const double *x)
{
	for (size_t i = 0; i < a->p.n; i++) {
		if (a->p.dims[i].category && fabs(x[i] - a->base[i]) > 1e-9) {
			return false;
		}
	}
	return true;
}

static void stop_local(struct composed *a)
{
	if (a->local) {
		search_nlopt.destroy(a->local);
		a->local = NULL;
	}
}

/* A local search around base, told all that is known of its slice. */
static int start_local(struct composed *a, const double *base, struct err *e)
{
	stop_local(a);
	memcpy(a->base, base, sizeof(a->base));
	a->local_p = (struct search_problem){.budget = a->p.budget, .seed = a->p.seed};
	for (size_t i = 0; i < a->p.n; i++) {
		if (is_free_number(&a->p.dims[i])) {
			a->local_dims[a->local_p.n] = i;
			a->local_p.dims[a->local_p.n++] = a->p.dims[i];
		}
	}
	a->local_done = a->local_p.n == 0;
	if (a->local_done) {
		return 0;
	}
	int rc = search_nlopt.create(&a->local_p, LOCAL_ALGORITHM, &a->local, e);
	for (size_t i = 0; rc == 0 && i < a->memory.n; i++) {
		double u[SEARCH_DIMS_MAX];
		if (in_slice(a, a->memory.items[i].x)) {
			project(a, a->memory.items[i].x, u);
			search_nlopt.tell(a->local, u, a->memory.items[i].mean, false);
		}
	}
	return rc;
}

/* The best with one category changed to a value that is not known yet. */
static bool next_flip(struct composed *a, const double *best)
{
	for (size_t i = 0; i < a->p.n; i++) {
		for (int k = 0; a->p.dims[i].category && k < a->p.dims[i].levels; k++) {
			memcpy(a->next, best, sizeof(a->next));
			a->next[i] = search_cell(k, a->p.dims[i].levels);
			search_snap(&a->p, a->next);
			if (!search_recall(&a->memory, &a->p, a->next)) {
				return true;
			}
		}
	}
	return false;
}

static int ask_explorer(struct composed *a, struct err *e)
{
	if (a->explored || a->asked >= a->explore) {
		a->explored = true;
		return 0;
	}
	int rc = a->explorer_ops->ask(a->explorer, a->next, e);
	a->outstanding_part = PART_EXPLORE;
	a->explored = rc == 0;
	return rc;
}

static int ask_local(struct composed *a, struct err *e)
{
	double u[SEARCH_DIMS_MAX];
	int rc = a->local_done ? 0 : search_nlopt.ask(a->local, u, e);
	if (rc <= 0) {
		a->local_done = true;
		return rc;
	}
	memcpy(a->next, a->base, sizeof(a->next));
	for (size_t i = 0; i < a->local_p.n; i++) {
		a->next[a->local_dims[i]] = u[i];
	}
	a->outstanding_part = PART_LOCAL;
	return 1;
}

static int ask_refine(struct composed *a, struct err *e)
{
	const struct search_told *best = search_best(&a->memory);
	if (!best) {
		return 0;
	}
	if (!in_slice(a, best->x) || (!a->local && !a->local_done)) {
		int rc = start_local(a, best->x, e);
		if (rc) {
			return rc;
		}
	}
	if ((a->asked % FLIP_EVERY == 0 || a->local_done) && next_flip(a, best->x)) {
		a->outstanding_part = PART_FLIP;
		return 1;
	}
	int rc = ask_local(a, e);
	if (rc == 0 && next_flip(a, best->x)) {
		a->outstanding_part = PART_FLIP;
		return 1;
	}
	return rc;
}

static int composed_ask(void *state, double *x, struct err *e)
{
	struct composed *a = state;
	if (!a->outstanding) {
		if (a->asked >= a->p.budget) {
			return 0;
		}
		int rc = ask_explorer(a, e);
		rc = rc ? rc : ask_refine(a, e);
		if (rc <= 0) {
			return rc;
		}
		a->outstanding = true;
		a->asked++;
	}
	memcpy(x, a->next, a->p.n * sizeof(*x));
	return 1;
}

static void composed_tell(void *state, const double *x, double y, bool failed)
{
	struct composed *a = state;
	double u[SEARCH_DIMS_MAX];
	bool answers = a->outstanding;
	a->outstanding = false;
	search_remember(&a->memory, &a->p, x, y);
	if (!answers || a->outstanding_part == PART_EXPLORE) {
		a->explorer_ops->tell(a->explorer, x, y, failed);
	} else if (a->outstanding_part == PART_LOCAL && a->local) {
		project(a, x, u);
		search_nlopt.tell(a->local, u, y, failed);
	}
}

static void composed_destroy(void *state)
{
	struct composed *a = state;
	stop_local(a);
	a->explorer_ops->destroy(a->explorer);
	search_forget(&a->memory);
	free(a);
}

const struct search_ops search_auto = {
	.name = "auto",
	.help = "the whole space first, then around the best (the default)",
	.create = composed_create,
	.ask = composed_ask,
	.tell = composed_tell,
	.destroy = composed_destroy,
};
