/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The course of a night: may it begin, doctor, each rule that fits this machine, the alarms over
 * all that was compared, what is to be applied, and the room that old runs take. What it does to
 * machines goes through the world that it is handed. Called by the nightly command and by tests.
 */
#include "cleanup.h"
#include "files.h"
#include "json_util.h"
#include "nightly_private.h"
#include "profile.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static int ask_doctor(struct night *n, struct err *e)
{
	auto_json json_t *report = NULL;
	int status = -1;
	if (n->c->doctor == DOCTOR_OFF) {
		return 0;
	}
	int rc = n->w->doctor(n->w->ctx, &report, &status, e);
	if (report) {
		json_object_set(n->summary, "doctor", report);
	}
	n->unfit = n->c->doctor == DOCTOR_REQUIRED && (rc < 0 || status != 0);
	if (n->unfit) {
		night_end_with(n, "not fit",
			       status == 1 ? "doctor has findings: no sweep is made"
					   : "doctor could not look: no sweep is made");
	}
	return 0;
}

/* The first error of the rules; those of other rules stand in their entries. */
static int run_rules(struct night *n, struct err *e)
{
	int first = 0;
	double left;
	for (size_t i = 0; i < n->c->n_sweeps; i++) {
		struct err one = {0};
		if (!nightly_rule_fits(&n->c->sweeps[i], n->w->fingerprint)) {
			continue;
		}
		if (night_ends(n, &left)) {
			break;
		}
		int rc = night_sweep(n, &n->c->sweeps[i], &one);
		bool worse = one.class == ERR_RESTORE && e->class != ERR_RESTORE;
		if (rc < 0 && rc != -EINTR && (first == 0 || worse)) {
			*e = one;
			first = rc;
		}
		if (rc == -EINTR || n->w->interrupted(n->w->ctx)) {
			night_end_with(n, "interrupted", "interrupted");
			break;
		}
	}
	return first;
}

static void note_alarms(struct night *n)
{
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(n->summary, "comparisons"), i, one)
	{
		struct night_record r;
		struct err e = {0};
		if (json_is_true(json_object_get(one, "alarm")) &&
		    night_record_load(n->c, json_get_text(one, "kind", ""),
				      json_get_text(one, "spec", ""), &r, &e) == 0) {
			night_record_alarm(&r, n->name);
			night_record_save(&r, &e);
			night_record_clear(&r);
		}
	}
}

/* evidence.boots in the kept profile is what the record has counted. */
static int tell_boots(const struct night_record *r, int boots, struct err *e)
{
	struct profile p;
	int rc = profile_load(r->profile, &p, e);
	if (rc == 0 && json_is_object(p.evidence)) {
		json_object_set_new(p.evidence, "boots", json_integer(boots));
		rc = profile_save(&p, r->profile, e);
	}
	profile_clear(&p);
	return rc;
}

static int apply_one(struct night *n, struct night_pending *a, struct err *e)
{
	struct spec *spec = NULL;
	struct night_record r = {0};
	int rc = spec_load(a->spec, &spec, e);
	rc = rc ? rc : night_record_load(n->c, a->kind, spec->name, &r, e);
	rc = rc ? rc : tell_boots(&r, night_record_boots(&r, n->name), e);
	rc = rc ? rc : n->w->apply(n->w->ctx, spec, r.profile, e);
	if (rc == 0) {
		json_object_set_new(
			r.j, "applied",
			json_pack("{s:s, s:O}", "night", n->name, "values", night_record_best(&r)));
		rc = night_record_save(&r, e);
	}
	json_object_set_new(a->entry, "applied", json_boolean(rc == 0));
	if (rc) {
		json_object_set_new(a->entry, "reason", json_text_or_null(e->text));
	}
	night_record_clear(&r);
	spec_free(spec);
	return rc;
}

static int apply_all(struct night *n, struct err *e)
{
	int first = 0;
	for (size_t i = 0; i < n->n_pending; i++) {
		struct err one = {0};
		int rc = apply_one(n, &n->pending[i], &one);
		if (rc < 0 && first == 0) {
			*e = one;
			first = rc;
		}
	}
	return first;
}

typedef void visit_record(struct night_record *r, void *ctx);

static int visit_kind(const struct nightly_config *c, const char *kind, visit_record *visit,
		      void *ctx)
{
	char folder[PATH_MAX], name[256];
	const struct dirent *file;
	int count = 0;
	snprintf(folder, sizeof(folder), "%.3000s/%s", c->state, kind);
	DIR *d = opendir(folder);
	while (d && (file = readdir(d))) {
		struct night_record r;
		struct err e = {0};
		size_t n = strlen(file->d_name);
		if (n <= 5 || strcmp(file->d_name + n - 5, ".json") != 0) {
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(n - 5), file->d_name);
		if (night_record_load(c, kind, name, &r, &e) == 0) {
			visit(&r, ctx);
			night_record_clear(&r);
			count++;
		}
	}
	if (d) {
		closedir(d);
	}
	return count;
}

/* Calls visit with each record below the state folder; returns how many. */
static int each_record(const struct nightly_config *c, visit_record *visit, void *ctx)
{
	int count = 0;
	DIR *d = opendir(c->state);
	const struct dirent *kind;
	while (d && (kind = readdir(d))) {
		count += kind->d_name[0] == '.' ? 0 : visit_kind(c, kind->d_name, visit, ctx);
	}
	if (d) {
		closedir(d);
	}
	return count;
}

static void keep_run(struct night_record *r, void *ctx)
{
	const json_t *best = json_object_get(r->j, "best");
	json_object_set_new(ctx, json_get_text(best, "run", ""), json_true());
}

static int prune(struct night *n, struct err *e)
{
	auto_json json_t *kept = json_object();
	int removed = 0;
	if (!n->c->keep_days && !n->c->keep_bytes) {
		return 0;
	}
	each_record(n->c, keep_run, kept);
	double before = n->c->keep_days
				? (double)n->w->now(n->w->ctx) - 86400.0 * (double)n->c->keep_days
				: 0;
	int rc = store_prune(n->store, before, n->c->keep_bytes, kept, &removed, e);
	json_object_set_new(n->summary, "pruned", json_integer(removed));
	return rc;
}

static int whole_night(struct night *n, struct err *e)
{
	double left;
	if (night_ends(n, &left)) {
		return 0;
	}
	int rc = ask_doctor(n, e);
	rc = rc ? rc : run_rules(n, e);
	nightly_call_alarms(&n->summary, 1, n->c->compare.false_discovery);
	note_alarms(n);
	struct err more = {0};
	int last = apply_all(n, &more);
	last = last ? last : prune(n, &more);
	if (rc == 0 && last < 0) {
		*e = more;
		rc = last;
	}
	return rc;
}

int nightly_run(const struct nightly_config *c, const struct nightly_world *w, struct store *store,
		json_t **summary, struct err *e)
{
	struct night n = {.c = c, .w = w, .store = store, .first = true};
	double left;
	nightly_is_night(c, w->now(w->ctx), n.name, &left);
	n.summary = json_pack("{s:i, s:s, s:s, s:s, s:[], s:[], s:i, s:I}", "tunesweep_nightly", 1,
			      "host", json_get_text(w->fingerprint, "hostname", ""), "night",
			      n.name, "status", "complete", "sweeps", "comparisons", "alarms", 0,
			      "started", (json_int_t)w->now(w->ctx));
	int rc = n.summary ? whole_night(&n, e) : err_set(e, -ENOMEM, "out of memory");
	if (rc < 0 && strcmp(json_get_text(n.summary, "status", ""), "complete") == 0) {
		night_end_with(&n, "failed", "%s", e->text);
	}
	json_object_set_new(n.summary, "ended", json_integer(w->now(w->ctx)));
	*summary = n.summary;
	return rc;
}

static void accept_one(struct night_record *r, void *ctx)
{
	struct err e = {0};
	json_object_set_new(r->j, "since", json_string(ctx));
	json_object_del(r->j, "alarms");
	night_record_save(r, &e);
}

int nightly_accept(const struct nightly_config *c, const char *night, int *records, struct err *e)
{
	*records = each_record(c, accept_one, (void *)night);
	return *records
		       ? 0
		       : err_usage(e, "%s has no record of a night yet: there is nothing to accept",
				   c->state);
}
