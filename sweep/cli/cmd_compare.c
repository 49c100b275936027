/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep compare: two runs, or two groups of runs, side by side. Reads only.
 */
#include "cleanup.h"
#include "cli.h"
#include "compare.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"format", 0, "F", "text (default), html, md or json", false},
	{NULL, 0, NULL, NULL, false},
};

/* RUN or RUN,RUN,...: boots of the same thing, measured one by one. */
static int read_side(struct store *s, const char *ids, struct observations *out, char *name,
		     size_t size, struct err *e)
{
	auto_free char *copy = strdup(ids);
	char *rest = copy, *id;
	name[0] = 0;
	while (copy && (id = strsep(&rest, ","))) {
		char whole[64];
		struct observations one = {0};
		struct observe_options o = {.which = OBSERVE_ALL, .run = whole, .values = true};
		int rc = store_find_run(s, id, whole, sizeof(whole), e);
		rc = rc ? rc : observations_read(s, &o, &one, e);
		rc = rc ? rc : observations_append(out, &one, e);
		observations_clear(&one);
		if (rc) {
			return rc;
		}
		size_t at = strlen(name);
		snprintf(name + at, size - at, "%s%s", at ? ", " : "", whole);
	}
	return copy ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int run(struct cli *c)
{
	struct err e = {0};
	struct store *store = NULL;
	struct observations a = {0}, b = {0};
	char name_a[1024], name_b[1024];
	const char *format = cli_value(c, "format");
	auto_json json_t *comparison = NULL;
	format = format ? format : c->json ? "json" : "text";
	int rc = cli_open_store(c, false, &store, &e);
	rc = rc ? rc : read_side(store, c->args[0], &a, name_a, sizeof(name_a), &e);
	rc = rc ? rc : read_side(store, c->args[1], &b, name_b, sizeof(name_b), &e);
	rc = rc ? rc : compare_make(&a, &b, name_a, name_b, &comparison, &e);
	rc = rc ? rc : compare_write(comparison, format, stdout, &e);
	observations_clear(&a);
	observations_clear(&b);
	store_close(store);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "A[,A...] B[,B...]",
	.min_args = 2,
	.max_args = 2,
	.summary = "Two runs side by side: how much better B is, with an interval",
	.options = options,
	.run = run,
};
