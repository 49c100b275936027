/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user gets who names no algorithm: first the whole space, then the neighbourhood of the
 * best. It composes two other members, each of which is told everything: NLopt's DIRECT_L, which
 * divides the space where it is promising, then coordinate steps around the best, which take
 * categories as they are.
 */
#include "search_private.h"

#include "cleanup.h"
#include <errno.h>
#include <math.h>

/*
 * Measured on the simulated surfaces (2 to 8 dimensions, with and without categories, 3 % noise, 20
 * seeds each, the loop's last samples for the leaders): geometric mean of the regret in % at 40, 60
 * and 100 samples 3.8, 2.4, 1.9; with Sobol points first 4.3, 3.2, 2.4; BOBYQA instead of
 * coordinate steps 5.2, 4.7, 2.9; DIRECT_L alone at 40 and 100 6.2 and 2.8, coordinate alone 4.1
 * and 2.6, chance 12.5 and 10.8. Shares of 0.2 to 0.4 differ little.
 */
#define EXPLORE_SHARE 0.3

/* In few dimensions coordinate steps stick on a slanting ridge oftener than they help (published
 * buffer table, 40 to 100 samples: 90th percentile of the regret 17 to 3 % at 0.3, 3 to 2 here). */
#define EXPLORE_SHARE_FEW 0.5
#define FEW		  3

struct part {
	const struct search_ops *ops;
	const char *algorithm;
	void *state;
};

struct composed {
	struct part explore, refine;
	int explore_budget, budget, asked;
	struct part *asking; /* whose question is open */
};

static void composed_destroy(void *state)
{
	struct composed *a = state;
	if (a->explore.state) {
		a->explore.ops->destroy(a->explore.state);
	}
	if (a->refine.state) {
		a->refine.ops->destroy(a->refine.state);
	}
	free(a);
}

static int explore_budget(const struct search_problem *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		n += p->dims[i].levels != 1;
	}
	return (int)ceil((n <= FEW ? EXPLORE_SHARE_FEW : EXPLORE_SHARE) * p->budget);
}

static int composed_create(const struct search_problem *p, const char *algorithm, void **state,
			   struct err *e)
{
	(void)algorithm;
	struct composed *a = calloc(1, sizeof(*a));
	if (!a) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	a->budget = p->budget;
	a->explore_budget = explore_budget(p);
	a->explore = (struct part){.ops = &search_nlopt, .algorithm = "GN_DIRECT_L"};
	a->refine = (struct part){.ops = &search_coordinate, .algorithm = "coordinate"};
	int rc = a->explore.ops->create(p, a->explore.algorithm, &a->explore.state, e);
	rc = rc ? rc : a->refine.ops->create(p, a->refine.algorithm, &a->refine.state, e);
	if (rc) {
		composed_destroy(a);
		return rc;
	}
	*state = a;
	return 0;
}

static int ask_part(struct composed *a, struct part *part, double *x, struct err *e)
{
	int rc = part->ops->ask(part->state, x, e);
	if (rc == 1) {
		a->asked += a->asking == NULL;
		a->asking = part;
	}
	return rc;
}

static int composed_ask(void *state, double *x, struct err *e)
{
	struct composed *a = state;
	if (a->asking) {
		return ask_part(a, a->asking, x, e);
	}
	if (a->asked >= a->budget) {
		return 0;
	}
	int rc = a->asked < a->explore_budget ? ask_part(a, &a->explore, x, e) : 0;
	if (rc == 0) {
		a->explore_budget = a->asked; /* it has nothing more, or has had its share */
		rc = ask_part(a, &a->refine, x, e);
	}
	return rc;
}

static void composed_tell(void *state, const double *x, double y, bool failed)
{
	struct composed *a = state;
	a->asking = NULL;
	a->explore.ops->tell(a->explore.state, x, y, failed);
	a->refine.ops->tell(a->refine.state, x, y, failed);
}

const struct search_ops search_auto = {
	.name = "auto",
	.help = "the whole space first, then around the best (the default)",
	.create = composed_create,
	.ask = composed_ask,
	.tell = composed_tell,
	.destroy = composed_destroy,
};
