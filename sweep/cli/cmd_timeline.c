/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep timeline: the table over kernels, drivers, firmware, labels or dates, with the changes
 * marked. Reads only.
 */
#include "cleanup.h"
#include "cli.h"
#include "timeline.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"by", 0, "KEY", "kernel (default), driver, firmware, date, label, or any label's name",
	 false},
	{"name", 0, "NAME", "only runs of this name (that of the spec or import)", false},
	{"best", 0, NULL, "of each sweep its proved best, instead of its baseline", false},
	{"variants", 0, NULL, "groups with and without a variant side by side", false},
	{"format", 0, "F", "text (default), html, md, csv or json", false},
	{"output", 'o', "FILE", "write to a file", false},
	{NULL, 0, NULL, NULL, false},
};

static int read_timeline(struct cli *c, json_t **timeline, struct err *e)
{
	const char *by = cli_value(c, "by");
	struct observations o = {0};
	struct store *store = NULL;
	struct observe_options which = {
		.which = cli_value(c, "best") ? OBSERVE_BEST : OBSERVE_BASELINE,
		.name = cli_value(c, "name"),
	};
	int rc = cli_open_store(c, false, &store, e);
	rc = rc ? rc : observations_read(store, &which, &o, e);
	rc = rc ? rc : timeline_make(&o, by ? by : "kernel", timeline, e);
	observations_clear(&o);
	store_close(store);
	return rc;
}

static int run(struct cli *c)
{
	struct err e = {0};
	auto_json json_t *timeline = NULL;
	const char *format = cli_value(c, "format"), *path = cli_value(c, "output");
	format = format ? format : c->json ? "json" : "text";
	int rc = read_timeline(c, &timeline, &e);
	if (rc < 0) {
		return cli_fail(c, &e);
	}
	auto_fclose FILE *file = path ? fopen(path, "we") : NULL;
	if (path && !file) {
		err_set(&e, -errno, "cannot write %s: %s", path, strerror(errno));
		return cli_fail(c, &e);
	}
	rc = timeline_write(timeline, format, cli_value(c, "variants") != NULL,
			    file ? file : stdout, &e);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_timeline = {
	.name = "timeline",
	.arguments = "",
	.summary = "The table over kernels, drivers, firmware or dates, changes marked",
	.options = options,
	.run = run,
};
