/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run --boots N: the first boot's run searches and proves as any; after each reboot the same
 * command finds it in the store, measures winner and baseline again in fresh pairs, and adds this
 * boot to its result, until there are N. Called by cmd_run.c.
 */
#include "boots.h"
#include "cleanup.h"
#include "cli_run.h"
#include "files.h"
#include "host.h"
#include "json_util.h"
#include "profile.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of a command without hosts it is this machine's. */
static int this_boot(const struct run *r, char *out, size_t size, struct err *e)
{
	auto_json json_t *hosts = hosts_fingerprints(&r->hosts);
	if (json_object_size(hosts) == 0) {
		struct sysroot root = {""};
		json_t *here = NULL;
		int rc = host_fingerprint(&root, &here, e);
		if (rc < 0) {
			return rc;
		}
		json_object_set_new(hosts, "here", here);
	}
	boots_id(hosts, out, size);
	return *out ? 0 : err_set(e, -ENODATA, "--boots: the boot id of no host is known");
}

int run_boots_start(struct run *r, json_t *result, struct err *e)
{
	int64_t wanted = 0;
	char boot[1024];
	const struct gain *g = &r->result.proof.gain;
	int rc = cli_int(r->c, "boots", 2, 64, &wanted, e);
	if (rc < 0 || wanted == 0 ||
	    strcmp(json_get_text(result, "recommended", ""), "best") != 0 || g->as_difference ||
	    (rc = this_boot(r, boot, sizeof(boot), e)) < 0) {
		return rc;
	}
	struct boot_gain first = {.boot = boot,
				  .pairs = g->pairs,
				  .score = g->score,
				  .throughput = g->throughput,
				  .service_demand = g->service_demand};
	boots_begin(result, (int)wanted);
	boots_add(result, &first);
	cli_note(r->c, "1 of %d boots: after a reboot, give the same command again", (int)wanted);
	return 0;
}

/* The newest run of this very spec that waits for boots. */
static int find_waiting(struct run *r, struct err *e)
{
	auto_json json_t *runs = NULL;
	json_t *one;
	size_t i;
	int rc = store_list_runs(r->store, &runs, e);
	json_array_foreach(runs, i, one)
	{
		auto_json json_t *run = NULL;
		const char *id = json_get_text(one, "run", "");
		if (rc < 0 || strcmp(json_get_text(one, "name", ""), r->spec->name) != 0) {
			continue;
		}
		rc = store_get_run_head(r->store, id, &run, e);
		const json_t *result = json_object_get(run, "result");
		if (rc == 0 && strcmp(json_get_text(run, "spec", ""), r->spec->text) == 0 &&
		    boots_counted(result) < boots_wanted(result)) {
			snprintf(r->record.id, sizeof(r->record.id), "%s", id);
			r->earlier = json_deep_copy(result);
			return 1;
		}
	}
	return rc;
}

int run_boots_find(struct run *r, struct err *e)
{
	int64_t ignored;
	char boot[1024];
	int rc = cli_value(r->c, "boots") ? cli_int(r->c, "boots", 2, 64, &ignored, e) : -ENOENT;
	if (rc == -ENOENT) {
		return BOOTS_NONE;
	}
	rc = rc < 0 ? rc : cli_open_store(r->c, true, &r->store, e);
	rc = rc < 0 ? rc : find_waiting(r, e);
	if (rc <= 0) {
		return rc < 0 ? rc : BOOTS_NONE;
	}
	rc = this_boot(r, boot, sizeof(boot), e);
	return rc < 0 ? rc : boots_has(r->earlier, boot) ? BOOTS_SAME : BOOTS_WAITING;
}

struct watch { /* of the pairs under way */
	struct run *r;
	int64_t trial[2];
	const char *boot;
};

static int keep(struct watch *w, bool is_best, const struct configuration *effective,
		const struct sample *s, struct err *e)
{
	int rc = 0;
	if (w->trial[is_best] == 0) {
		auto_json json_t *values = space_values(w->r->space, effective);
		auto_json json_t *labels = json_pack("{s:s}", "boot", w->boot);
		rc = store_add_labelled_trial(w->r->store, w->r->record.id, "proof", values, labels,
					      &w->trial[is_best], e);
	}
	return rc < 0 ? rc
		      : store_add_sample(w->r->store, w->trial[is_best], s, s->m[METRIC_SCORE], e);
}

static int seen(void *ctx, bool is_best, const struct configuration *effective,
		const struct sample *s, const struct gain *so_far, struct err *e)
{
	struct watch *w = ctx;
	struct loop_progress p = {.phase = LOOP_PROOF,
				  .done = so_far->pairs,
				  .budget = w->r->spec->proof_pairs,
				  .effective = effective,
				  .sample = s,
				  .gain = so_far,
				  .seconds_left = NAN};
	run_print_progress(w->r, &p);
	return keep(w, is_best, effective, s, e);
}

int run_boots_measure(struct run *r, struct trial_env *env, struct err *e)
{
	struct configuration winner, baseline;
	struct gain g;
	char boot[1024];
	int rc = this_boot(r, boot, sizeof(boot), e);
	rc = rc < 0 ? rc
		    : space_values_parse(r->space, json_object_get(r->earlier, "proved"), &winner,
					 e);
	if (rc < 0) {
		return rc;
	}
	struct watch w = {.r = r, .boot = boot};
	struct validate_options o = {.pairs = r->spec->proof_pairs,
				     .time = r->spec->proof_time,
				     .seed = r->spec->seed + (uint64_t)boots_counted(r->earlier),
				     .seen = seen,
				     .ctx = &w};
	space_baseline(r->space, &baseline);
	rc = validate_run(env, &winner, &baseline, &o, &g, e);
	run_print_progress_end(r);
	if (rc == 0 && g.pairs == 0) {
		return err_set(e, -EIO, "not one pair of this boot has worked");
	}
	struct boot_gain now = {.boot = boot,
				.pairs = g.pairs,
				.score = g.score,
				.throughput = g.throughput,
				.service_demand = g.service_demand};
	if (rc == 0) {
		boots_add(r->earlier, &now);
	}
	return rc;
}

/* The profile that the first boot has left says over how many boots it is proved. */
static int update_profile(const char *path, const json_t *result, struct err *e)
{
	struct profile p;
	if (access(path, R_OK) < 0) {
		return 0; /* moved away: the result still tells */
	}
	int rc = profile_load(path, &p, e);
	if (rc < 0) {
		return rc;
	}
	const json_t *boots = json_object_get(result, "boots");
	json_object_set_new(p.evidence, "boots", json_integer(boots_counted(result)));
	json_object_set_new(p.evidence, "gain_over_boots",
			    json_pack("{s:O, s:O}", "percent", json_object_get(boots, "percent"),
				      "interval", json_object_get(boots, "interval")));
	rc = profile_save(&p, path, e);
	profile_clear(&p);
	return rc;
}

static void print_boots(const json_t *result)
{
	const json_t *boots = json_object_get(result, "boots"), *all;
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(boots, "each"), i, one)
	{
		printf("boot %zu: %+.1f %% in %d pairs\n", i + 1, json_get_number(one, "percent"),
		       (int)json_integer_value(json_object_get(one, "pairs")));
	}
	all = json_object_get(boots, "interval");
	printf("Gain over %d boots of %d: %+.1f %% (95 %% interval %+.1f to %+.1f)%s\n",
	       boots_counted(result), boots_wanted(result), json_get_number(boots, "percent"),
	       json_number_value(json_array_get(all, 0)), json_number_value(json_array_get(all, 1)),
	       json_is_true(json_object_get(boots, "significant")) ? "" : ": not significant");
}

int run_boots_write(struct run *r, struct err *e)
{
	char dir[PATH_MAX], path[PATH_MAX + 32];
	int rc = store_end_run(r->store, r->record.id, "complete", r->earlier, e);
	rc = rc < 0 ? rc : run_output_folder(r, dir, sizeof(dir), e);
	if (rc == 0) {
		snprintf(path, sizeof(path), "%s/result.json", dir);
		rc = files_save_json(path, r->earlier, e);
	}
	if (rc == 0) {
		snprintf(path, sizeof(path), "%s/best.yaml", dir);
		rc = update_profile(path, r->earlier, e);
	}
	if (r->c->json) {
		cli_print_json(r->earlier);
	} else {
		print_boots(r->earlier);
	}
	return rc;
}

int run_boots_tell_same(const struct run *r)
{
	printf("Run %s waits for another boot (%d of %d are there): reboot, then give the same "
	       "command again.\n",
	       r->record.id, boots_counted(r->earlier), boots_wanted(r->earlier));
	return CLI_NO;
}
