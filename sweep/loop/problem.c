/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the search is told before its first question: the space with what is forbidden and what a
 * trial costs in seconds, the baseline, what earlier nights have measured, and points that are good
 * elsewhere. Called by loop.c.
 */
#include "loop_private.h"
#include <math.h>
#include <string.h>

#define SECONDS_AROUND 1.0  /* of a sample besides its duration: setting, settling, warming up */
#define SECONDS_RESET  3.0  /* the link goes down and comes back */
#define SECONDS_REBIND 10.0 /* so does the interface itself */

/* Points that decode to one configuration are one; forbidden ones are none. */
static bool canonical_point(const void *ctx, double *x)
{
	const struct sweep *s = ctx;
	struct configuration c;
	space_decode(s->env->space, x, &c);
	space_encode(s->env->space, &c, x);
	return space_allows(s->env->space, &c);
}

static double setting_seconds(const struct dimension *d)
{
	switch (d->target.setting.tunable->cost) {
	case COST_RESET:
		return SECONDS_RESET;
	case COST_REBIND:
		return SECONDS_REBIND;
	default:
		return 0;
	}
}

/* By the catalogue, not by the clock: a resumed run must ask the same again. Several settings that
 * reset one device are set together, and it is waited for once. */
static double trial_seconds(const void *ctx, const double *x)
{
	const struct sweep *s = ctx;
	const struct spec_test *test = &s->env->spec->test;
	struct configuration c;
	double setting = 0;
	space_decode(s->env->space, x, &c);
	for (size_t i = 0; i < c.n; i++) {
		if (i >= s->asked.n || !value_equal(&c.v[i], &s->asked.v[i])) {
			setting = fmax(setting, setting_seconds(&s->env->space->dims[i]));
		}
	}
	return test->samples_min * (test->duration + SECONDS_AROUND) + setting;
}

static bool any_costs(const struct space *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (setting_seconds(&s->dims[i]) > 0) {
			return true;
		}
	}
	return false;
}

static void tell_baseline(struct sweep *s)
{
	const struct tried *t = tried_at(&s->tried, 0);
	if (search_learns(s->search)) {
		struct configuration effective;
		tried_effective(t, &effective);
		loop_tell_sample(s, NULL, &effective, &s->r->baseline_sample);
	} else if (space_contains(s->env->space, &s->r->baseline)) {
		double point[SEARCH_DIMS_MAX];
		space_encode(s->env->space, &s->r->baseline, point);
		loop_tell_median(s, point, t);
	}
}

static void suggest(struct sweep *s, const struct configuration *c)
{
	double point[SEARCH_DIMS_MAX];
	if (space_contains(s->env->space, c) && space_allows(s->env->space, c)) {
		space_encode(s->env->space, c, point);
		search_suggest(s->search, point);
	}
}

/* Earlier nights are groups of their own: their level is not this night's. */
static void tell_earlier(struct sweep *s, const struct warm *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct warm_sample *m = &w->items[i];
		double point[SEARCH_DIMS_MAX];
		struct search_observation o = {.x = point,
					       .y = loop_told_value(s, m->score),
					       .failed = !m->ok,
					       .group = m->group,
					       .earlier = true,
					       .when = m->when};
		if (!space_contains(s->env->space, &m->config)) {
			continue;
		}
		space_encode(s->env->space, &m->config, point);
		for (size_t k = 0; k < SEARCH_MARGINS_MAX; k++) {
			o.margin[k] = NAN;
		}
		search_learn(s->search, &o);
	}
	for (size_t i = 0; i < w->n_winners; i++) {
		suggest(s, &w->winners[i]);
	}
}

int loop_start_search(struct sweep *s, struct err *e)
{
	const struct spec *spec = s->env->spec;
	struct search_problem p = {
		.n = s->env->space->n,
		.budget = spec->samples,
		.seed = spec->seed,
		.n_margins = score_margins(&spec->objective, NULL, NULL, NULL),
		.plain = !s->log_scores,
		.canonical = canonical_point,
		.seconds = any_costs(s->env->space) ? trial_seconds : NULL,
		.ctx = s,
	};
	space_describe(s->env->space, p.dims);
	int rc = search_create(spec->algorithm, &p, &s->search, e);
	if (rc < 0) {
		return rc;
	}
	if (s->o->warm) {
		tell_earlier(s, s->o->warm);
	}
	if (s->o->against) {
		suggest(s, s->o->against);
	}
	tell_baseline(s);
	return 0;
}
