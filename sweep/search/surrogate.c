/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The surrogate search: a few points by NLopt's GN_DIRECT_L, then wherever one more measurement is
 * expected to teach most about the best configuration (which may be a configuration that is known:
 * it repeats by itself where that pays). It ends when nothing worth its time is left to learn.
 */
#include "cleanup.h"
#include "surrogate_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define WORTH_LEARNING                                                                             \
	2e-4 /* expected gain (fraction of the score) below which a proposal is idle */
#define SNAP_DISTANCE2 4e-4 /* squared scaled distance under which a proposal is a replicate */

struct surrogate {
	struct search_problem p;
	struct beliefs beliefs;
	struct stats_rng rng;
	void *explorer, *fallback; /* GN_DIRECT_L; Sobol where most of its points fail */
	int initial, explored, explored_failed;
	bool exploring, outstanding, explorer_waits, fallback_waits;
	int idle; /* proposals in a row that were hardly worth it */
	double next[SEARCH_DIMS_MAX];
};

static int clamp(int x, int lo, int hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static void surrogate_destroy(void *state)
{
	struct surrogate *s = state;
	if (s->explorer) {
		search_nlopt.destroy(s->explorer);
	}
	if (s->fallback) {
		search_sobol.destroy(s->fallback);
	}
	beliefs_clear(&s->beliefs);
	free(s);
}

static int surrogate_create(const struct search_problem *p, const char *algorithm, void **state,
			    struct err *e)
{
	(void)algorithm;
	struct surrogate *s = calloc(1, sizeof(*s));
	if (!s) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	s->p = *p;
	s->initial = clamp(p->budget / 4, 4, 12);
	stats_rng_seed(&s->rng, p->seed);
	int rc = beliefs_init(&s->beliefs, &s->p, e);
	if (rc == 0) {
		rc = search_nlopt.create(&s->p, "GN_DIRECT_L", &s->explorer, e);
	}
	if (rc == 0) {
		rc = search_sobol.create(&s->p, "sobol", &s->fallback, e);
	}
	if (rc < 0) {
		surrogate_destroy(s);
		return rc;
	}
	*state = s;
	return 0;
}

/* The first points. With more than half of them failing, DIRECT_L's value is gone (it divides where
 * values are good): Sobol points cover the space instead. */
static int ask_explorer(struct surrogate *s, struct err *e)
{
	bool failing = s->explored >= 4 && 2 * s->explored_failed > s->explored;
	if (s->explored >= s->initial && s->beliefs.n > s->beliefs.n_failed) {
		return 0;
	}
	int rc = failing ? 0 : search_nlopt.ask(s->explorer, s->next, e);
	s->explorer_waits = rc == 1;
	if (rc == 0) {
		rc = search_sobol.ask(s->fallback, s->next, e);
		s->fallback_waits = rc == 1;
	}
	s->exploring = rc == 1;
	return rc;
}

/* A proposal so near to a known point that the model cannot tell them apart is that point. */
static void snap_to_known(struct surrogate *s, double *x)
{
	const struct beliefs *b = &s->beliefs;
	size_t d = s->p.n, nearest = 0;
	double least = INFINITY;
	for (size_t i = 0; i < b->n_points; i++) {
		double r2 = 0;
		for (size_t j = 0; j < d; j++) {
			double delta = x[j] - b->points[i * d + j], l = gp_length(b->model, j);
			bool other = s->p.dims[j].category && fabs(delta) > 1e-9;
			r2 += other ? INFINITY : delta * delta / (l * l);
		}
		if (r2 < least) {
			least = r2;
			nearest = i;
		}
	}
	if (least < SNAP_DISTANCE2) {
		memcpy(x, b->points + nearest * d, d * sizeof(double));
	}
}

static int propose(struct surrogate *s, struct err *e)
{
	struct beliefs *b = &s->beliefs;
	struct acquisition q;
	int rc = beliefs_update(b, e);
	if (rc == 0) {
		rc = acquisition_init(&q, &s->p, b->model, b->n_failed ? b->failures : NULL,
				      b->points, b->n_points, e);
	}
	if (rc < 0) {
		return rc;
	}
	double log_gain = acquisition_maximise(&q, b->points, b->n_points, &s->rng, s->next);
	acquisition_clear(&q);
	snap_to_known(s, s->next);
	s->idle = exp(log_gain) * b->scale < WORTH_LEARNING ? s->idle + 1 : 0;
	int enough = clamp((int)s->p.n / 2, 3, 64);
	return s->idle >= enough && b->n >= 4 * s->p.n ? 0 : 1;
}

static int surrogate_ask(void *state, double *x, struct err *e)
{
	struct surrogate *s = state;
	int rc = 1;
	if (!s->outstanding) {
		rc = ask_explorer(s, e);
		if (rc == 0) {
			rc = propose(s, e);
		}
		s->outstanding = rc == 1;
	}
	memcpy(x, s->next, s->p.n * sizeof(double));
	return rc;
}

static void surrogate_tell(void *state, const double *x, double y, bool failed)
{
	struct surrogate *s = state;
	struct err ignored;
	bool answers = s->outstanding && memcmp(x, s->next, s->p.n * sizeof(double)) == 0;
	/* out of memory: the point is forgotten, which only costs a measurement */
	beliefs_add(&s->beliefs, x, y, failed, &ignored);
	if (!answers) {
		return;
	}
	if (s->exploring) {
		s->explored++;
		s->explored_failed += failed;
		if (s->explorer_waits) {
			search_nlopt.tell(s->explorer, x, y, failed);
		} else if (s->fallback_waits) {
			search_sobol.tell(s->fallback, x, y, failed);
		}
		s->exploring = s->explorer_waits = s->fallback_waits = false;
	}
	s->outstanding = false;
}

const struct search_ops search_surrogate = {
	.name = "surrogate",
	.help = "a model of all measurements (Gaussian process) asks where one more teaches most",
	.create = surrogate_create,
	.ask = surrogate_ask,
	.tell = surrogate_tell,
	.destroy = surrogate_destroy,
};
