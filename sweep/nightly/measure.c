/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured each night of one spec: the machine as it is, and in turns with it the best that
 * was found so far. Kept in the store, held against the nights before, and measured again where it
 * looks worse. Called by nightly/sweep.c.
 */
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include "nightly_private.h"
#include <errno.h>
#include <string.h>

struct measuring { /* one night_measure */
	struct night *n;
	const struct spec *spec;
	const char *kind;
	struct night_record *record;
	const json_t *best; /* values; NULL: the baseline alone */
};

static int ask(struct night *n, const struct recheck *o, struct recheck_result *out, struct err *e)
{
	int rc = n->w->measure(n->w->ctx, o, out, e);
	if (rc == 0 && out->interrupted) {
		rc = err_set(e, -EINTR, "interrupted");
	}
	if (json_object_size(out->hosts) == 0) {
		json_decref(out->hosts);
		out->hosts = json_pack("{s:O}", "here", n->w->fingerprint);
	}
	return rc;
}

int night_hosts(struct night *n, const struct spec *spec, json_t **hosts, char *used, size_t size,
		struct err *e)
{
	struct recheck o = {
		.spec = spec, .launcher = n->w->launcher, .interrupt_fd = n->w->interrupt_fd};
	struct recheck_result r = {0};
	int rc = ask(n, &o, &r, e);
	*hosts = rc ? NULL : json_incref(r.hosts);
	*used = '\0';
	nightly_far_use(&n->c->in_use, r.use, n->first, used, size);
	recheck_clear(&r);
	return rc;
}

void night_boot(const json_t *hosts, char *buf, size_t size)
{
	auto_json json_t *labels = json_object();
	host_labels(labels, (json_t *)hosts);
	snprintf(buf, size, "%s", json_get_text(labels, "boot", ""));
}

static struct night_question question(const struct measuring *m, const char *role)
{
	return (struct night_question){
		.compare = &m->n->c->compare,
		.host = json_get_text(m->n->w->fingerprint, "hostname", ""),
		.night = m->n->name,
		.kind = m->kind,
		.role = role,
		.spec = m->spec,
		.values = strcmp(role, "best") == 0 ? m->best : NULL,
		.record = m->record->j,
	};
}

static int keep_role(const struct measuring *m, const char *run, const char *role,
		     const json_t *values, const struct sample *samples, size_t n, bool again,
		     struct err *e)
{
	int64_t trial;
	struct night_question q = question(m, role);
	auto_json json_t *labels = night_labels(&q, again);
	struct store *s = m->n->store;
	int rc = n ? store_add_labelled_trial(s, run, "night", values, labels, &trial, e) : 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = store_add_sample(s, trial, &samples[i], samples[i].m[METRIC_SCORE], e);
	}
	return rc;
}

static int keep_all(const struct measuring *m, const struct recheck_result *r, bool again,
		    struct err *e)
{
	struct store_run run = {.name = m->spec->name,
				.spec = m->spec->text,
				.spec_sha = m->spec->sha,
				.seed = m->spec->seed,
				.hosts = r->hosts};
	int rc = store_begin_run(m->n->store, &run, e);
	if (m->best) {
		rc = rc ? rc : keep_role(m, run.id, "best", r->values, r->sample, r->n, again, e);
		rc = rc ? rc
			: keep_role(m, run.id, "baseline", r->baseline_values, r->baseline,
				    r->n_baseline, again, e);
	} else {
		rc = rc ? rc
			: keep_role(m, run.id, "baseline", r->values, r->sample, r->n, again, e);
	}
	return rc ? rc : store_end_run(m->n->store, run.id, "measured", NULL, e);
}

/* All or nothing: half a night's samples would be resumed as if they were a sweep's. */
static int keep(const struct measuring *m, const struct recheck_result *r, bool again,
		struct err *e)
{
	int rc = store_begin(m->n->store, e);
	if (rc) {
		return rc;
	}
	rc = keep_all(m, r, again, e);
	if (rc == 0) {
		return store_commit(m->n->store, e);
	}
	store_abandon(m->n->store);
	return rc;
}

static const char *first_reason(const struct recheck_result *r)
{
	return r->n ? r->sample[0].reason : "";
}

/* Measures once and keeps; the gain counts as a proof if it is the first time tonight. */
static int measure(const struct measuring *m, bool again, struct err *e)
{
	struct recheck o = {
		.spec = m->spec,
		.values = m->best,
		.paired = m->best != NULL,
		.launcher = m->n->w->launcher,
		.interrupt_fd = m->n->w->interrupt_fd,
		.samples = (int)m->n->c->compare.samples,
	};
	struct recheck_result r = {0};
	char boot[512];
	int rc = ask(m->n, &o, &r, e);
	m->n->first = false;
	if (rc == 0 && r.failed == r.n) {
		rc = err_set(e, -EIO, "no sample of %s was valid: %s", m->spec->name,
			     first_reason(&r));
	}
	rc = rc ? rc : keep(m, &r, again, e);
	if (rc == 0 && m->best && !again) {
		night_boot(r.hosts, boot, sizeof(boot));
		night_record_proof(m->record, m->n->name, boot, &r.gain);
	}
	recheck_clear(&r);
	return rc;
}

static int judge(const struct measuring *m, bool again, json_t *comparisons, struct err *e)
{
	struct night_question baseline = question(m, "baseline"), best = question(m, "best");
	int rc = night_judge(m->n->store, &baseline, again, comparisons, e);
	return rc || !m->best ? rc : night_judge(m->n->store, &best, again, comparisons, e);
}

static bool looks_worse(const json_t *comparisons)
{
	json_t *one;
	size_t i;
	json_array_foreach((json_t *)comparisons, i, one)
	{
		if (strcmp(json_get_text(one, "verdict", ""), "regression") == 0) {
			return true;
		}
	}
	return false;
}

/* The same question of the second measurement. */
static const json_t *find_same(const json_t *comparisons, const json_t *one)
{
	json_t *other;
	size_t i;
	json_array_foreach((json_t *)comparisons, i, other)
	{
		if (json_equal(json_object_get(other, "configuration"),
			       json_object_get(one, "configuration")) &&
		    json_equal(json_object_get(other, "metric"), json_object_get(one, "metric"))) {
			return other;
		}
	}
	return NULL;
}

static int confirm(const struct measuring *m, json_t *comparisons, struct err *e)
{
	auto_json json_t *second = json_array();
	json_t *one;
	size_t i;
	int rc = measure(m, true, e);
	rc = rc ? rc : judge(m, true, second, e);
	json_array_foreach(comparisons, i, one)
	{
		const json_t *again = rc ? NULL : find_same(second, one);
		if (again && strcmp(json_get_text(one, "verdict", ""), "regression") == 0) {
			night_confirm(one, again);
		}
	}
	return rc;
}

int night_measure(struct night *n, const struct spec *spec, const char *kind,
		  struct night_record *record, struct err *e)
{
	const json_t *best = json_object_get(record->j, "best");
	bool valid = strcmp(json_get_text(best, "spec_sha256", ""), spec->sha) == 0;
	struct measuring m = {n, spec, kind, record, valid ? night_record_best(record) : NULL};
	auto_json json_t *comparisons = json_array();
	int rc = measure(&m, false, e);
	rc = rc ? rc : judge(&m, false, comparisons, e);
	if (rc == 0 && looks_worse(comparisons)) {
		n->w->note(n->w->ctx, "worse than on the nights before: measuring again");
		rc = confirm(&m, comparisons, e);
	}
	json_array_extend(json_object_get(n->summary, "comparisons"), comparisons);
	return rc;
}
