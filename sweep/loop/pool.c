/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sweep does otherwise on a pool: levels first, then as many configurations at once as there
 * are pairs. Called by loop.c.
 */
#include "cleanup.h"
#include "fleet.h"
#include "loop_private.h"
#include <errno.h>

enum { LEVEL_ROUNDS = 4 };

/* Kept with the sweep, but not counted: they tell of pairs, not of configurations. */
static int keep_levels(struct sweep *s, const struct fleet_trial *t, size_t n, struct err *e)
{
	int64_t trial = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		s->env->replayed = t[i].replayed;
		rc = loop_keep_sample(s, "baseline", t[i].asked, &t[i].effective, &t[i].sample,
				      &trial, e);
	}
	return rc;
}

int loop_level_pairs(struct sweep *s, struct err *e)
{
	size_t width = fleet_width(s->env->fleet);
	int rc = 0;
	if (width < 2) {
		return 0;
	}
	auto_free struct fleet_trial *t = calloc(LEVEL_ROUNDS * width, sizeof(*t));
	if (!t) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < LEVEL_ROUNDS * width; i++) {
		t[i].asked = &s->r->baseline;
	}
	for (size_t i = 0; rc == 0 && i < LEVEL_ROUNDS; i++) {
		rc = fleet_run(s->env, &t[i * width], width, e);
		rc = rc ? rc : keep_levels(s, &t[i * width], width, e);
	}
	if (rc == 0) {
		fleet_judge(s->env->fleet, t, LEVEL_ROUNDS, &s->r->pairs);
	}
	for (size_t i = 0; i < LEVEL_ROUNDS * width; i++) {
		sample_clear(&t[i].sample);
	}
	return rc;
}

struct step { /* large: not for the stack */
	double x[FLEET_MAX][SEARCH_DIMS_MAX];
	struct fleet_trial t[FLEET_MAX];
	struct configuration asked[FLEET_MAX];
};

int loop_pool_step(struct sweep *s, size_t most, struct err *e)
{
	size_t n = 1, width = fleet_width(s->env->fleet);
	auto_free struct step *p = calloc(1, sizeof(*p));
	int rc = p ? search_ask(s->search, p->x[0], e) : err_set(e, -ENOMEM, "out of memory");
	if (rc <= 0) {
		return rc;
	}
	while (n < width && n < most && search_ask_more(s->search, p->x[n], e) > 0) {
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		space_decode(s->env->space, p->x[i], &p->asked[i]);
		p->t[i].asked = &p->asked[i];
	}
	rc = loop_measure_many(s, LOOP_SEARCH, p->x, p->t, n, e);
	return rc < 0 ? rc : 1;
}
