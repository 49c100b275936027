/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep diff: what an apply of this profile would change, with what a former profile has set
 * and this one does not name. Sets nothing; verify answers by its exit status.
 */
#include "changes.h"
#include "cleanup.h"
#include <stdio.h>

struct difference { /* of one diff command */
	const struct cli *c;
	const struct profile *p;
	json_t *list;
};

static int list_host(void *ctx, struct target *t, struct err *e)
{
	struct difference *d = ctx;
	return changes_list(d->c, t, d->p, d->list, e);
}

static int run(struct cli *c)
{
	struct profile p;
	struct err e = {0};
	auto_json json_t *list = json_array();
	struct difference d = {c, &p, list};
	if (targets_load_profile(c, &p, &e) < 0) {
		return cli_fail(c, &e);
	}
	int status = targets_visit(c, &p, false, list_host, &d);
	if (status == CLI_DONE && c->json) {
		cli_print_json(list);
	} else if (status == CLI_DONE) {
		changes_print(list);
		cli_note(c, "%zu settings would change", json_array_size(list));
	}
	profile_clear(&p);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.arguments = "PROFILE[:ROLE]",
	.min_args = 1,
	.max_args = 1,
	.summary = "Say what an apply of a profile would change",
	.options = target_options,
	.needs_launcher = true,
	.run = run,
};
