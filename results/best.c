/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a sweep as result.json's object and as a profile. Measures nothing, writes no file.
 */
#include "best.h"
#include "cleanup.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool works(const struct best_point *p)
{
	return p->values && p->sample && p->sample->ok;
}

/* A gain is a comparison: without a baseline that works there is none. */
static bool gain_known(const struct best_inputs *in)
{
	return in->has_gain && works(&in->baseline) && works(&in->best);
}

bool best_is_recommended(const struct best_inputs *in)
{
	if (!works(&in->best)) {
		return false;
	}
	if (!works(&in->baseline)) {
		return true;
	}
	return gain_known(in) && in->significant && in->score.estimate > 0;
}

static json_t *point_json(const struct best_point *p)
{
	json_t *o = json_object();
	if (!p->values) {
		json_decref(o);
		return json_null();
	}
	json_object_set_new(o, "values", json_deep_copy(p->values));
	if (p->asked && !json_equal(p->asked, p->values)) {
		json_object_set_new(o, "asked", json_deep_copy(p->asked));
	}
	json_object_set_new(o, "score", json_number_or_null(p->score));
	for (int m = 0; m < METRIC_COUNT; m++) {
		if (m != METRIC_SCORE) {
			json_object_set_new(o, metric_name(m),
					    json_number_or_null(p->sample ? p->sample->m[m] : NAN));
		}
	}
	json_object_set_new(o, "limited_by",
			    json_text_or_null(p->sample ? p->sample->limited_by : NULL));
	if (p->sample && !p->sample->ok) {
		json_object_set_new(o, "reason", json_text_or_null(p->sample->reason));
	}
	return o;
}

static json_t *bounds_json(const struct interval *i)
{
	json_t *a = json_array();
	json_array_append_new(a, json_number_or_null(i->lo));
	json_array_append_new(a, json_number_or_null(i->hi));
	return a;
}

/* A part of the gain, or null where the budget did not reach to measure it. */
static json_t *part_json(const struct best_part *p)
{
	json_t *o = json_object();
	if (p->pairs == 0) {
		json_decref(o);
		return json_null();
	}
	if (p->key) {
		json_object_set_new(o, "set", json_string(p->key));
	}
	json_object_set_new(o, "percent", json_number_or_null(p->score.estimate));
	json_object_set_new(o, "interval", bounds_json(&p->score));
	json_object_set_new(o, "throughput_percent", json_number_or_null(p->throughput.estimate));
	json_object_set_new(o, "service_demand_percent",
			    json_number_or_null(p->service_demand.estimate));
	json_object_set_new(o, "pairs", json_integer(p->pairs));
	return o;
}

static json_t *against_json(const struct best_part *p)
{
	struct best_part nameless = *p;
	nameless.key = NULL;
	json_t *o = part_json(&nameless);
	if (json_is_object(o)) {
		json_object_set_new(o, "profile", json_text_or_null(p->key));
	}
	return o;
}

static json_t *effects_json(const struct best_inputs *in)
{
	json_t *a = json_array();
	for (size_t i = 0; i < in->n_effects; i++) {
		if (in->effects[i].pairs > 0) {
			json_array_append_new(a, part_json(&in->effects[i]));
		}
	}
	return a;
}

static void set_known(json_t *o, const char *key, double x)
{
	if (isfinite(x)) {
		json_object_set_new(o, key, json_real(x));
	}
}

static void set_medians(json_t *o, const struct best_medians *m)
{
	set_known(o, "throughput", m->throughput);
	set_known(o, "service_demand", m->service_demand);
	set_known(o, "score", m->score);
}

static json_t *medians_json(const struct best_inputs *in)
{
	json_t *o = json_object(), *baseline = json_object(), *best = json_object();
	set_medians(baseline, &in->proof_baseline);
	set_medians(best, &in->proof_best);
	json_object_set_new(o, "baseline", baseline);
	json_object_set_new(o, "best", best);
	return o;
}

static json_t *gain_json(const struct best_inputs *in)
{
	if (!gain_known(in)) {
		return json_null();
	}
	json_t *o = json_object();
	double estimate = in->score.estimate;
	json_object_set_new(o, "percent", json_number_or_null(in->as_difference ? NAN : estimate));
	if (in->as_difference) {
		json_object_set_new(o, "difference", json_number_or_null(estimate));
	}
	json_object_set_new(o, "interval", bounds_json(&in->score));
	json_object_set_new(o, "level", json_number_or_null(in->score.level));
	json_object_set_new(o, "significant", json_boolean(in->significant));
	json_object_set_new(o, "pairs", json_integer(in->pairs));
	json_object_set_new(o, "throughput_percent", json_number_or_null(in->throughput.estimate));
	json_object_set_new(o, "throughput_interval", bounds_json(&in->throughput));
	json_object_set_new(o, "service_demand_percent",
			    json_number_or_null(in->service_demand.estimate));
	json_object_set_new(o, "service_demand_interval", bounds_json(&in->service_demand));
	json_object_set_new(o, "medians", medians_json(in));
	json_object_set_new(o, "against", against_json(&in->against));
	json_object_set_new(o, "host_only", part_json(&in->host_only));
	json_object_set_new(o, "application_only", part_json(&in->application_only));
	return o;
}

json_t *best_result_json(const struct best_inputs *in)
{
	json_t *o = json_object();
	json_object_set_new(o, "tunesweep_result", json_integer(1));
	json_object_set_new(o, "run", json_text_or_null(in->run));
	json_object_set_new(o, "name", json_text_or_null(in->name));
	json_object_set_new(o, "status", json_text_or_null(in->status));
	json_object_set_new(o, "samples", json_integer(in->samples));
	json_object_set_new(o, "failed", json_integer(in->failed));
	json_object_set_new(o, "seconds", json_number_or_null(in->seconds));
	json_object_set_new(o, "baseline", point_json(&in->baseline));
	json_object_set_new(o, "best", point_json(&in->best));
	json_object_set_new(o, "gain", gain_json(in));
	json_object_set_new(o, "recommended",
			    json_string(best_is_recommended(in) ? "best" : "baseline"));
	json_object_set_new(o, "effects", effects_json(in));
	json_object_set_new(o, "proved",
			    in->proved && gain_known(in) ? json_deep_copy(in->proved)
							 : json_null());
	json_object_set_new(o, "panel", in->panel ? json_deep_copy(in->panel) : json_null());
	json_object_set_new(o, "model", in->model ? json_deep_copy(in->model) : json_null());
	json_object_set_new(o, "restored", json_boolean(in->restored));
	json_object_set_new(o, "store", json_text_or_null(in->store));
	return o;
}

static void set_text(json_t *o, const char *key, const char *text)
{
	json_t *j = json_text_or_null(text);
	if (json_is_string(j)) {
		json_object_set(o, key, j);
	}
	json_decref(j);
}

static json_t *evidence_gain(const struct best_inputs *in)
{
	char level[32];
	json_t *o = json_object();
	set_known(o, in->as_difference ? "difference" : "percent", in->score.estimate);
	if (isfinite(in->score.lo) && isfinite(in->score.hi)) {
		json_object_set_new(o, "interval", bounds_json(&in->score));
	}
	snprintf(level, sizeof(level), "%g%%", 100 * in->score.level);
	json_object_set_new(o, "level", json_string(level));
	return o;
}

/* The proof's numbers where there is one, else those of the search. */
static void set_numbers(json_t *o, const struct best_inputs *in, const struct best_point *p,
			const struct best_medians *proved)
{
	if (gain_known(in)) {
		set_medians(o, proved);
		return;
	}
	set_known(o, "throughput", p->sample ? p->sample->m[METRIC_THROUGHPUT] : NAN);
	set_known(o, "service_demand", p->sample ? p->sample->m[METRIC_SERVICE_DEMAND] : NAN);
	set_known(o, "score", p->score);
}

/* The tests under which the winner is worse than the baseline, by name. */
static void set_worse(json_t *o, const json_t *panel)
{
	json_t *names = json_array(), *one;
	size_t i;
	json_array_foreach((json_t *)panel, i, one)
	{
		if (json_is_true(json_object_get(one, "worse"))) {
			json_array_append(names, json_object_get(one, "test"));
		}
	}
	if (json_array_size(names)) {
		json_object_set(o, "worse", names);
	}
	json_decref(names);
}

json_t *best_evidence(const struct best_inputs *in, const char *spec_sha256, int boots)
{
	json_t *o = json_object(), *baseline = json_object();
	set_text(o, "run", in->run);
	set_text(o, "spec_sha256", spec_sha256);
	if (best_is_recommended(in)) { /* else the profile does not set what the numbers are of */
		if (gain_known(in)) {
			json_object_set_new(o, "gain", evidence_gain(in));
		}
		set_numbers(o, in, &in->best, &in->proof_best);
		set_worse(o, in->panel);
	}
	set_numbers(baseline, in, &in->baseline, &in->proof_baseline);
	if (json_object_size(baseline)) {
		json_object_set(o, "baseline", baseline);
	}
	json_decref(baseline);
	json_object_set_new(o, "samples", json_integer(in->samples));
	json_object_set_new(o, "boots", json_integer(boots));
	return o;
}

static void fill_setting(struct profile_setting *to, const struct best_setting *from)
{
	snprintf(to->host, sizeof(to->host), "%s", from->host ? from->host : "");
	to->assignment = from->assignment;
	to->was = from->was;
	to->effect = (struct profile_effect){from->effect.estimate, from->effect.lo,
					     from->effect.hi, from->effect.level};
}

int best_profile(struct profile *p, const char *name, const struct best_setting *settings, size_t n,
		 json_t *machine, json_t *evidence, struct err *e)
{
	profile_init(p);
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->settings = calloc(n + 1, sizeof(*p->settings));
	p->application = calloc(n + 1, sizeof(*p->application));
	if (!p->settings || !p->application) {
		return err_set(e, -ENOMEM, "out of memory for a profile of %zu settings", n);
	}
	for (size_t i = 0; i < n; i++) {
		const struct tunable *t = settings[i].assignment.setting.tunable;
		bool run_scope = t && t->scope == SCOPE_RUN;
		fill_setting(run_scope ? &p->application[p->n_application++]
				       : &p->settings[p->n_settings++],
			     &settings[i]);
	}
	p->machine = json_incref(machine);
	p->evidence = json_incref(evidence);
	return 0;
}
