/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stages of a proof and how they share its budget. The measuring of one comparison is
 * validate.c's. Called by loop.c.
 */
#include "prove.h"
#include "monotonic.h"

#define PAIRS_LEAST 8 /* a comparison that gets fewer pairs says nothing */

struct stages { /* one prove_run */
	struct trial_env *env;
	const struct prove_options *o;
	enum proof_stage stage;
	size_t dimension;
	int pairs_left;
	double end;
};

static int seen_in_stage(void *ctx, bool is_first, const struct configuration *effective,
			 const struct sample *s, const struct gain *so_far, struct err *e)
{
	struct stages *t = ctx;
	return t->o->seen ? t->o->seen(t->o->ctx, t->stage, t->dimension, is_first, effective, s,
				       so_far, e)
			  : 0;
}

/* Compares two configurations with at most this many pairs of what is left. */
static int compare(struct stages *t, enum proof_stage stage, size_t dimension,
		   const struct configuration *a, const struct configuration *b, int pairs,
		   struct gain *out, struct err *e)
{
	struct validate_options v = {
		.pairs = pairs < t->pairs_left ? pairs : t->pairs_left,
		.time = t->end - monotonic_seconds(),
		.seed = t->o->seed + 1000 * (uint64_t)stage + dimension,
		.seen = seen_in_stage,
		.ctx = t,
	};
	t->stage = stage;
	t->dimension = dimension;
	int rc = validate_run(t->env, a, b, &v, out, e);
	t->pairs_left -= out->pairs + out->failed;
	return rc;
}

bool prove_without(const struct space *space, const struct configuration *winner,
		   const struct configuration *baseline, size_t dimension,
		   struct configuration *out)
{
	*out = *winner;
	out->v[dimension] = baseline->v[dimension];
	for (size_t i = 0; i < space->n; i++) {
		const struct dimension *d = &space->dims[i];
		if (d->above >= 0 && out->v[i].type == VALUE_INT &&
		    out->v[i].i < out->v[d->above].i) {
			return false;
		}
	}
	space_settle(space, out);
	return space_allows(space, out) && !configuration_equal(out, winner);
}

/* The winner's values in one scope, the baseline's in the other. */
static bool only_scope(const struct space *space, const struct configuration *winner,
		       const struct configuration *baseline, enum tunable_scope scope,
		       struct configuration *out)
{
	*out = *winner;
	for (size_t i = 0; i < space->n; i++) {
		if (space->dims[i].target.setting.tunable->scope != scope) {
			out->v[i] = baseline->v[i];
		}
	}
	space_settle(space, out);
	return space_allows(space, out) && !configuration_equal(out, winner) &&
	       !configuration_equal(out, baseline);
}

static int prove_scopes(struct stages *t, const struct configuration *winner,
			const struct configuration *baseline, int pairs, struct proof *out,
			struct err *e)
{
	struct configuration part;
	int rc = 0;
	if (only_scope(t->env->space, winner, baseline, SCOPE_HOST, &part)) {
		rc = compare(t, PROOF_HOST_ONLY, 0, &part, baseline, pairs, &out->host_only, e);
	}
	if (rc == 0 && only_scope(t->env->space, winner, baseline, SCOPE_RUN, &part)) {
		rc = compare(t, PROOF_APPLICATION_ONLY, 0, &part, baseline, pairs,
			     &out->application_only, e);
	}
	return rc;
}

static int prove_effects(struct stages *t, const struct configuration *winner,
			 const struct configuration *baseline, int pairs, struct proof *out,
			 struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->env->space->n; i++) {
		struct configuration without;
		if (t->pairs_left < PAIRS_LEAST || monotonic_seconds() > t->end) {
			break;
		}
		if (prove_without(t->env->space, winner, baseline, i, &without)) {
			rc = compare(t, PROOF_EFFECT, i, winner, &without, pairs, &out->effect[i],
				     e);
		}
	}
	return rc;
}

/* How many comparisons are still to be made after the gain. */
static int count_rest(const struct space *space, const struct configuration *winner,
		      const struct configuration *baseline)
{
	struct configuration c;
	int n = only_scope(space, winner, baseline, SCOPE_HOST, &c) +
		only_scope(space, winner, baseline, SCOPE_RUN, &c);
	for (size_t i = 0; i < space->n; i++) {
		n += prove_without(space, winner, baseline, i, &c);
	}
	return n;
}

int prove_run(struct trial_env *env, const struct configuration *winner,
	      const struct configuration *baseline, const struct prove_options *o,
	      struct proof *out, struct err *e)
{
	struct stages t = {.env = env, .o = o, .pairs_left = o->pairs};
	t.end = monotonic_seconds() + o->time;
	*out = (struct proof){0};
	int kept = o->against ? o->pairs / 3 : 0;
	int rc = compare(&t, PROOF_GAIN, 0, winner, baseline, o->pairs - kept, &out->gain, e);
	if (rc == 0 && o->against && !configuration_equal(winner, o->against)) {
		int half = t.pairs_left / 2;
		rc = compare(&t, PROOF_AGAINST, 0, winner, o->against, half > kept ? half : kept,
			     &out->against, e);
	}
	int rest = count_rest(env->space, winner, baseline);
	/* Parts of a gain that is none are not looked for. */
	if (rc < 0 || rest == 0 || !out->gain.significant || t.pairs_left < PAIRS_LEAST) {
		return rc;
	}
	int pairs = t.pairs_left / rest;
	pairs = pairs < PAIRS_LEAST ? PAIRS_LEAST : pairs;
	rc = prove_scopes(&t, winner, baseline, pairs, out, e);
	return rc < 0 ? rc : prove_effects(&t, winner, baseline, pairs, out, e);
}
