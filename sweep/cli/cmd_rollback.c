/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep rollback: puts everything back to what it was before the first apply.
 */
#include "cleanup.h"
#include "cli_confirm.h"
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

struct undoing { /* of one rollback command */
	const struct cli *c;
	json_t *all; /* {host: items} */
};

/* An apply that waits for its confirm holds what is to be put back: it is told to do it now. */
static int end_waiting(const struct undoing *u, const struct target *t, struct err *e)
{
	auto_json json_t *list = waiting_list(t->text), *answer = NULL;
	const json_t *one = json_array_get(list, 0);
	if (!one) {
		return 0;
	}
	cli_note(u->c, "%s was waiting for its confirm: all that it has set goes back",
		 json_string_value(json_object_get(one, "profile")));
	return waiting_ask(one, json_pack("{s:s}", "op", "rollback"), &answer, e);
}

static int roll_back(void *ctx, struct target *t, struct err *e)
{
	struct undoing *u = ctx;
	auto_json json_t *items = NULL;
	int rc = end_waiting(u, t, e);
	rc = rc ? rc : agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	if (rc == 0) {
		rc = agent_rollback(t->agent, cli_value(u->c, "force") != NULL, &items, e);
	}
	if (items && !u->c->json && !u->c->quiet) {
		print_items(t, items);
	}
	if (items) {
		json_object_set(u->all, target_name(t), items);
	}
	return rc;
}

static int run(struct cli *c)
{
	auto_json json_t *all = json_object();
	struct undoing u = {c, all};
	int status = cli_restore_crashed(c);
	if (status != CLI_DONE) {
		return status;
	}
	status = targets_visit(c, NULL, true, roll_back, &u);
	if (c->json && status == CLI_DONE) {
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
