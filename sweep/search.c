/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The family of searches by name: the only file that knows all of them. It also keeps what every
 * member may rely on: points in the middle of their cells, and values that are always finite, also
 * for failed trials. Called by the loop.
 */
#include "search_private.h"

#include "cleanup.h"
#include "value.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define AUTO "auto"

static const struct search_ops *const own[] = {
	&search_surrogate, &search_sobol, &search_random, &search_grid, &search_coordinate,
};

struct search {
	const struct search_ops *ops;
	void *state;
	struct search_problem problem;
	bool seen;
	double best, worst; /* of those that did not fail */
	/* For members that know nothing of canonical points and forbidden ones. */
	struct search_memory memory;	   /* canonical points */
	double raw[SEARCH_DIMS_MAX];	   /* as the member asked, ... */
	double canonical[SEARCH_DIMS_MAX]; /* ... and what is measured for it */
	bool outstanding;
	int asked;
};

/* Names with NLOPT_ in front are NLopt's own spelling. */
static const char *plain_name(const char *name)
{
	return strncasecmp(name, "NLOPT_", 6) == 0 ? name + 6 : name;
}

const char *const *search_names(void)
{
	static const char *const names[] = {
		AUTO,
		"surrogate",
		"sobol",
		"random",
		"grid",
		"coordinate",
		"GN_DIRECT",
		"GN_DIRECT_L",
		"GN_DIRECT_L_RAND",
		"GN_DIRECT_NOSCAL",
		"GN_DIRECT_L_NOSCAL",
		"GN_DIRECT_L_RAND_NOSCAL",
		"GN_ORIG_DIRECT",
		"GN_ORIG_DIRECT_L",
		"GN_CRS2_LM",
		"GN_MLSL",
		"GN_MLSL_LDS",
		"GN_ISRES",
		"GN_ESCH",
		"G_MLSL",
		"G_MLSL_LDS",
		"LN_PRAXIS",
		"LN_COBYLA",
		"LN_NEWUOA",
		"LN_NEWUOA_BOUND",
		"LN_NELDERMEAD",
		"LN_SBPLX",
		"LN_BOBYQA",
		"LN_AUGLAG",
		"LN_AUGLAG_EQ",
		"AUGLAG",
		"AUGLAG_EQ",
		NULL,
	};
	return names;
}

static const struct search_ops *find(const char *algorithm, struct err *e)
{
	const char *name = plain_name(algorithm);
	if (strcmp(name, AUTO) == 0) {
		return &search_surrogate; /* it needs the fewest measurements: tests/bench/README.md
					   */
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (strcmp(own[i]->name, name) == 0) {
			return own[i];
		}
	}
	int ignored, rc = search_nlopt_find(name, &ignored, e);
	if (rc == -ENOENT) {
		const char *near = nearest_word(name, search_names(), SIZE_MAX);
		err_usage(e,
			  "there is no algorithm '%.40s'%s%s%s (auto, surrogate, sobol, random, "
			  "grid, "
			  "coordinate, or a derivative-free one of NLopt, e.g. GN_DIRECT_L)",
			  algorithm, near ? "; did you mean '" : "", near ? near : "",
			  near ? "'?" : "");
	}
	return rc ? NULL : &search_nlopt;
}

bool search_known(const char *algorithm, struct err *e)
{
	return find(algorithm, e) != NULL;
}

int search_create(const char *algorithm, const struct search_problem *p, struct search **out,
		  struct err *e)
{
	const struct search_ops *ops = find(algorithm, e);
	if (!ops) {
		return -EINVAL;
	}
	if (p->n < 1 || p->n > SEARCH_DIMS_MAX || p->budget < 1) {
		return err_usage(e, "a search wants 1 to %d dimensions and a budget above 0",
				 SEARCH_DIMS_MAX);
	}
	struct search *s = calloc(1, sizeof(*s));
	if (!s) {
		return err_set(e, -ENOMEM, "out of memory for the search");
	}
	s->ops = ops;
	s->problem = *p;
	int rc = ops->create(p, plain_name(algorithm), &s->state, e);
	if (rc) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

#define VALUE_LIMIT 1e30 /* models square what they are told: it must stay finite */

/* Below all that were seen, by half of their spread: far enough to be avoided, near enough not to
 * swamp the differences that matter. Before any success there is no scale; values are logarithms
 * in all but odd cases, and this is below any of those. */
static double failed_value(const struct search *s)
{
	if (!s->seen) {
		return -1000;
	}
	double margin = 0.5 * (s->best - s->worst);
	return s->worst - fmax(margin, 0.05 * fmax(fabs(s->worst), 1e-3));
}

#define REFUSALS 20000 /* points in a row that cannot be measured, or are known by another name */

/* Moves the member's point to the canonical one. False: it is answered already. */
static bool takes_point(struct search *s)
{
	const struct search_problem *p = &s->problem;
	memcpy(s->canonical, s->raw, sizeof(s->canonical));
	if (!p->canonical) {
		return true;
	}
	if (!p->canonical(p->ctx, s->canonical)) {
		s->ops->tell(s->state, s->raw, failed_value(s), true);
		return false;
	}
	search_snap(p, s->canonical);
	struct search_told known;
	bool is_known = search_recall(&s->memory, p, s->canonical, &known);
	if (is_known) {
		s->ops->tell(s->state, s->raw, known.mean, false);
	}
	return !is_known;
}

static int ask_member(struct search *s, struct err *e)
{
	int rc = s->asked < s->problem.budget;
	for (int i = 0; rc == 1 && i < REFUSALS; i++) {
		rc = s->ops->ask(s->state, s->raw, e);
		if (rc == 1 && takes_point(s)) {
			s->asked++;
			s->outstanding = true;
			return 1;
		}
	}
	return rc < 0 ? rc : 0;
}

int search_ask(struct search *s, double *x, struct err *e)
{
	if (search_learns(s)) {
		return s->ops->ask(s->state, x, e);
	}
	int rc = s->outstanding ? 1 : ask_member(s, e);
	if (rc == 1) {
		memcpy(x, s->canonical, s->problem.n * sizeof(double));
	}
	return rc;
}

/* The member is told where it had asked. */
static void tell_member(struct search *s, const double *at, const struct search_observation *o)
{
	size_t bytes = s->problem.n * sizeof(double);
	bool answer = s->outstanding && memcmp(at, s->canonical, bytes) == 0;
	/* out of memory: forgotten, which only costs a measurement */
	search_remember(&s->memory, &s->problem, at, o->y);
	s->outstanding = false;
	s->ops->tell(s->state, answer ? s->raw : at, o->y, o->failed);
}

void search_tell(struct search *s, const double *x, double y, bool ok)
{
	struct search_observation o = {.x = x, .y = y, .failed = !ok};
	search_learn(s, &o);
}

void search_learn(struct search *s, const struct search_observation *o)
{
	double point[SEARCH_DIMS_MAX], asked[SEARCH_DIMS_MAX];
	struct search_observation known = *o;
	known.failed = o->failed || !isfinite(o->y);
	known.y = fmax(-VALUE_LIMIT, fmin(o->y, VALUE_LIMIT));
	if (!known.failed && o->group == 0) {
		s->best = s->seen ? fmax(s->best, known.y) : known.y;
		s->worst = s->seen ? fmin(s->worst, known.y) : known.y;
		s->seen = true;
	}
	memcpy(point, o->x, s->problem.n * sizeof(double));
	memcpy(asked, o->asked ? o->asked : o->x, s->problem.n * sizeof(double));
	search_snap(&s->problem, point);
	search_snap(&s->problem, asked);
	known.x = point;
	known.asked = asked;
	known.y = known.failed ? failed_value(s) : known.y;
	if (s->ops->learn) {
		s->ops->learn(s->state, &known);
	} else if (o->group == 0) {
		tell_member(s, asked, &known);
	}
}

int search_ask_more(struct search *s, double *x, struct err *e)
{
	return s->ops->ask_more ? s->ops->ask_more(s->state, x, e) : 0;
}

void search_suggest(struct search *s, const double *x)
{
	double point[SEARCH_DIMS_MAX];
	memcpy(point, x, s->problem.n * sizeof(double));
	search_snap(&s->problem, point);
	if (s->ops->suggest) {
		s->ops->suggest(s->state, point);
	}
}

bool search_learns(const struct search *s)
{
	return s->ops->learn != NULL;
}

int search_recommend(struct search *s, double *x, double *mean, double *sd)
{
	return s->ops->recommend ? s->ops->recommend(s->state, x, mean, sd) : 0;
}

bool search_predict(struct search *s, const double *x, double *mean, double *sd)
{
	double point[SEARCH_DIMS_MAX];
	memcpy(point, x, s->problem.n * sizeof(*x));
	search_snap(&s->problem, point);
	return s->ops->predict && s->ops->predict(s->state, point, mean, sd);
}

bool search_remaining(struct search *s, double *gain)
{
	return s->ops->remaining && s->ops->remaining(s->state, gain);
}

json_t *search_explain(struct search *s)
{
	return s->ops->explain ? s->ops->explain(s->state) : NULL;
}

void search_destroy(struct search *s)
{
	if (!s) {
		return;
	}
	s->ops->destroy(s->state);
	search_forget(&s->memory);
	free(s);
}
