/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep nightly: what the timer starts. It gives a night its world: this machine's fingerprint
 * and use, the clock, and this program's own commands run, doctor and apply, each as a child of the
 * launcher (nightly_child.c). With --fleet it puts the summaries of many hosts together.
 */
#include "cleanup.h"
#include "cli_nightly.h"
#include "files.h"
#include "host.h"
#include "json_util.h"
#include "value.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"fleet", 0, NULL, "the arguments are summaries (JSON) of hosts: alarms over all of them",
	 false},
	{"false-discovery", 0, "F", "of a fleet: share of false alarms among all (default 5%)",
	 false},
	{"format", 0, "WORD", "text (default), json or prometheus", false},
	{"accept", 0, NULL, "from tonight on the present levels are right", false},
	{"now", 0, "TIME", "as if it were 2026-01-31T02:00:00, local: tries a configuration out",
	 false},
	{NULL, 0, NULL, NULL, false},
};

static time_t now(void *ctx)
{
	const struct nightly *n = ctx;
	return time(NULL) + n->clock_ahead;
}

static void in_use(void *ctx, const struct nightly_limits *l, bool first, char *why, size_t size)
{
	static const struct sysroot here = {""};
	(void)ctx;
	nightly_in_use(l, &here, first, why, size);
}

static int measure(void *ctx, const struct recheck *o, struct recheck_result *out, struct err *e)
{
	(void)ctx;
	return recheck_run(o, out, e);
}

static void note(void *ctx, const char *line)
{
	const struct nightly *n = ctx;
	cli_note(n->c, "%s", line);
}

static bool interrupted(void *ctx)
{
	const struct nightly *n = ctx;
	return cli_interrupted(n->c);
}

static int read_clock(struct nightly *n, struct err *e)
{
	const char *text = cli_value(n->c, "now");
	struct tm tm = {.tm_isdst = -1};
	if (!text) {
		return 0;
	}
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || *end) {
		return err_usage(e, "--now: a time such as 2026-01-31T02:00:00, not '%s'", text);
	}
	n->clock_ahead = mktime(&tm) - time(NULL);
	return 0;
}

static int read_format(struct nightly *n, struct err *e)
{
	const char *word = cli_value(n->c, "format");
	n->format = n->c->json ? NIGHTLY_JSON : NIGHTLY_TEXT;
	for (int i = 0; word && nightly_formats[i]; i++) {
		if (strcmp(word, nightly_formats[i]) == 0) {
			n->format = (enum nightly_format)i;
			return 0;
		}
	}
	return word ? err_usage(e, "--format: text, json or prometheus, not '%s'", word) : 0;
}

static int read_fingerprint(struct nightly *n, struct err *e)
{
	static const struct sysroot here = {""};
	char name[256] = "";
	int rc = host_fingerprint(&here, &n->fingerprint, e);
	if (rc == 0 && gethostname(name, sizeof(name) - 1) == 0) {
		json_object_set_new(n->fingerprint, "hostname", json_text_or_null(name));
	}
	return rc;
}

/* The store's path, and the nights' state beside it. */
static int read_paths(struct nightly *n, struct err *e)
{
	const char *store = cli_value(n->c, "store");
	snprintf(n->store_path, sizeof(n->store_path), "%s", store ? store : "");
	int rc = store ? 0 : store_default_path(n->store_path, sizeof(n->store_path), e);
	const char *slash = strrchr(n->store_path, '/');
	snprintf(n->state, sizeof(n->state), "%.*snightly",
		 slash ? (int)(slash + 1 - n->store_path) : 0, n->store_path);
	return rc;
}

/* All that is asked for in the configuration is written before anything is said about it. */
static int hand_out(struct nightly *n, const json_t *summary, struct err *e)
{
	int first = 0;
	for (int i = 0; nightly_formats[i]; i++) {
		struct err one = {0};
		int rc = *n->config.write[i] ? nightly_save(summary, (enum nightly_format)i,
							    n->config.write[i], &one)
					     : 0;
		if (rc < 0 && first == 0) {
			*e = one;
			first = rc;
		}
	}
	nightly_print(summary, n->format, stdout);
	return first;
}

static int status_of(struct nightly *n, const json_t *summary, int rc, const struct err *e)
{
	bool json = n->c->json;
	int status = CLI_DONE;
	n->c->json = false; /* the summary is the one object on stdout */
	if (rc < 0) {
		status = cli_fail(n->c, e);
	}
	n->c->json = json;
	if (status == CLI_NOT_RESTORED) {
		return status;
	}
	if (strcmp(json_get_text(summary, "status", ""), "interrupted") == 0) {
		return CLI_INTERRUPTED;
	}
	return json_integer_value(json_object_get(summary, "alarms")) > 0 ? CLI_NO : status;
}

static int night(struct nightly *n, struct err *e)
{
	auto_json json_t *summary = NULL;
	struct err writing = {0};
	struct nightly_world w = {
		.ctx = n,
		.launcher = n->c->launcher,
		.interrupt_fd = n->c->interrupt_fd,
		.fingerprint = n->fingerprint,
		.store_path = n->store_path,
		.now = now,
		.in_use = in_use,
		.measure = measure,
		.sweep = nightly_child_sweep,
		.doctor = nightly_child_doctor,
		.apply = nightly_child_apply,
		.note = note,
		.interrupted = interrupted,
	};
	int rc = nightly_run(&n->config, &w, n->store, &summary, e);
	int written = hand_out(n, summary, &writing);
	if (rc == 0 && written < 0) {
		rc = written;
		*e = writing;
	}
	return status_of(n, summary, rc, e);
}

static int prepare(struct nightly *n, struct err *e)
{
	int rc = read_clock(n, e);
	rc = rc ? rc : read_format(n, e);
	rc = rc ? rc : read_paths(n, e);
	rc = rc ? rc : nightly_config_load(n->c->args[0], n->state, &n->config, e);
	rc = rc ? rc : read_fingerprint(n, e);
	rc = rc ? rc : files_make_folders(n->config.state, e);
	return rc ? rc : nightly_lock(n, e);
}

static int accept_levels(struct nightly *n, struct err *e)
{
	char name[16];
	double left;
	int records = 0;
	nightly_is_night(&n->config, now(n), name, &left);
	int rc = nightly_accept(&n->config, name, &records, e);
	if (rc == 0) {
		cli_note(n->c, "%d levels are right from the night of %s on", records, name);
	}
	return rc < 0 ? cli_fail(n->c, e) : CLI_DONE;
}

static int tonight(struct nightly *n)
{
	struct err e = {0};
	int rc = prepare(n, &e);
	if (rc == 0 && cli_value(n->c, "accept")) {
		return accept_levels(n, &e);
	}
	if (rc == 0 && cli_restore_crashed(n->c) != CLI_DONE) {
		return CLI_NOT_RESTORED;
	}
	rc = rc ? rc : cli_open_store(n->c, true, &n->store, &e);
	return rc < 0 ? cli_fail(n->c, &e) : night(n, &e);
}

static int load_summaries(struct nightly *n, json_t **all, struct err *e)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < n->c->n_args; i++) {
		rc = files_load_json(n->c->args[i], &all[i], e);
	}
	return rc;
}

static int fleet(struct nightly *n)
{
	struct err e = {0};
	double rate = 0.05;
	const char *text = cli_value(n->c, "false-discovery");
	auto_json json_t *out = NULL;
	auto_free json_t **all = calloc((size_t)n->c->n_args, sizeof(*all));
	int rc = text ? scalar_fraction(text, &rate, &e) : 0;
	rc = rc < 0 ? err_wrap(&e, "--false-discovery") : read_format(n, &e);
	rc = rc ? rc : load_summaries(n, all, &e);
	rc = rc ? rc : nightly_fleet(all, (size_t)n->c->n_args, rate, &out, &e);
	if (rc == 0) {
		nightly_print(out, n->format, stdout);
	}
	for (int i = 0; i < n->c->n_args; i++) {
		json_decref(all[i]);
	}
	return rc < 0						    ? cli_fail(n->c, &e)
	       : json_integer_value(json_object_get(out, "alarms")) ? CLI_NO
								    : CLI_DONE;
}

static int run(struct cli *c)
{
	auto_free struct nightly *n = calloc(1, sizeof(*n));
	struct err e = {0};
	if (!n) {
		err_set(&e, -ENOMEM, "out of memory");
		return cli_fail(c, &e);
	}
	n->c = c;
	n->lock = -1;
	if (!cli_value(c, "fleet") && c->n_args > 1) {
		err_usage(&e, "nightly: one CONFIG.yaml; several summaries go with --fleet");
		return cli_fail(c, &e);
	}
	int status = cli_value(c, "fleet") ? fleet(n) : tonight(n);
	json_decref(n->fingerprint);
	store_close(n->store);
	cleanup_close(&n->lock);
	return status;
}

const struct command command_nightly = {
	.name = "nightly",
	.arguments = "CONFIG.yaml | --fleet SUMMARY.json...",
	.min_args = 1,
	.max_args = 10000,
	.summary = "A night: compare with the nights before, sweep what is due, keep the best",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
