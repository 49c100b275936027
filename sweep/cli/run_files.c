/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sweep leaves behind: result.json, best.yaml and report.html in its folder, and the end of
 * the run in the store. Called by cmd_run.c once everything is rolled back.
 */
#include "best.h"
#include "cleanup.h"
#include "cli_run.h"
#include "files.h"
#include "host.h"
#include "report.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct files { /* what is written from */
	struct run *r;
	char dir[PATH_MAX], store[PATH_MAX];
	struct best_inputs in;
	struct best_part effects[SPEC_TUNABLES_MAX];
};

static int choose_paths(struct files *f, struct err *e)
{
	const char *store = cli_value(f->r->c, "store");
	int rc = store ? 0 : store_default_path(f->store, sizeof(f->store), e);
	if (store) {
		snprintf(f->store, sizeof(f->store), "%s", store);
	}
	return rc < 0 ? rc : run_output_folder(f->r, f->dir, sizeof(f->dir), e);
}

/* What the hosts that are set have in common, since apply asks it of each of them; this machine
 * where none is set. */
static int find_machine(const struct run *r, const struct best_setting *settings, size_t n,
			json_t **machine, struct err *e)
{
	struct sysroot root = {""};
	auto_json json_t *here = NULL;
	for (size_t i = 0; i < n; i++) {
		const json_t *of = json_object_get(r->machines, settings[i].host);
		if (of && !*machine) {
			*machine = host_machine(of);
		} else if (of) {
			host_keep_common(*machine, of);
		}
	}
	if (*machine) {
		return 0;
	}
	int rc = host_fingerprint(&root, &here, e);
	*machine = rc ? NULL : host_machine(here);
	return rc;
}

/* Only what differs from the baseline, and only if the gain is proved. */
static int write_profile(const struct files *f, struct err *e)
{
	const struct run *r = f->r;
	struct best_setting settings[SPEC_TUNABLES_MAX];
	struct profile p = {0};
	char path[PATH_MAX + 32];
	size_t n = 0;
	for (size_t i = 0; i < r->space->n && best_is_recommended(&f->in); i++) {
		const struct dimension *d = &r->space->dims[i];
		if (value_equal(&r->result.winner.v[i], &r->result.baseline.v[i])) {
			continue;
		}
		int host = d->tunable->host;
		settings[n] = (struct best_setting){.host = host < 0 ? ""
								     : r->spec->hosts[host].name,
						    .assignment = d->target,
						    .was = r->result.baseline.v[i],
						    .effect = f->effects[i].score};
		settings[n++].assignment.value = r->result.winner.v[i];
	}
	auto_json json_t *machine = NULL;
	auto_json json_t *evidence = best_evidence(&f->in, r->spec->sha, 1);
	int rc = find_machine(r, settings, n, &machine, e);
	if (rc == 0) {
		rc = best_profile(&p, r->spec->name, settings, n, machine, evidence, e);
		p.allow = r->spec->allow;
		snprintf(path, sizeof(path), "%s/best.yaml", f->dir);
		rc = rc < 0 ? rc : profile_save(&p, path, e);
		profile_clear(&p);
	}
	return rc;
}

static int write_report(const struct files *f, struct err *e)
{
	char path[PATH_MAX + 32];
	auto_json json_t *run = NULL;
	int rc = report_read(f->r->store, f->r->record.id, "html", &run, e);
	snprintf(path, sizeof(path), "%s/report.html", f->dir);
	return rc < 0 ? rc : report_save(run, "html", path, e);
}

static struct best_part part_of(const struct gain *g, const char *key)
{
	struct interval unknown = {NAN, NAN, NAN, NAN};
	return (struct best_part){.key = key,
				  .score = g->pairs ? g->score : unknown,
				  .throughput = g->throughput,
				  .service_demand = g->service_demand,
				  .pairs = g->pairs};
}

static void fill_inputs(struct files *f, const char *status, json_t *const values[3],
			const json_t *panel)
{
	const struct loop_result *x = &f->r->result;
	f->in = (struct best_inputs){
		.run = f->r->record.id,
		.name = f->r->spec->name,
		.status = status,
		.samples = x->samples,
		.failed = x->failed,
		.seconds = x->seconds,
		.baseline = {values[0], NULL, &x->baseline_sample, x->baseline_score},
		.best = {values[1], values[2], x->has_best ? &x->best_sample : NULL, x->best_score},
		.has_gain = x->has_gain,
		.as_difference = x->proof.gain.as_difference,
		.score = x->proof.gain.score,
		.throughput = x->proof.gain.throughput,
		.service_demand = x->proof.gain.service_demand,
		.significant = x->proof.gain.significant,
		.pairs = x->proof.gain.pairs,
		.proof_baseline = {x->proof.gain.throughput_b, x->proof.gain.sd_b,
				   x->proof.gain.score_b},
		.proof_best = {x->proof.gain.throughput_a, x->proof.gain.sd_a,
			       x->proof.gain.score_a},
		.against = part_of(&x->proof.against, f->r->against_name),
		.panel = panel,
		.host_only = part_of(&x->proof.host_only, NULL),
		.application_only = part_of(&x->proof.application_only, NULL),
		.effects = f->effects,
		.n_effects = f->r->space->n,
		.model = x->model,
		.restored = f->r->restored,
		.store = f->store,
	};
	for (size_t i = 0; i < f->r->space->n; i++) {
		f->effects[i] = part_of(&x->proof.effect[i], f->r->space->dims[i].key);
	}
}

static int write_all(struct files *f, const char *status, struct err *e)
{
	struct run *r = f->r;
	const struct loop_result *x = &r->result;
	auto_json json_t *baseline = space_values(r->space, &x->baseline);
	auto_json json_t *best = x->has_best ? space_values(r->space, &x->best) : NULL;
	auto_json json_t *asked = x->has_best ? space_values(r->space, &x->best_asked) : NULL;
	auto_json json_t *proved = x->has_best ? space_values(r->space, &x->winner_asked) : NULL;
	json_t *const values[3] = {baseline, best, asked};
	auto_json json_t *panel = run_panel_json(&x->panel);
	fill_inputs(f, status, values, panel);
	f->in.proved = proved;
	auto_json json_t *result = best_result_json(&f->in);
	if (x->pairs) {
		json_object_set(result, "pairs", x->pairs);
	}
	int rc = run_boots_start(r, result, e);
	rc = rc < 0 ? rc : store_end_run(r->store, r->record.id, status, result, e);
	if (rc == 0) {
		char path[PATH_MAX + 32];
		snprintf(path, sizeof(path), "%s/result.json", f->dir);
		rc = files_save_json(path, result, e);
	}
	if (rc == 0) {
		rc = write_profile(f, e);
	}
	if (rc == 0) {
		rc = write_report(f, e);
	}
	if (r->c->json) {
		cli_print_json(result);
	} else {
		run_print_result(r, rc == 0 ? f->dir : NULL);
	}
	return rc;
}

int run_write_files(struct run *r, const char *status, struct err *e)
{
	auto_free struct files *f = calloc(1, sizeof(*f));
	if (!f) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	f->r = r;
	int rc = choose_paths(f, e);
	return rc < 0 ? rc : write_all(f, status, e);
}
