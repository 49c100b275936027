/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sweep. The baseline is measured first and again among the first samples; then the search is
 * asked and told; the last part of the budget measures the leaders again, so that one lucky sample
 * does not decide; then the proof. It prints nothing. Called by the run command and by tests.
 */
#include "loop.h"
#include "monotonic.h"
#include "tried.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEADERS 3 /* configurations that are measured again at the end */

struct sweep { /* one loop_run */
	struct trial_env *env;
	const struct loop_options *o;
	struct loop_result *r;
	struct search *search;
	struct tried_table tried;
	double started, end;
	double best_throughput;
	bool log_scores; /* the search is told log(score) while scores are positive */
};

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
}

static int keep_sample(struct sweep *s, const char *phase, const struct configuration *asked,
		       const struct configuration *effective, const struct sample *sample,
		       int64_t *trial, struct err *e)
{
	if (!s->o->store) {
		return 0;
	}
	if (*trial == 0) {
		json_t *v = space_values(s->env->space, effective);
		json_t *a = space_values(s->env->space, asked);
		int rc = store_add_trial(s->o->store, s->o->run, phase, v, a, trial, e);
		json_decref(v);
		json_decref(a);
		if (rc < 0) {
			return rc;
		}
	}
	return store_add_sample(s->o->store, *trial, sample, sample->m[METRIC_SCORE], e);
}

static void tell_progress(struct sweep *s, enum loop_phase phase,
			  const struct configuration *effective, const struct sample *sample)
{
	int best = tried_best(&s->tried), budget = s->env->spec->samples;
	double spent = monotonic_seconds() - s->started;
	double left = spent / s->r->samples * (budget - s->r->samples);
	struct loop_progress p = {
		.phase = phase,
		.done = s->r->samples,
		.budget = budget,
		.effective = effective,
		.sample = sample,
		.best_score = best < 0 ? NAN : tried_score(&s->tried.items[best]),
		.baseline_score = s->r->baseline_score,
		.seconds_left = fmin(left, s->end - monotonic_seconds()),
	};
	if (s->o->progress) {
		s->o->progress(s->o->ctx, &p);
	}
}

static void note_failure(struct loop_result *r, const char *why)
{
	if (r->failed++ == 0) {
		snprintf(r->first_failure, sizeof(r->first_failure), "%s", why);
	}
}

/* Measures a configuration once, counts and keeps it. *entry is where it is counted. */
static int measure(struct sweep *s, enum loop_phase phase, const struct configuration *asked,
		   struct tried **entry, bool *admissible, struct err *e)
{
	struct sample sample;
	struct configuration effective;
	char why[256] = "";
	int rc = trial_run(s->env, asked, &sample, &effective, e);
	if (rc < 0) {
		goto out;
	}
	const struct sample *base = s->r->baseline_sample.ok ? &s->r->baseline_sample : NULL;
	snprintf(why, sizeof(why), "%s", sample.reason);
	*admissible = sample.ok && score_admissible(&s->env->spec->objective, &sample, base,
						    s->best_throughput, why, sizeof(why));
	*entry = tried_find(&s->tried, asked, &effective);
	if (!*entry || tried_add(*entry, &sample, sample.m[METRIC_SCORE], *admissible) < 0) {
		rc = err_set(e, -ENOMEM, "out of memory");
		goto out;
	}
	s->r->samples++;
	if (!sample.ok) {
		note_failure(s->r, sample.reason);
	} else if (!(s->best_throughput >= sample.m[METRIC_THROUGHPUT])) {
		s->best_throughput = sample.m[METRIC_THROUGHPUT];
	}
	rc = keep_sample(s, phase == LOOP_BASELINE ? "baseline" : "search", asked, &effective,
			 &sample, &(*entry)->trial, e);
	tell_progress(s, phase, &effective, &sample);
out:
	sample_clear(&sample);
	return rc;
}

static bool search_is_over(const struct sweep *s)
{
	return s->r->samples >= s->env->spec->samples || monotonic_seconds() > s->end;
}

static int measure_baseline(struct sweep *s, struct err *e)
{
	struct tried *entry = NULL;
	bool admissible;
	int rc = measure(s, LOOP_BASELINE, &s->r->baseline, &entry, &admissible, e);
	if (rc == 0 && entry->sample.ok) {
		sample_clear(&s->r->baseline_sample);
		sample_copy(&s->r->baseline_sample, &entry->sample);
		s->r->baseline_score = tried_score(entry);
	}
	return rc;
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
	struct interval i = stats_confidence_sequence(t->scores, t->n_scores,
						      test->confidence_level);
	return !((i.hi - i.lo) / fabs(i.estimate) <= test->confidence_width);
}

static double told_value(const struct sweep *s, double score, bool *ok)
{
	if (!s->log_scores) {
		return score;
	}
	*ok = *ok && score > 0;
	return *ok ? log(score) : 0;
}

/* One step of the search: ask, measure, tell. 1: go on; 0: it has nothing more to ask. */
static int search_step(struct sweep *s, struct err *e)
{
	double x[SEARCH_DIMS_MAX];
	struct configuration asked;
	struct tried *entry = NULL;
	bool admissible = false;
	int rc = search_ask(s->search, x, e);
	if (rc <= 0) {
		return rc;
	}
	space_decode(s->env->space, x, &asked);
	do {
		rc = measure(s, LOOP_SEARCH, &asked, &entry, &admissible, e);
		if (rc < 0) {
			return rc;
		}
	} while (wants_another(s, entry));
	bool ok = admissible && entry->n_scores > 0;
	double y = told_value(s, ok ? tried_score(entry) : 0, &ok);
	search_tell(s->search, x, y, ok);
	return 1;
}

/* The baseline again, spread over the first samples, so that its level is not one sample's luck. */
static bool baseline_is_due(const struct sweep *s)
{
	return s->env->spec->samples >= 20 && (s->r->samples == 4 || s->r->samples == 9);
}

/* The last seventh of a larger budget goes to the leaders. */
static int search_budget(const struct spec *spec)
{
	return spec->samples >= 21 && spec->test.samples_max == 1
		       ? spec->samples - spec->samples / 7
		       : spec->samples;
}

static int search_loop(struct sweep *s, struct err *e)
{
	int rc = 1, budget = search_budget(s->env->spec);
	while (rc > 0 && s->r->samples < budget && !search_is_over(s)) {
		rc = baseline_is_due(s) ? measure_baseline(s, e) : 1;
		rc = rc < 0 ? rc : search_step(s, e);
	}
	while (rc >= 0 && budget < s->env->spec->samples && !search_is_over(s)) {
		int i = tried_least_known(&s->tried, LEADERS);
		struct tried *entry;
		bool admissible;
		if (i < 0) {
			break;
		}
		struct configuration again = s->tried.items[i].asked;
		rc = measure(s, LOOP_SEARCH, &again, &entry, &admissible, e);
	}
	return rc < 0 ? rc : 0;
}

static int start_search(struct sweep *s, struct err *e)
{
	const struct spec *spec = s->env->spec;
	struct search_problem p = {
		.n = s->env->space->n, .budget = search_budget(spec), .seed = spec->seed};
	space_describe(s->env->space, p.dims);
	return search_create(spec->algorithm, &p, &s->search, e);
}

static void take_best(struct sweep *s)
{
	struct loop_result *r = s->r;
	int best = tried_best(&s->tried);
	if (best < 0) {
		return;
	}
	const struct tried *t = &s->tried.items[best];
	r->has_best = true;
	r->best = t->effective;
	r->best_asked = t->asked;
	r->best_score = tried_score(t);
	sample_clear(&r->best_sample);
	sample_copy(&r->best_sample, &t->sample);
	r->best_is_baseline = configuration_equal(&r->best, &r->baseline);
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
	return keep_sample(s, "proof", effective, effective, sample, &w->trial[is_first], e);
}

static int prove(struct sweep *s, struct err *e)
{
	const struct spec *spec = s->env->spec;
	struct proof_watch watch = {.sweep = s};
	struct prove_options o = {
		.pairs = spec->proof_pairs,
		.time = spec->proof_time,
		.seed = spec->seed,
		.seen = seen_in_proof,
		.ctx = &watch,
	};
	struct loop_result *r = s->r;
	if (!r->has_best || r->best_is_baseline || !r->baseline_sample.ok ||
	    spec->proof_pairs == 0) {
		return 0;
	}
	int rc = prove_run(s->env, &r->best_asked, &r->baseline, &o, &r->proof, e);
	r->has_gain = r->proof.gain.pairs > 0;
	return rc;
}

int loop_run(struct trial_env *env, const struct loop_options *o, struct loop_result *result,
	     struct err *e)
{
	struct sweep s = {.env = env, .o = o, .r = result, .best_throughput = NAN};
	s.started = monotonic_seconds();
	s.end = s.started + env->spec->time;
	result->assumed_baseline = !space_baseline(env->space, &result->baseline);
	int rc = start_search(&s, e);
	if (rc == 0) {
		rc = measure_baseline(&s, e);
	}
	if (rc == 0) {
		s.log_scores = !(result->baseline_score <= 0);
		rc = search_loop(&s, e);
	}
	take_best(&s);
	if (rc == 0) {
		rc = prove(&s, e);
	}
	result->interrupted = rc == -EINTR;
	result->seconds = monotonic_seconds() - s.started;
	search_destroy(s.search);
	tried_clear(&s.tried);
	return rc == -EINTR ? 0 : rc;
}
