/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep results and report: what was measured, from the store. Reads only.
 */
#include "cleanup.h"
#include "cli.h"
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option report_options[] = {
	{"format", 0, "F", "text (default), html, json, csv or md", false},
	{"output", 'o', "FILE", "write to a file", false},
	{NULL, 0, NULL, NULL, false},
};

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* A number that could be chance is no gain; a score without a ratio has a difference. */
static void gain_text(const json_t *gain, char *buf, size_t size)
{
	const json_t *percent = json_object_get(gain, "percent"),
		     *difference = json_object_get(gain, "difference");
	bool known = json_is_number(percent) || json_is_number(difference);
	if (known && !json_is_true(json_object_get(gain, "significant"))) {
		snprintf(buf, size, "none proved");
	} else if (json_is_number(percent)) {
		snprintf(buf, size, "%+.1f %%", json_number_value(percent));
	} else if (known) {
		snprintf(buf, size, "%+.4g", json_number_value(difference));
	} else {
		snprintf(buf, size, "-");
	}
}

/* Measured: all samples, those of the proof too, which result.json's "samples" leaves out. */
static void print_runs(json_t *runs)
{
	json_t *r;
	size_t i;
	printf("%-24s %-24s %-12s %8s  %s\n", "RUN", "NAME", "STATUS", "MEASURED", "GAIN");
	json_array_foreach(runs, i, r)
	{
		char gain[32];
		gain_text(json_object_get(r, "gain"), gain, sizeof(gain));
		printf("%-24s %-24s %-12s %8lld  %s\n", text_of(r, "run"), text_of(r, "name"),
		       text_of(r, "status"),
		       (long long)json_integer_value(json_object_get(r, "samples")), gain);
	}
}

static int run_results(struct cli *c)
{
	struct store *store = NULL;
	struct err e = {0};
	auto_json json_t *runs = NULL;
	int rc = cli_open_store(c, false, &store, &e);
	if (rc == 0) {
		rc = store_list_runs(store, &runs, &e);
	}
	store_close(store);
	if (rc < 0) {
		return cli_fail(c, &e);
	}
	if (c->json) {
		cli_print_json(runs);
	} else if (json_array_size(runs)) {
		print_runs(runs);
	} else {
		cli_note(c,
			 "nothing was measured yet: tunesweep run SPEC.yaml, or tunesweep import "
			 "FILE");
	}
	return CLI_DONE;
}

static int run_report(struct cli *c)
{
	struct store *store = NULL;
	struct err e = {0};
	auto_json json_t *run = NULL;
	const char *format = cli_value(c, "format"), *path = cli_value(c, "output");
	format = format ? format : c->json ? "json" : "text";
	int rc = cli_open_store(c, false, &store, &e);
	if (rc == 0) {
		rc = report_read(store, c->args[0], format, &run, &e);
	}
	if (rc == 0) {
		rc = path ? report_save(run, format, path, &e)
			  : report_write(run, format, stdout, &e);
	}
	store_close(store);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_results = {
	.name = "results",
	.arguments = "",
	.summary = "List what was measured",
	.run = run_results,
};

const struct command command_report = {
	.name = "report",
	.arguments = "RUN",
	.min_args = 1,
	.max_args = 1,
	.summary = "Show one run (its id, a beginning of it, or latest)",
	.options = report_options,
	.run = run_report,
};
