/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Before the proof: each changed setting that the search believes to bring (nearly) nothing goes
 * back to its baseline, the least first, so that the user gets a short list of settings that
 * matter. What is left is then proved as a whole. Called by loop.c.
 */
#include "loop_private.h"
#include "prove.h"
#include <math.h>

/* Losses of log score that no proof of a usual length could tell from nothing. */
#define LOSS_OF_ONE 0.005
#define LOSS_OF_ALL 0.01

static double believed(struct sweep *s, const struct configuration *c)
{
	double x[SEARCH_DIMS_MAX], mean, sd;
	if (!space_contains(s->env->space, c)) {
		return NAN; /* no point stands for it, and so there is no belief */
	}
	space_encode(s->env->space, c, x);
	return search_predict(s->search, x, &mean, &sd) ? mean : NAN;
}

/* The setting whose way back costs least; false if there is none that may go. */
static bool cheapest(struct sweep *s, const struct configuration *c, double now,
		     struct configuration *out, double *loss)
{
	bool found = false;
	*loss = LOSS_OF_ONE;
	for (size_t i = 0; i < s->env->space->n; i++) {
		struct configuration without;
		if (!prove_without(s->env->space, c, &s->r->baseline, i, &without)) {
			continue;
		}
		double cost = now - believed(s, &without);
		if (cost < *loss) {
			*loss = cost;
			*out = without;
			found = true;
		}
	}
	return found;
}

/* The values that the kernel takes of the winner: those of the best, but for what went back. */
static void take_effective(struct loop_result *r)
{
	r->winner = r->winner_asked;
	for (size_t i = 0; i < r->winner.n; i++) {
		if (value_equal(&r->winner_asked.v[i], &r->best_asked.v[i])) {
			r->winner.v[i] = r->best.v[i];
		}
	}
}

void loop_prune(struct sweep *s)
{
	struct loop_result *r = s->r;
	double now = r->has_best ? believed(s, &r->best_asked) : NAN, lost = 0, loss;
	struct configuration next;
	r->winner_asked = r->best_asked;
	while (s->log_scores && isfinite(now) && cheapest(s, &r->winner_asked, now, &next, &loss) &&
	       lost + fmax(loss, 0) < LOSS_OF_ALL) {
		lost += fmax(loss, 0);
		now -= loss;
		r->winner_asked = next;
		r->pruned++;
	}
	take_effective(r);
}
