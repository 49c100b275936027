/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep export-runs: everything that was measured, for other programs. Reads only.
 */
#include "cleanup.h"
#include "cli.h"
#include "export_runs.h"
#include "replace.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"format", 0, "F", "csv (default), json (with --json), jsonl or prometheus", false},
	{"name", 0, "NAME", "only runs of this name", false},
	{"output", 'o', "FILE", "write to a file, put there whole", false},
	{NULL, 0, NULL, NULL, false},
};

/* A collector may read at any moment: beside it, then renamed. */
static int export_to(struct store *s, const char *format, const char *name, const char *path,
		     struct err *e)
{
	auto_free char *part = NULL;
	char place[PATH_MAX];
	int refused = replace_place(path, place, e);
	if (refused) {
		return refused;
	}
	if (asprintf(&part, "%s.part", place) < 0) {
		part = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	FILE *f = fopen(part, "we");
	if (!f) {
		return err_set(e, -errno, "cannot write %s: %s", part, strerror(errno));
	}
	int rc = export_runs(s, format, name, f, e);
	if ((fclose(f) || (rc == 0 && rename(part, place))) && rc == 0) {
		rc = err_set(e, -errno, "cannot write %s: %s", path, strerror(errno));
	}
	if (rc < 0) {
		unlink(part);
	}
	return rc;
}

static int run(struct cli *c)
{
	struct err e = {0};
	struct store *store = NULL;
	const char *format = cli_value(c, "format"), *path = cli_value(c, "output"),
		   *name = cli_value(c, "name");
	format = format ? format : c->json ? "json" : "csv";
	int rc = cli_open_store(c, false, &store, &e);
	if (rc == 0) {
		rc = path ? export_to(store, format, name, path, &e)
			  : export_runs(store, format, name, stdout, &e);
	}
	store_close(store);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_export_runs = {
	.name = "export-runs",
	.arguments = "",
	.summary = "Everything that was measured as CSV, JSON, JSON lines or for Prometheus",
	.options = options,
	.run = run,
};
