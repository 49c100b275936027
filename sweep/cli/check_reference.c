/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a check is held against: runs, the run behind a profile, or the newest proved best; and the
 * verdict in words. Called by cmd_check.c.
 */
#include "check_private.h"
#include "cleanup.h"
#include "json_util.h"
#include "profile.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The newest run that has proved something better than its baseline. */
static int find_best(struct check *k, char *id, size_t size, struct err *e)
{
	auto_json json_t *runs = NULL;
	json_t *r;
	size_t i;
	int rc = store_list_runs(k->store, &runs, e);
	if (rc < 0) {
		return rc;
	}
	json_array_foreach(runs, i, r)
	{
		if (!strcmp(json_get_text(r, "recommended", ""), "best")) {
			snprintf(id, size, "%s", json_get_text(r, "run", ""));
			return 0;
		}
	}
	return err_usage(e, "no run in the store has proved a best configuration");
}

static bool is_file(const char *against)
{
	size_t n = strlen(against);
	return strchr(against, '/') || (n > 5 && !strcmp(against + n - 5, ".yaml"));
}

static int find_profile(const char *path, char *id, size_t size, struct err *e)
{
	struct profile p = {0};
	int rc = profile_load(path, &p, e);
	if (rc == 0) {
		snprintf(id, size, "%s", json_get_text(p.evidence, "run", ""));
		if (!*id) {
			rc = err_usage(e, "%s: the profile names no run as its evidence", path);
		}
	}
	profile_clear(&p);
	return rc;
}

static int add_run(struct check *k, const char *id, enum observe which, struct err *e)
{
	char whole[64];
	struct observations one = {0};
	struct observe_options o = {.which = which, .run = whole};
	int rc = store_find_run(k->store, id, whole, sizeof(whole), e);
	rc = rc ? rc : observations_read(k->store, &o, &one, e);
	if (rc == 0 && !one.n_items) { /* not a sweep: an earlier check */
		observations_clear(&one);
		o.which = OBSERVE_CHECKS;
		rc = observations_read(k->store, &o, &one, e);
	}
	rc = rc ? rc : observations_append(&k->observed, &one, e);
	if (rc == 0 && !k->run) {
		rc = store_get_run_head(k->store, whole, &k->run, e);
	}
	size_t at = strlen(k->reference);
	snprintf(k->reference + at, sizeof(k->reference) - at, "%s%s", at ? "," : "", whole);
	observations_clear(&one);
	return rc;
}

static int add_runs(struct check *k, const char *ids, enum observe which, struct err *e)
{
	auto_free char *copy = strdup(ids);
	char *rest = copy, *id;
	int rc = copy ? 0 : err_set(e, -ENOMEM, "out of memory");
	while (rc == 0 && (id = strsep(&rest, ","))) {
		rc = add_run(k, id, which, e);
	}
	return rc;
}

static int load_spec(struct check *k, struct err *e)
{
	const char *text = json_get_text(k->run, "spec", "");
	char name[128];
	snprintf(name, sizeof(name), "spec of run %s", json_get_text(k->run, "run", "?"));
	if (!*text || !strcmp(json_get_text(k->run, "status", ""), "imported")) {
		return err_usage(e, "run %s was imported: there is no spec to measure it by",
				 json_get_text(k->run, "run", "?"));
	}
	return spec_parse(name, text, strlen(text), &k->spec, e);
}

int check_find_reference(struct check *k, const char *against, struct err *e)
{
	char id[512];
	bool best = !strcmp(against, "best"), file = !best && is_file(against);
	snprintf(id, sizeof(id), "%s", against);
	int rc = best	? find_best(k, id, sizeof(id), e)
		 : file ? find_profile(against, id, sizeof(id), e)
			: 0;
	rc = rc ? rc : add_runs(k, id, best || file ? OBSERVE_BEST : OBSERVE_BASELINE, e);
	rc = rc ? rc : load_spec(k, e);
	if (rc < 0) {
		return rc;
	}
	if (best || file) {
		const json_t *result = json_object_get(k->run, "result");
		k->values = json_object_get(json_object_get(result, "best"), "values");
	}
	if (!k->observed.n_items || ((best || file) && !k->values)) {
		return err_usage(e, "run %s has no valid sample of what is to be checked",
				 k->reference);
	}
	return 0;
}

int check_print_recorded(const struct check *k)
{
	size_t good = k->measured.n - k->measured.failed;
	if (k->c->json) {
		auto_json json_t *o = json_pack("{s:s, s:I}", "run", k->kept, "samples",
						(json_int_t)good);
		cli_print_json(o);
	} else {
		printf("recorded: %s, %zu samples; check --against it, in other boots or on other "
		       "kernels\n",
		       k->kept, good);
	}
	return good ? CLI_DONE : CLI_CANNOT_TELL;
}

static const char *const words[] = {[VERDICT_GOOD] = "good",
				    [VERDICT_REGRESSION] = "regression",
				    [VERDICT_CANNOT_TELL] = "cannot tell"};

static void print_json(const struct check *k, const struct verdict_result *r,
		       const struct check_side *ref, const struct check_side *here)
{
	auto_json json_t *o = json_pack(
		"{s:s, s:s, s:s, s:f, s:[I,I], s:[I,I], s:b}", "verdict", words[r->verdict],
		"against", k->reference, "metric", compare_metric_names[k->metric], "threshold",
		k->threshold, "samples", (json_int_t)ref->n_samples, (json_int_t)here->n_samples,
		"boots", (json_int_t)ref->n_boots, (json_int_t)here->n_boots, "by_boots",
		!k->by_samples);
	json_object_set_new(o, "percent", json_number_or_null(r->percent));
	json_object_set_new(o, "boot_sd", json_number_or_null(r->sd));
	json_object_set_new(o, "more_boots", json_number_or_null(r->more));
	cli_print_json(o);
}

static void print_need(const struct check *k, const struct verdict_result *r,
		       const struct check_side *ref, const struct check_side *here)
{
	if (!here->n_samples) {
		puts("No sample was valid.");
	} else if (k->by_samples) {
		if (isinf(r->more)) {
			printf("The reference has only %zu samples: measure it again.\n",
			       ref->n_samples);
		} else {
			printf("About %.0f more samples are needed (--samples).\n", r->more);
		}
	} else if (isnan(r->sd)) {
		puts("The spread between boots is not known, and these are too few to tell: at "
		     "least 2 more boots, or give it with --boot-sd.");
	} else if (isinf(r->more)) {
		printf("No number of boots here decides it: the reference has only %zu boot%s. "
		       "Measure it in more.\n",
		       ref->n_boots, ref->n_boots == 1 ? "" : "s");
	} else if (k->boots > 0 && here->n_boots >= (size_t)k->boots) {
		printf("%zu boots were not enough: about %.0f more are needed.\n", here->n_boots,
		       r->more);
	} else {
		printf("About %.0f more boot%s needed%s.\n", r->more,
		       r->more == 1 ? " is" : "s are",
		       k->boots > 0 ? "" : " (--boots N gathers them)");
	}
}

void check_print(const struct check *k, const struct verdict_result *r,
		 const struct check_side *ref, const struct check_side *here)
{
	if (k->c->json) {
		print_json(k, r, ref, here);
		return;
	}
	printf("%s: %s", words[r->verdict], compare_metric_names[k->metric]);
	if (isfinite(r->percent)) {
		printf(" %+.1f %% %s",
		       k->metric == COMPARE_SERVICE_DEMAND ? -r->percent : r->percent, "against");
	} else {
		fputs(" against", stdout);
	}
	printf(" %s (%zu samples, %zu boot%s; here %zu samples, %zu boot%s).\n", k->reference,
	       ref->n_samples, ref->n_boots, ref->n_boots == 1 ? "" : "s", here->n_samples,
	       here->n_boots, here->n_boots == 1 ? "" : "s");
	if (r->verdict == VERDICT_CANNOT_TELL) {
		print_need(k, r, ref, here);
	}
}
