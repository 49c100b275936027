/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep rollback: puts everything back to what it was before the first apply.
 */
#include "cleanup.h"
#include "cli.h"
#include "targets.h"
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"host", 0, "NAME=VIA", "a host: local, netns:NAME, or a command such as 'ssh tx1'", true},
	{"force", 0, NULL, "overwrite also what someone else has changed since", false},
	{NULL, 0, NULL, NULL, false},
};

static void print_items(const struct target *t, const json_t *items)
{
	const json_t *item;
	size_t i;
	json_array_foreach((json_t *)items, i, item)
	{
		const char *reason = json_string_value(json_object_get(item, "reason"));
		printf("%s%s%s = %s: %s%s%s\n", t->name, *t->name ? ": " : "",
		       json_string_value(json_object_get(item, "set")),
		       json_string_value(json_object_get(item, "old")),
		       json_string_value(json_object_get(item, "outcome")),
		       reason && *reason ? ", " : "", reason ? reason : "");
	}
}

static int roll_back(struct cli *c, struct target *t, json_t *all, struct err *e)
{
	json_t *items = NULL;
	int rc = agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	if (rc == 0) {
		rc = agent_rollback(t->agent, cli_value(c, "force") != NULL, &items, e);
	}
	if (items && !c->json && !c->quiet) {
		print_items(t, items);
	}
	if (items) {
		json_object_set(all, *t->name ? t->name : "local", items);
	}
	json_decref(items);
	return rc;
}

static int run(struct cli *c)
{
	struct targets t;
	struct err e = {0}, ignored = {0};
	auto_json json_t *all = json_object();
	int status = cli_restore_crashed(c);
	int rc = status ? 0 : targets_init(&t, c, NULL, &e);
	if (status) {
		return status;
	}
	if (rc == 0) {
		rc = targets_connect(&t, c, &e);
	}
	/* A host that fails does not keep the others from being put back. */
	for (size_t i = 0; rc == 0 && i < t.n; i++) {
		struct err one = {0};
		if (roll_back(c, &t.items[i], all, &one) < 0 && status == CLI_DONE) {
			status = cli_fail(c, &one);
		}
	}
	targets_close(&t, &ignored);
	targets_clear(&t);
	if (rc < 0) {
		return cli_fail(c, &e);
	}
	if (c->json) {
		cli_print_json(all);
	}
	return status;
}

const struct command command_rollback = {
	.name = "rollback",
	.arguments = "",
	.summary = "Put back what apply has set",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
