/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One rule's part of a night: what kind of hardware it is, this night against the others, and a
 * sweep where one is due or was cut short. Called by nightly.c.
 */
#include "cleanup.h"
#include "files.h"
#include "host.h"
#include "json_util.h"
#include "nightly_private.h"
#include <errno.h>
#include <math.h>
#include <string.h>

struct part { /* one night_sweep */
	struct night *n;
	const struct nightly_sweep *rule;
	struct spec *spec;
	char kind[64], boot[512];
	json_t *hosts;
	struct night_record record;
	json_t *entry; /* in the summary */
};

static bool same_machine(json_t *before, json_t *now)
{
	static const char *const keys[] = {"kernel", "machine", "driver", "firmware"};
	auto_json json_t *a = json_object();
	auto_json json_t *b = json_object();
	host_labels(a, before);
	host_labels(b, now);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
		if (x && y && !json_equal(x, y)) {
			return false;
		}
	}
	return true;
}

/* Is there a run of this spec that a night was too short for, on this machine and kernel? It is the
 * newest unfinished one of the name that run --resume takes. */
static int has_unfinished(const struct part *p, bool *found, struct err *e)
{
	auto_json json_t *runs = NULL;
	json_t *one;
	size_t i;
	*found = false;
	int rc = store_list_runs(p->n->store, &runs, e);
	json_array_foreach(runs, i, one)
	{
		const char *status = json_get_text(one, "status", "");
		if (strcmp(json_get_text(one, "name", ""), p->spec->name) == 0 &&
		    (!strcmp(status, "unfinished") || !strcmp(status, "interrupted"))) {
			auto_json json_t *run = NULL;
			rc = store_get_run_head(p->n->store, json_get_text(one, "run", ""), &run,
						e);
			*found = rc == 0 &&
				 strcmp(json_get_text(run, "spec_sha256", ""), p->spec->sha) == 0 &&
				 same_machine(json_object_get(run, "hosts"), p->hosts);
			return rc;
		}
	}
	return rc;
}

static const char *word_of(const json_t *result, int status)
{
	return result	       ? json_get_text(result, "status", "failed")
	       : status == 130 ? "interrupted"
			       : "failed";
}

static void take_result(struct part *p, const char *dir, const json_t *result, struct err *e)
{
	static const char *const keys[] = {"run", "samples", "gain", "recommended", "restored"};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(result, keys[i]);
		if (value) {
			json_object_set(p->entry, keys[i], value);
		}
	}
	if (strcmp(json_get_text(result, "status", ""), "complete") == 0) {
		bool new = night_record_swept(&p->record, p->n->name, p->boot, dir, p->spec->sha,
					      result, e);
		json_object_set_new(p->entry, "new_best", json_boolean(new));
	}
}

static int run_sweep(struct part *p, bool resume, double left, struct err *e)
{
	char dir[PATH_MAX];
	auto_json json_t *result = NULL;
	int status = 0;
	snprintf(dir, sizeof(dir), "%.3000s/%.64s.run", p->record.folder, p->spec->name);
	struct nightly_call call = {.spec = p->rule->spec,
				    .dir = dir,
				    .store = p->n->w->store_path,
				    .resume = resume,
				    .seconds = left};
	int rc = files_make_folders(dir, e);
	rc = rc ? rc : p->n->w->sweep(p->n->w->ctx, &call, &result, &status, e);
	p->n->first = false;
	json_object_set_new(p->entry, "status",
			    json_string(rc ? "failed" : word_of(result, status)));
	json_object_set_new(p->entry, "exit", json_integer(status));
	json_object_set_new(p->entry, "resumed", json_boolean(resume));
	if (rc == 0 && result) {
		take_result(p, dir, result, e);
	}
	if (rc == 0 && status == 4) {
		rc = err_set(e, -EIO, "%s: something could not be restored", p->spec->name);
		e->class = ERR_RESTORE;
	} else if (rc == 0 && status != 0 && status != 130) {
		rc = err_set(e, -EIO, "the sweep %s ended with status %d", p->spec->name, status);
	}
	return rc;
}

/* Not this night: what is due stays due. */
static int leave_out(struct part *p, const char *why)
{
	json_object_set_new(p->entry, "status", json_string("in use"));
	json_object_set_new(p->entry, "reason", json_text_or_null(why));
	p->n->w->note(p->n->w->ctx, why);
	return 0;
}

static bool has_far_host(const struct spec *s)
{
	bool far = false;
	for (size_t i = 0; i < s->n_hosts; i++) {
		far |= s->hosts[i].via.kind == VIA_COMMAND;
	}
	return far;
}

/* Somebody may have come since the comparison began. */
static int ask_again(struct part *p, char *used, size_t size, struct err *e)
{
	auto_json json_t *hosts = NULL;
	*used = '\0';
	return has_far_host(p->spec) ? night_hosts(p->n, p->spec, &hosts, used, size, e) : 0;
}

static int sweep_if_due(struct part *p, struct err *e)
{
	bool unfinished;
	double left;
	char used[512];
	int rc = has_unfinished(p, &unfinished, e);
	if (rc || !(unfinished || night_record_is_due(&p->record, p->n->name, p->rule->every))) {
		return rc;
	}
	if (p->n->unfit) {
		json_object_set_new(p->entry, "status", json_string("not fit"));
		return 0;
	}
	if (night_ends(p->n, &left)) {
		json_object_set_new(p->entry, "status", json_string("next night"));
		return 0;
	}
	rc = ask_again(p, used, sizeof(used), e);
	return rc ? rc : *used ? leave_out(p, used) : run_sweep(p, unfinished, left, e);
}

/* Proved tonight, on enough boots, and not worse in any respect. */
static bool may_apply(const struct part *p)
{
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(p->n->summary, "comparisons"), i, one)
	{
		if (strcmp(json_get_text(one, "spec", ""), p->spec->name) == 0 &&
		    strcmp(json_get_text(one, "verdict", ""), "regression") == 0) {
			return false;
		}
	}
	const json_t *applied = json_object_get(json_object_get(p->record.j, "applied"), "values");
	return p->n->c->apply == APPLY_VERIFIED &&
	       night_record_boots(&p->record, p->n->name) >= NIGHTLY_BOOTS &&
	       !(applied && json_equal(applied, night_record_best(&p->record)));
}

static void tell_best(struct part *p)
{
	if (!night_record_best(&p->record)) {
		return;
	}
	json_object_set_new(p->entry, "profile", json_string(p->record.profile));
	json_object_set_new(p->entry, "proved_on_boots",
			    json_integer(night_record_boots(&p->record, p->n->name)));
	if (may_apply(p)) {
		struct night_pending *a = &p->n->pending[p->n->n_pending++];
		snprintf(a->spec, sizeof(a->spec), "%s", p->rule->spec);
		snprintf(a->kind, sizeof(a->kind), "%s", p->kind);
		a->entry = p->entry;
	}
}

static int work(struct part *p, struct err *e)
{
	char used[512];
	int rc = spec_load(p->rule->spec, &p->spec, e);
	if (rc) {
		return rc;
	}
	json_object_set_new(p->entry, "spec", json_string(p->spec->name));
	rc = night_hosts(p->n, p->spec, &p->hosts, used, sizeof(used), e);
	if (rc || *used) {
		return rc ? rc : leave_out(p, used);
	}
	nightly_kind(p->hosts, p->kind, sizeof(p->kind));
	night_boot(p->hosts, p->boot, sizeof(p->boot));
	json_object_set_new(p->entry, "kind", json_string(p->kind));
	rc = night_record_load(p->n->c, p->kind, p->spec->name, &p->record, e);
	rc = rc ? rc : night_measure(p->n, p->spec, p->kind, &p->record, e);
	rc = rc ? rc : sweep_if_due(p, e);
	if (p->record.j) {
		struct err saving = {0};
		tell_best(p);
		int saved = night_record_save(&p->record, rc ? &saving : e);
		rc = rc ? rc : saved;
	}
	return rc;
}

int night_sweep(struct night *n, const struct nightly_sweep *rule, struct err *e)
{
	struct part p = {.n = n, .rule = rule};
	p.entry = json_pack("{s:s, s:s}", "spec", rule->spec, "status", "not due");
	json_array_append_new(json_object_get(n->summary, "sweeps"), p.entry);
	int rc = work(&p, e);
	if (rc && rc != -EINTR) {
		json_object_set_new(p.entry, "status", json_string("failed"));
		json_object_set_new(p.entry, "reason", json_text_or_null(e->text));
	}
	night_record_clear(&p.record);
	json_decref(p.hosts);
	spec_free(p.spec);
	return rc;
}
