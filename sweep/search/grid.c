/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A full grid that fits the budget: every dimension gets as many evenly spaced values as can be
 * afforded, the coarsest refined first. What is told does not matter.
 */
#include "search_private.h"

#include "cleanup.h"
#include <errno.h>
#include <string.h>

struct grid {
	struct search_problem p;
	int counts[SEARCH_DIMS_MAX];
	long size, next;
	bool outstanding;
};

static int most(const struct search_dim *d)
{
	return d->levels > 0 ? d->levels : 1 << 20;
}

/* Raises the smallest count as long as the whole grid stays within the budget. */
static void choose_counts(struct grid *g)
{
	long size = 1;
	for (size_t i = 0; i < g->p.n; i++) {
		g->counts[i] = 1;
	}
	for (;;) {
		int best = -1;
		for (size_t i = 0; i < g->p.n; i++) {
			bool fits = g->counts[i] < most(&g->p.dims[i]) &&
				    size / g->counts[i] * (g->counts[i] + 1) <= g->p.budget;
			if (fits && (best < 0 || g->counts[i] < g->counts[best])) {
				best = (int)i;
			}
		}
		if (best < 0) {
			break;
		}
		size = size / g->counts[best] * (g->counts[best] + 1);
		g->counts[best]++;
	}
	g->size = size;
}

static int grid_create(const struct search_problem *p, const char *algorithm, void **state,
		       struct err *e)
{
	(void)algorithm;
	struct grid *g = calloc(1, sizeof(*g));
	if (!g) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	g->p = *p;
	choose_counts(g);
	*state = g;
	return 0;
}

static int grid_ask(void *state, double *x, struct err *e)
{
	struct grid *g = state;
	(void)e;
	if (g->next >= g->size) {
		return 0;
	}
	double start[SEARCH_DIMS_MAX];
	search_start(&g->p, start);
	long rest = g->next;
	for (size_t i = 0; i < g->p.n; i++) {
		int count = g->counts[i], k = (int)(rest % count);
		rest /= count;
		/* ends included; with one value only, the baseline's */
		x[i] = count == 1 ? start[i] : (double)k / (count - 1);
	}
	search_snap(&g->p, x);
	g->outstanding = true;
	return 1;
}

static void grid_tell(void *state, const double *x, double y, bool failed)
{
	struct grid *g = state;
	(void)x;
	(void)y;
	(void)failed;
	g->next += g->outstanding;
	g->outstanding = false;
}

const struct search_ops search_grid = {
	.name = "grid",
	.help = "every combination of evenly spaced values, as many as the budget allows",
	.create = grid_create,
	.ask = grid_ask,
	.tell = grid_tell,
	.destroy = free,
};
