/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Earlier runs as a search is told them. It measures nothing and changes nothing. Called by the run
 * command.
 */
#include "warm.h"
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of two specs mean the same: what is measured, how, and what is maximised. */
static bool measures_the_same(const struct spec *a, const struct spec *b)
{
	const struct spec_test *x = &a->test, *y = &b->test;
	const struct objective *p = &a->objective, *q = &b->objective;
	return !strcmp(x->engine, y->engine) && !strcmp(x->type, y->type) &&
	       x->streams == y->streams && x->light == y->light && x->discard == y->discard &&
	       !strcmp(x->surface, y->surface) && p->minimize == q->minimize &&
	       !strcmp(p->numerator, q->numerator) && !strcmp(p->denominator, q->denominator);
}

static bool same_measurement(const json_t *run, const struct spec *now)
{
	struct err ignored;
	struct spec *before = NULL;
	const char *text = json_get_text(run, "spec", "");
	if (strcmp(text, now->text) == 0) {
		return true;
	}
	if (spec_parse("earlier", text, strlen(text), &before, &ignored) < 0) {
		return false;
	}
	bool same = measures_the_same(before, now);
	spec_free(before);
	return same;
}

/* A machine block without what may differ from night to night. */
static json_t *kind_of(const json_t *fingerprint)
{
	json_t *nic;
	auto_json json_t *shared = host_machine(fingerprint);
	json_t *kind = json_deep_copy(shared);
	size_t i;
	json_object_del(kind, "kernel");
	json_array_foreach(json_object_get(kind, "nics"), i, nic)
	{
		json_object_del(nic, "firmware");
	}
	return kind;
}

static bool same_kind(const json_t *before, const json_t *now)
{
	const char *name;
	json_t *host;
	if (json_object_size(before) != json_object_size(now)) {
		return false;
	}
	json_object_foreach((json_t *)now, name, host)
	{
		auto_json json_t *here = kind_of(host);
		auto_json json_t *there = kind_of(json_object_get(before, name));
		auto_json json_t *differences = host_differences(there, here);
		if (!json_object_get(before, name) || json_array_size(differences) > 0) {
			return false;
		}
	}
	return true;
}

/* Settings that this space lacks are other dimensions: what they were set to is not known here. */
static bool fits(const json_t *values, const struct space *space, struct configuration *out)
{
	struct err ignored;
	return space_values_parse(space, values, out, &ignored) == 0;
}

static void take_trial(const json_t *trial, const struct space *space, struct warm *w, int *taken)
{
	struct configuration c;
	json_t *sample;
	size_t i;
	if (strcmp(json_get_text(trial, "phase", ""), "proof") == 0 ||
	    !fits(json_object_get(trial, "values"), space, &c)) {
		return;
	}
	json_array_foreach(json_object_get(trial, "samples"), i, sample)
	{
		double score = json_get_number(sample, "score");
		bool ok = json_is_true(json_object_get(sample, "ok"));
		if (w->n == WARM_SAMPLES_MAX || (ok && !isfinite(score))) {
			return;
		}
		w->items[w->n++] = (struct warm_sample){
			.config = c,
			.score = score,
			.ok = ok,
			.group = w->runs + 1,
			.when = json_get_number(sample, "sample"),
		};
		++*taken;
	}
}

static void take_winner(const json_t *run, const struct space *space, struct warm *w)
{
	const json_t *result = json_object_get(run, "result");
	struct configuration c;
	if (strcmp(json_get_text(result, "recommended", ""), "best") != 0 ||
	    !fits(json_object_get(json_object_get(result, "best"), "values"), space, &c)) {
		return;
	}
	for (size_t i = 0; i < w->n_winners; i++) {
		if (configuration_equal(&w->winners[i], &c)) {
			return;
		}
	}
	if (w->n_winners < WARM_WINNERS_MAX) {
		w->winners[w->n_winners++] = c;
	}
}

static int take_run(struct store *store, const char *id, const struct space *space,
		    const json_t *hosts, struct warm *w, struct err *e)
{
	auto_json json_t *run = NULL;
	json_t *trial;
	size_t i;
	int taken = 0, rc = store_get_run_brief(store, id, &run, e);
	if (rc < 0 || !same_measurement(run, space->spec) ||
	    !same_kind(json_object_get(run, "hosts"), hosts)) {
		return rc;
	}
	json_array_foreach(json_object_get(run, "trials"), i, trial)
	{
		take_trial(trial, space, w, &taken);
	}
	if (taken > 0) {
		w->runs++;
		take_winner(run, space, w);
	}
	return 0;
}

int warm_load(struct store *store, const struct space *space, const json_t *hosts,
	      const char *before, struct warm *out, struct err *e)
{
	auto_json json_t *runs = NULL;
	json_t *one;
	size_t i;
	bool earlier = !*before; /* the list has the newest first */
	*out = (struct warm){.items = calloc(WARM_SAMPLES_MAX, sizeof(*out->items))};
	int rc = out->items ? store_list_runs(store, &runs, e)
			    : err_set(e, -ENOMEM, "out of memory for earlier runs");
	json_array_foreach(runs, i, one)
	{
		const char *id = json_get_text(one, "run", "");
		if (rc < 0 || out->n == WARM_SAMPLES_MAX) {
			break;
		}
		if (earlier) {
			rc = take_run(store, id, space, hosts, out, e);
		}
		earlier = earlier || strcmp(id, before) == 0;
	}
	if (rc < 0) {
		warm_clear(out);
	}
	return rc;
}

void warm_clear(struct warm *w)
{
	free(w->items);
	*w = (struct warm){0};
}
