/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep check: measures again what a run has measured, and answers as git bisect run reads it:
 * 0 good, 1 regression, 125 cannot tell, 129 wrong usage or set-up. What it measures is kept in the
 * store, so that the boots of a kernel add up until there is enough to decide. With a spec, it
 * only records what later checks are held against.
 */
#include "check_private.h"
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include "value.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static const struct cli_option options[] = {
	{"against", 0, "REF", "RUN[,RUN...] (a sweep or a check), a profile's file, or best",
	 false},
	{"threshold", 0, "F", "smallest regression that counts (default 2%)", false},
	{"boots", 0, "N", "decide over up to N boots; their samples are kept in the store", false},
	{"boot-sd", 0, "F", "standard deviation between boots, e.g. 6% (default: from history)",
	 false},
	{"samples", 0, "N", "samples in this boot (default 8)", false},
	{"push-agent", 0, NULL, "take the agent along to hosts behind a command (ssh, srun)",
	 false},
	{"metric", 0, "M", "throughput (default), service_demand or score", false},
	{NULL, 0, NULL, NULL, false},
};

static int read_options(struct check *k, struct err *e)
{
	const struct cli *c = k->c;
	const char *threshold = cli_value(c, "threshold"), *sd = cli_value(c, "boot-sd"),
		   *metric = cli_value(c, "metric");
	k->threshold = 0.02;
	k->boot_sd = NAN;
	k->samples = 8;
	if (!cli_value(c, "against") == !c->n_args) {
		return err_usage(e, "check: give either --against RUN, PROFILE or best, or a "
				    "SPEC.yaml to record a reference by");
	}
	int rc = threshold ? scalar_fraction(threshold, &k->threshold, e) : 0;
	if (rc < 0) {
		return err_wrap(e, "--threshold");
	}
	if (!(k->threshold > 0 && k->threshold < 1)) {
		return err_usage(e, "--threshold: %s is not between 0 and 100%%", threshold);
	}
	rc = sd ? scalar_fraction(sd, &k->boot_sd, e) : 0;
	if (rc < 0) {
		return err_wrap(e, "--boot-sd");
	}
	if (sd && !(k->boot_sd > 0 && k->boot_sd < 1)) {
		return err_usage(e, "--boot-sd: %s is not between 0 and 100%%", sd);
	}
	for (int m = 0; metric && m < COMPARE_METRICS; m++) {
		if (!strcmp(metric, compare_metric_names[m])) {
			k->metric = (enum compare_metric)m;
			metric = NULL;
		}
	}
	if (metric) {
		return err_usage(e, "--metric: throughput, service_demand or score, not \"%s\"",
				 metric);
	}
	rc = cli_int(c, "boots", 1, 1000, &k->boots, e);
	return rc < 0 ? rc : cli_int(c, "samples", 1, 10000, &k->samples, e);
}

static int measure(struct check *k, struct err *e)
{
	struct recheck o = {
		.spec = k->spec,
		.values = k->values,
		.launcher = k->c->launcher,
		.interrupt_fd = k->c->interrupt_fd,
		.samples = (int)k->samples,
	};
	return recheck_run(&o, &k->measured, e);
}

static int keep_samples(struct check *k, const char *run, struct err *e)
{
	int64_t trial;
	json_t *labels = json_pack("{s:s, s:s}", "check", k->reference, "build", k->build);
	int rc = store_add_labelled_trial(k->store, run, "check", k->measured.values, labels,
					  &trial, e);
	json_decref(labels);
	for (size_t i = 0; rc == 0 && i < k->measured.n; i++) {
		const struct sample *s = &k->measured.sample[i];
		rc = store_add_sample(k->store, trial, s, s->m[METRIC_SCORE], e);
	}
	return rc;
}

static int keep(struct check *k, struct err *e)
{
	struct store_run record = {
		.name = k->spec->name,
		.spec = k->spec->text,
		.spec_sha = k->spec->sha,
		.seed = k->spec->seed,
		.hosts = k->measured.hosts,
	};
	int rc = store_begin_run(k->store, &record, e);
	rc = rc ? rc : keep_samples(k, record.id, e);
	snprintf(k->kept, sizeof(k->kept), "%s", record.id);
	return rc ? rc : store_end_run(k->store, record.id, "checked", NULL, e);
}

/* What makes earlier checks part of this one, where boots are gathered: same reference, machine,
 * kernel and build. */
static json_t *wanted_labels(const struct check *k)
{
	json_t *all = json_object(), *wanted = json_object();
	static const char *const names[] = {"kernel", "machine"};
	host_labels(all, k->measured.hosts);
	json_object_set_new(wanted, "check", json_string(k->reference));
	json_object_set_new(wanted, "build", json_string(k->build));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		json_t *value = json_object_get(all, names[i]);
		if (value) {
			json_object_set(wanted, names[i], value);
		}
	}
	json_decref(all);
	return wanted;
}

static int read_sides(struct check *k, struct check_side *ref, struct check_side *here,
		      struct err *e)
{
	struct observations all = {0}, checks = {0};
	struct observe_options o = {.which = OBSERVE_BASELINE, .name = k->spec->name};
	auto_json json_t *wanted = wanted_labels(k);
	int rc = check_side_make(&k->observed, NULL, k->metric, ref, e);
	rc = rc ? rc : observations_read(k->store, &o, &all, e);
	if (rc == 0 && isnan(k->boot_sd)) {
		k->history = check_history(&all, k->metric, &k->history_freedom);
	}
	o.which = OBSERVE_CHECKS;
	o.run = k->boots > 0 ? NULL : k->kept;
	rc = rc ? rc : observations_read(k->store, &o, &checks, e);
	rc = rc ? rc : check_side_make(&checks, wanted, k->metric, here, e);
	observations_clear(&all);
	observations_clear(&checks);
	return rc;
}

static struct verdict_result decide(struct check *k, const struct check_side *ref,
				    const struct check_side *here)
{
	bool given = isfinite(k->boot_sd);
	k->by_samples = !given && (!ref->boots_known || !here->boots_known ||
				   check_side_same_boot(ref, here));
	if (k->by_samples) {
		return verdict_by_samples(ref->sample, ref->n_samples, here->sample,
					  here->n_samples, k->threshold);
	}
	struct verdict_input in = {
		.reference = {ref->boot, ref->n_boots, ref->within},
		.here = {here->boot, here->n_boots, here->within},
		.threshold = k->threshold,
		.boot_sd = given ? log1p(k->boot_sd) : k->history,
		.boot_freedom = given ? INFINITY : k->history_freedom,
		.looks = k->boots > 0 ? (size_t)k->boots : 1,
	};
	return verdict_by_boots(&in);
}

static int judge(struct check *k, int *status, struct err *e)
{
	struct check_side ref = {0}, here = {0};
	int rc = read_sides(k, &ref, &here, e);
	if (rc == 0) {
		struct verdict_result r = decide(k, &ref, &here);
		check_print(k, &r, &ref, &here);
		*status = r.verdict == VERDICT_GOOD	    ? CLI_DONE
			  : r.verdict == VERDICT_REGRESSION ? CLI_NO
							    : CLI_CANNOT_TELL;
	}
	check_side_clear(&ref);
	check_side_clear(&here);
	return rc;
}

/* A host that cannot be reached says nothing about the kernel; what was set up wrongly stops. */
static bool is_away(const struct err *e)
{
	static const int codes[] = {ETIMEDOUT,	 ECONNREFUSED, EHOSTUNREACH, EHOSTDOWN,
				    ENETUNREACH, ECONNRESET,   EPIPE,	     ENETDOWN};
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		if (e->class == ERR_SYSTEM && e->code == -codes[i]) {
			return true;
		}
	}
	return false;
}

static int check(struct check *k, struct err *e)
{
	int status = CLI_DONE, rc = read_options(k, e);
	rc = rc ? rc : cli_open_store(k->c, true, &k->store, e);
	rc = rc		    ? rc
	     : k->c->n_args ? spec_load(k->c->args[0], &k->spec, e)
			    : check_find_reference(k, cli_value(k->c, "against"), e);
	if (rc < 0) {
		return cli_fail(k->c, e);
	}
	if (cli_value(k->c, "push-agent")) {
		hosts_push_agents(k->spec);
	}
	if (k->spec->n_hosts > 0 && cli_restore_crashed(k->c) != CLI_DONE) {
		return CLI_SETUP;
	}
	rc = measure(k, e);
	if (rc < 0) {
		bool away = is_away(e);
		int failed = cli_fail(k->c, e);
		return away ? CLI_CANNOT_TELL : failed;
	}
	if (k->measured.interrupted) {
		cli_note(k->c, "interrupted; everything is rolled back");
		return CLI_INTERRUPTED;
	}
	rc = keep(k, e);
	if (rc == 0 && k->c->n_args) {
		return check_print_recorded(k);
	}
	rc = rc ? rc : judge(k, &status, e);
	return rc < 0 ? cli_fail(k->c, e) : status;
}

static int run(struct cli *c)
{
	struct check k = {.c = c, .history = NAN};
	struct err e = {0};
	struct utsname u;
	snprintf(k.build, sizeof(k.build), "%s", uname(&u) ? "unknown" : u.version);
	int status = check(&k, &e);
	recheck_clear(&k.measured);
	observations_clear(&k.observed);
	json_decref(k.run);
	spec_free(k.spec);
	store_close(k.store);
	return status;
}

const struct command command_check = {
	.name = "check",
	.arguments = "[SPEC.yaml]",
	.max_args = 1,
	.summary = "Measure again and say whether it is a regression (for git bisect run)",
	.options = options,
	.needs_launcher = true,
	.verdict = true,
	.run = run,
};
