/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sample of a sweep: measured, counted among the tried, kept in the store, told to the search
 * and to whoever watches. What is measured next is decided in loop.c, which calls this.
 */
#include "loop_private.h"
#include "monotonic.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

int loop_keep_sample(struct sweep *s, const char *phase, const struct configuration *asked,
		     const struct configuration *effective, const struct sample *sample,
		     int64_t *trial, struct err *e)
{
	if (s->env->replayed) {
		*trial = s->env->replayed; /* it is there already */
		return 0;
	}
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
		.best_score = best < 0 ? NAN : tried_score(tried_at(&s->tried, (size_t)best)),
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

double loop_told_value(const struct sweep *s, double score)
{
	return s->log_scores ? (score > 0 ? log(score) : NAN) : score;
}

void loop_tell_median(struct sweep *s, const double *point, const struct tried *t)
{
	double y = loop_told_value(s, tried_score(t));
	if (!search_learns(s->search)) {
		search_tell(s->search, point, isfinite(y) ? y : 0,
			    isfinite(y) && t->n_scores > t->n_failed);
	}
}

void loop_tell_sample(struct sweep *s, const double *point, const struct configuration *effective,
		      const struct sample *sample)
{
	double took[SEARCH_DIMS_MAX];
	struct search_observation o = {.x = took, .asked = point, .failed = !sample->ok};
	space_encode(s->env->space, effective, took);
	if (!space_contains(s->env->space, effective)) {
		if (!point) {
			return; /* a baseline outside the space: no point of it stands for that */
		}
		o.x = point;
	}
	o.cut_link = sample->cut_link;
	o.y = loop_told_value(s, sample->m[METRIC_SCORE]);
	score_margins(&s->env->spec->objective, sample, &s->r->baseline_sample, o.margin);
	search_learn(s->search, &o);
}

/* Takes the baseline's first good sample (until then the failed one, for its reason) as the measure
 * of guards and of the scale. */
static void note_baseline(struct sweep *s, const struct sample *sample)
{
	if (s->r->baseline_sample.ok) {
		return;
	}
	sample_clear(&s->r->baseline_sample);
	sample_copy(&s->r->baseline_sample, sample);
	if (sample->ok) {
		s->log_scores = sample->m[METRIC_SCORE] > 0;
	}
}

static int count_sample(struct sweep *s, const struct configuration *asked,
			const struct configuration *effective, const struct sample *sample,
			struct tried **entry, struct err *e)
{
	char why[256] = "";
	const struct sample *base = s->r->baseline_sample.ok ? &s->r->baseline_sample : NULL;
	bool admissible = sample->ok && score_admissible(&s->env->spec->objective, sample, base,
							 s->best_throughput, why, sizeof(why));
	*entry = tried_find(&s->tried, asked, effective);
	if (!*entry ||
	    tried_add(&s->tried, *entry, sample, sample->m[METRIC_SCORE], admissible) < 0) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	s->r->samples++;
	if (!sample->ok) {
		note_failure(s->r, sample->reason);
	} else if (!(s->best_throughput >= sample->m[METRIC_THROUGHPUT])) {
		s->best_throughput = sample->m[METRIC_THROUGHPUT];
	}
	return 0;
}

/* A sample that is surely this far below the guard need not run to its end. */
static double hopeless_throughput(const struct sweep *s)
{
	const struct sample *base = &s->r->baseline_sample;
	bool guarded = base->ok && s->env->spec->objective.guards != GUARDS_NONE;
	return guarded && base->m[METRIC_THROUGHPUT] > 0 ? 0.9 * base->m[METRIC_THROUGHPUT] : 0;
}

/* The host is gone, perhaps by what was just set: kept, so that a run which is resumed does not go
 * near it again. The baseline cuts nothing. */
static void keep_lost_host(struct sweep *s, const struct configuration *asked,
			   const struct err *why)
{
	struct sample sample;
	struct err ignored;
	int64_t trial = 0;
	sample_init(&sample);
	sample_fail(&sample, "the host was lost: %s", why->text);
	sample.cut_link = true;
	s->env->replayed = 0;
	loop_keep_sample(s, "search", asked, asked, &sample, &trial, &ignored);
	sample_clear(&sample);
}

/* Counts, keeps, tells: all that follows a trial. The store has the pair's own numbers, the rest of
 * the sweep sees them at the first pair's level. */
static int take(struct sweep *s, enum loop_phase phase, const double *point,
		const struct fleet_trial *t, struct tried **entry, struct err *e)
{
	struct sample level;
	s->asked = *t->asked;
	sample_copy(&level, &t->sample);
	fleet_normalize(s->env->fleet, t->pair, &level);
	s->env->replayed = t->replayed;
	if (phase == LOOP_BASELINE) {
		note_baseline(s, &level);
	}
	int rc = count_sample(s, t->asked, &t->effective, &level, entry, e);
	if (rc == 0) {
		rc = loop_keep_sample(s, phase == LOOP_BASELINE ? "baseline" : "search", t->asked,
				      &t->effective, &t->sample, &(*entry)->trial, e);
	}
	if (rc == 0) {
		if (s->search && search_learns(s->search)) {
			loop_tell_sample(s, point, &t->effective, &level);
		}
		tell_progress(s, phase, &t->effective, &t->sample);
	}
	sample_clear(&level);
	return rc;
}

int loop_measure_many(struct sweep *s, enum loop_phase phase, double (*point)[SEARCH_DIMS_MAX],
		      struct fleet_trial *t, size_t n, struct err *e)
{
	struct tried *entry;
	s->env->stop_below = phase == LOOP_SEARCH ? hopeless_throughput(s) : 0;
	int rc = fleet_run(s->env, t, n, e);
	s->env->stop_below = 0;
	for (size_t i = 0; i < n; i++) {
		if (rc == 0) {
			rc = take(s, phase, point[i], &t[i], &entry, e);
		}
		if (rc == 0) {
			loop_tell_median(s, point[i], entry);
		}
		sample_clear(&t[i].sample);
	}
	return rc;
}

int loop_measure(struct sweep *s, enum loop_phase phase, const double *point,
		 const struct configuration *asked, struct tried **entry, struct err *e)
{
	struct fleet_trial t = {.asked = asked};
	s->env->stop_below = phase == LOOP_SEARCH ? hopeless_throughput(s) : 0;
	int rc = trial_run(s->env, asked, &t.sample, &t.effective, e);
	t.replayed = s->env->replayed;
	s->env->stop_below = 0;
	if (rc == -EHOSTDOWN && phase == LOOP_SEARCH &&
	    !configuration_equal(asked, &s->r->baseline)) {
		keep_lost_host(s, asked, e);
	}
	rc = rc < 0 ? rc : take(s, phase, point, &t, entry, e);
	sample_clear(&t.sample);
	return rc;
}
