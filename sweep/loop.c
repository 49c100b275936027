/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sweep. The baseline is measured first and again among the first samples; then the search is
 * asked and told; the last part of the budget measures the leaders again, so that one lucky sample
 * does not decide; then the proof. It prints nothing. Called by the run command and by tests.
 */
#include "loop_private.h"
#include "monotonic.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define LEADERS 3 /* configurations that are measured again at the end */

void loop_result_init(struct loop_result *r)
{
	*r = (struct loop_result){.baseline_score = NAN, .best_score = NAN};
	sample_init(&r->baseline_sample);
	sample_init(&r->best_sample);
}

void loop_result_clear(struct loop_result *r)
{
	sample_clear(&r->baseline_sample);
	sample_clear(&r->best_sample);
	json_decref(r->model);
	json_decref(r->pairs);
}

static bool search_is_over(const struct sweep *s)
{
	return s->r->samples >= s->env->spec->samples || monotonic_seconds() > s->end;
}

static int measure_baseline(struct sweep *s, struct err *e)
{
	double point[SEARCH_DIMS_MAX];
	struct tried *entry = NULL;
	int rc = loop_measure(s, LOOP_BASELINE, NULL, &s->r->baseline, &entry, e);
	if (rc < 0) {
		return rc;
	}
	s->r->baseline_score = tried_score(entry);
	if (s->search && space_contains(s->env->space, &s->r->baseline)) {
		space_encode(s->env->space, &s->r->baseline, point);
		loop_tell_median(s, point, entry);
	}
	return 0;
}

/* Repeats of one configuration, if the spec wants a confidence: until the interval is narrow
 * enough or the samples are used up. */
static bool wants_another(const struct sweep *s, const struct tried *t)
{
	const struct spec_test *test = &s->env->spec->test;
	size_t n = t->n_scores + t->n_failed;
	if (n >= (size_t)test->samples_max || t->n_failed > 0 || search_is_over(s)) {
		return false;
	}
	if (n < (size_t)test->samples_min) {
		return true;
	}
	struct interval i = stats_confidence_sequence(tried_scores(t), t->n_scores,
						      test->confidence_level);
	return !((i.hi - i.lo) / fabs(i.estimate) <= test->confidence_width);
}

/* One step of the search: ask, measure, tell. 1: go on; 0: it has nothing more to ask. */
static int search_step(struct sweep *s, struct err *e)
{
	double x[SEARCH_DIMS_MAX];
	struct configuration asked;
	struct tried *entry = NULL;
	int rc = search_ask(s->search, x, e);
	if (rc <= 0) {
		return rc;
	}
	space_decode(s->env->space, x, &asked);
	do {
		rc = loop_measure(s, LOOP_SEARCH, x, &asked, &entry, e);
		if (rc < 0) {
			return rc;
		}
	} while (wants_another(s, entry));
	loop_tell_median(s, x, entry);
	return 1;
}

/* The baseline again, spread over the first samples, so that its level is not one sample's luck.
 * The levels of a pool are measured before. */
static bool baseline_is_due(const struct sweep *s)
{
	return fleet_width(s->env->fleet) < 2 && s->env->spec->samples >= 20 &&
	       (s->r->samples == 4 || s->r->samples == 9);
}

/* The last seventh of a larger budget goes to the leaders; a search that learns measures again by
 * itself where that pays. */
static int search_budget(const struct sweep *s)
{
	const struct spec *spec = s->env->spec;
	bool race = spec->samples >= 21 && spec->test.samples_max == 1;
	return race && !search_learns(s->search) ? spec->samples - spec->samples / 7
						 : spec->samples;
}

static int race_leaders(struct sweep *s, struct err *e)
{
	int rc = 0;
	while (rc == 0 && !search_is_over(s)) {
		int i = tried_least_known(&s->tried, LEADERS);
		struct tried *entry;
		struct configuration again;
		if (i < 0) {
			break;
		}
		tried_asked(tried_at(&s->tried, (size_t)i), &again);
		rc = loop_measure(s, LOOP_SEARCH, NULL, &again, &entry, e);
	}
	return rc;
}

static int search_loop(struct sweep *s, struct err *e)
{
	int rc = 1, budget = search_budget(s);
	while (rc > 0 && s->r->samples < budget && !search_is_over(s)) {
		rc = baseline_is_due(s) ? measure_baseline(s, e) : 1;
		size_t most = (size_t)(budget - s->r->samples);
		rc = rc < 0			      ? rc
		     : fleet_width(s->env->fleet) > 1 ? loop_pool_step(s, most, e)
						      : search_step(s, e);
	}
	s->r->exhausted = rc == 0;
	return rc >= 0 && !search_learns(s->search) && budget < s->env->spec->samples
		       ? race_leaders(s, e)
		       : (rc < 0 ? rc : 0);
}

/* Metrics of the table are positive; a command's own score may have any sign. */
static bool expects_positive_scores(const struct objective *o)
{
	int m = metric_find(o->numerator);
	return !strcmp(o->numerator, "1") || (m >= 0 && m != METRIC_SCORE);
}

/* The entry that the search recommends, which knows more than medians; else the best median. */
static int best_entry(struct sweep *s)
{
	double x[SEARCH_DIMS_MAX], mean, sd;
	struct configuration c;
	if (search_recommend(s->search, x, &mean, &sd) == 1) {
		space_decode(s->env->space, x, &c);
		for (size_t i = 0; i < tried_count(&s->tried); i++) {
			const struct tried *t = tried_at(&s->tried, i);
			if (t->n_scores > t->n_failed && tried_is(t, &c)) {
				return (int)i;
			}
		}
	}
	return tried_best(&s->tried);
}

static json_t *key_of(const struct sweep *s, const json_t *dimension)
{
	json_int_t i = json_integer_value(dimension);
	return json_string(i >= 0 && (size_t)i < s->env->space->n ? s->env->space->dims[i].key
								  : "?");
}

/* The search speaks of dimensions, readers of settings. */
static void take_model(struct sweep *s)
{
	json_t *model = search_explain(s->search), *one;
	size_t i;
	json_array_foreach(json_object_get(model, "effects"), i, one)
	{
		json_object_set_new(one, "set", key_of(s, json_object_get(one, "dim")));
		json_object_del(one, "dim");
	}
	json_array_foreach(json_object_get(model, "interactions"), i, one)
	{
		const json_t *dims = json_object_get(one, "dims");
		json_object_set_new(one, "sets",
				    json_pack("[o, o]", key_of(s, json_array_get(dims, 0)),
					      key_of(s, json_array_get(dims, 1))));
		json_object_del(one, "dims");
	}
	s->r->model = model;
}

/* Where noise has made everything fall below the guards, which hold the baseline's first sample
 * against each one, the defaults are still what stays. -1 if the baseline never met what the spec
 * requires. */
static int baseline_entry(const struct sweep *s)
{
	for (size_t i = 0; i < tried_count(&s->tried); i++) {
		const struct tried *t = tried_at(&s->tried, i);
		if (t->n_scores > 0 && tried_is(t, &s->r->baseline)) {
			return (int)i;
		}
	}
	return -1;
}

static void take_best(struct sweep *s)
{
	struct loop_result *r = s->r;
	int best = s->search ? best_entry(s) : -1;
	best = s->search && best < 0 ? baseline_entry(s) : best;
	if (best < 0) {
		return;
	}
	const struct tried *t = tried_at(&s->tried, (size_t)best);
	r->has_best = true;
	tried_effective(t, &r->best);
	tried_asked(t, &r->best_asked);
	r->best_score = tried_score(t);
	tried_sample(t, &r->best_sample);
	r->best_is_baseline = configuration_equal(&r->best, &r->baseline);
	r->knows_remaining = search_remaining(s->search, &r->remaining);
	take_model(s);
}

struct proof_watch { /* what seen_in_proof needs */
	struct sweep *sweep;
	enum proof_stage stage;
	size_t dimension;
	int64_t trial[2]; /* of the comparison under way */
};

static int seen_in_proof(void *ctx, enum proof_stage stage, size_t dimension, bool is_first,
			 const struct configuration *effective, const struct sample *sample,
			 const struct gain *so_far, struct err *e)
{
	struct proof_watch *w = ctx;
	struct sweep *s = w->sweep;
	struct loop_progress p = {
		.phase = LOOP_PROOF,
		.done = so_far->pairs,
		.budget = s->env->spec->proof_pairs,
		.effective = effective,
		.sample = sample,
		.best_score = s->r->best_score,
		.baseline_score = s->r->baseline_score,
		.gain = so_far,
		.stage = stage,
		.dimension = dimension,
		.seconds_left = NAN,
	};
	if (stage != w->stage || dimension != w->dimension) {
		*w = (struct proof_watch){.sweep = s, .stage = stage, .dimension = dimension};
	}
	if (s->o->progress) {
		s->o->progress(s->o->ctx, &p);
	}
	return loop_keep_sample(s, "proof", effective, effective, sample, &w->trial[is_first], e);
}

static int prove(struct sweep *s, struct err *e)
{
	const struct spec *spec = s->env->spec;
	struct proof_watch watch = {.sweep = s};
	struct prove_options o = {
		.pairs = spec->proof_pairs,
		.time = spec->proof_time,
		.seed = spec->seed,
		.against = s->o->against,
		.seen = seen_in_proof,
		.ctx = &watch,
	};
	struct loop_result *r = s->r;
	double began = monotonic_seconds();
	if (!r->has_best || r->best_is_baseline || !r->baseline_sample.ok ||
	    spec->proof_pairs == 0) {
		return 0;
	}
	int rc = prove_run(s->env, &r->winner_asked, &r->baseline, &o, &r->proof, e);
	r->has_gain = r->proof.gain.pairs > 0;
	bool proved = r->proof.gain.significant && r->proof.gain.score.lo > 0;
	if (rc == 0 && proved && s->o->engine && spec->proof_panel) {
		struct panel_options p = {.end = began + spec->proof_time,
					  .seed = spec->seed,
					  .engine = s->o->engine,
					  .ctx = s->o->ctx};
		rc = panel_run(s->env, &r->winner_asked, &r->baseline, &p, &r->panel, e);
	}
	return rc;
}

int loop_run(struct trial_env *env, const struct loop_options *o, struct loop_result *result,
	     struct err *e)
{
	struct sweep s = {.env = env, .o = o, .r = result, .best_throughput = NAN};
	s.started = monotonic_seconds();
	s.end = s.started + env->spec->time;
	result->assumed_baseline = !space_baseline(env->space, &result->baseline);
	s.log_scores = expects_positive_scores(&env->spec->objective);
	int rc = measure_baseline(&s, e);
	rc = rc ? rc : loop_level_pairs(&s, e);
	if (rc == 0) {
		rc = loop_start_search(&s, e);
	}
	if (rc == 0) {
		rc = search_loop(&s, e);
	}
	take_best(&s);
	loop_prune(&s);
	if (rc == 0) {
		rc = prove(&s, e);
	}
	result->interrupted = rc == -EINTR;
	result->seconds = monotonic_seconds() - s.started;
	search_destroy(s.search);
	tried_clear(&s.tried);
	return rc == -EINTR ? 0 : rc;
}
