/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep rollback: puts everything back to what it was before the first apply.
 */
#include "cleanup.h"
#include "cli_confirm.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"host", 0, "NAME=VIA", "a host: local, netns:NAME, or a command such as 'ssh tx1'", true},
	{"all", 0, NULL, "all network namespaces of this machine, and what waits for its confirm",
	 false},
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
	bool found;  /* something that was applied, or waited */
};

/* An apply that waits for its confirm holds what is to be put back: it is told to do it now.
 * via: of which host; NULL for all that wait. */
static int end_waiting(struct undoing *u, const char *via, struct err *e)
{
	auto_json json_t *list = waiting_list(via);
	const json_t *one;
	size_t i;
	int rc = 0;
	json_array_foreach(list, i, one)
	{
		auto_json json_t *answer = NULL;
		u->found = true;
		cli_note(u->c, "%s was waiting for its confirm: all that it has set goes back",
			 json_string_value(json_object_get(one, "profile")));
		int failed = waiting_ask(one, json_pack("{s:s}", "op", "rollback"), &answer, e);
		rc = rc ? rc : failed;
	}
	return rc;
}

static int roll_back(void *ctx, struct target *t, struct err *e)
{
	struct undoing *u = ctx;
	auto_json json_t *items = NULL;
	int rc = end_waiting(u, t->text, e);
	rc = rc ? rc : agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	if (rc == 0) {
		rc = agent_rollback(t->agent, cli_value(u->c, "force") != NULL, &items, e);
	}
	if (items && !u->c->json && !u->c->quiet) {
		print_items(t, items);
	}
	if (items) {
		u->found = u->found || json_array_size(items) > 0;
		json_object_set(u->all, target_name(t), items);
	}
	return rc;
}

/* One namespace, as if --host had named it; what it is called may be longer than a host's name. */
static int visit_namespace(struct undoing *u, struct cli *c, const char *path)
{
	char host[160];
	const char *name = strncmp(path, "/run/netns/", 11) == 0 ? path + 11 : NULL;
	if (*path && !name) {
		struct err e = {0};
		err_set(&e, -ENOENT,
			"the network namespace of %s has no name: run tunesweep rollback in it",
			path);
		e.class = ERR_RESTORE;
		return cli_fail(c, &e);
	}
	snprintf(host, sizeof(host), *path ? "%.31s=netns:%s" : "local=local", name, name);
	c->repeated[0] = host;
	c->n_repeated = 1;
	return targets_visit(c, NULL, true, roll_back, u);
}

static int roll_back_everywhere(struct undoing *u, struct cli *c)
{
	struct err e = {0};
	auto_json json_t *paths = NULL;
	const json_t *path;
	size_t i;
	if (c->n_repeated) {
		err_usage(&e, "--all takes no --host: it is about this machine");
		return cli_fail(c, &e);
	}
	if (end_waiting(u, NULL, &e) || launcher_applied(c->launcher, &paths, &e)) {
		return cli_fail(c, &e);
	}
	int status = CLI_DONE;
	json_array_foreach(paths, i, path)
	{
		int one = visit_namespace(u, c, json_string_value(path));
		status = one > status ? one : status;
	}
	return status;
}

static int run(struct cli *c)
{
	auto_json json_t *all = json_object();
	struct undoing u = {c, all, false};
	int status = cli_restore_crashed(c);
	if (status != CLI_DONE) {
		return status;
	}
	status = cli_value(c, "all") ? roll_back_everywhere(&u, c)
				     : targets_visit(c, NULL, true, roll_back, &u);
	if (c->json && status == CLI_DONE) {
		cli_print_json(all);
	} else if (status == CLI_DONE && !u.found) {
		cli_note(c, "nothing is applied: there was nothing to put back");
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
