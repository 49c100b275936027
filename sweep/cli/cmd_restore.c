/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep restore: puts back what killed runs and applies have left on this machine, in all its
 * network namespaces, and nothing else: what is applied stays. Every command that sets something
 * does the same first; this one is for the timer that looks after a crash.
 */
#include "cleanup.h"
#include "cli.h"

static int run(struct cli *c)
{
	struct err e = {0};
	auto_json json_t *report = NULL;
	if (!c->json) {
		return cli_restore_crashed(c);
	}
	int rc = launcher_restore(c->launcher, &report, &e);
	if (rc < 0) {
		return cli_fail(c, &e);
	}
	report = report ? report : json_array();
	cli_print_json(report);
	return CLI_DONE;
}

const struct command command_restore = {
	.name = "restore",
	.arguments = "",
	.summary = "Put back what a crash has left; what is applied stays",
	.needs_launcher = true,
	.run = run,
};
