/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep apply: sets a profile on its hosts as one transaction. Either every host has all of it
 * and keeps it, or every host is as it was.
 */
#include "cleanup.h"
#include "cli.h"
#include "host.h"
#include "targets.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"host", 0, "NAME=VIA",
	 "a host of the profile: local, netns:NAME, or a command such as 'ssh tx1'", true},
	{"force", 0, NULL, "apply although the machine is not the one that the profile was made on",
	 false},
	{"dry-run", 0, NULL, "say what would change and set nothing", false},
	{NULL, 0, NULL, NULL, false},
};

/* A stale profile on another kind of machine wants --force (the differences are named). */
static int check_machine(const struct cli *c, const struct profile *p, const struct target *t,
			 struct err *e)
{
	const struct agent_info *info = agent_info(t->agent);
	if (!p->machine || !info->host || cli_value(c, "force")) {
		return 0;
	}
	auto_json json_t *differences = host_differences(p->machine, info->host);
	const char *first = json_string_value(json_array_get(differences, 0));
	if (!first) {
		return 0;
	}
	const char *second = json_string_value(json_array_get(differences, 1));
	return err_set(
		e, -1,
		"the profile was made on another machine than %s: %s%s%s%s (--force applies it "
		"all the same)",
		target_name(t), first, second ? "; " : "", second ? second : "",
		json_array_size(differences) > 2 ? "; ..." : "");
}

/* What would change on one host, a line each; returns how many, or < 0. */
static int print_changes(const struct target *t, const struct assignment *a, size_t n, json_t *list,
			 struct err *e)
{
	int changes = 0;
	for (size_t i = 0; i < n; i++) {
		struct tunable_range range = {0};
		char key[200], from[VALUE_TEXT_MAX], to[VALUE_TEXT_MAX];
		int rc = agent_probe(t->agent, &a[i].setting, a[i].field, &range, e);
		if (rc < 0) {
			return rc;
		}
		setting_key(&a[i].setting, a[i].field, *t->name ? t->name : NULL, key, sizeof(key));
		if (!range.settable) {
			return err_set(e, -ENOENT, "%s cannot be set: %s", key, range.why_not);
		}
		if (value_equal(&range.present, &a[i].value)) {
			continue;
		}
		changes++;
		value_format(&range.present, UNIT_NONE, from, sizeof(from));
		value_format(&a[i].value, UNIT_NONE, to, sizeof(to));
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s}", "set", key, "from", from, "to", to));
	}
	return changes;
}

static int dry_run(struct cli *c, struct targets *t, const struct profile *p, struct err *e)
{
	auto_json json_t *list = json_array();
	json_t *item;
	auto_free struct assignment *a = calloc(p->n_settings + 1, sizeof(*a));
	size_t k;
	for (size_t i = 0; a && i < t->n; i++) {
		size_t n = target_assignments(&t->items[i], p, a);
		int rc = print_changes(&t->items[i], a, n, list, e);
		if (rc < 0) {
			return rc;
		}
	}
	if (c->json) {
		cli_print_json(list);
		return 0;
	}
	json_array_foreach(list, k, item)
	{
		printf("%s: %s -> %s\n", json_string_value(json_object_get(item, "set")),
		       json_string_value(json_object_get(item, "from")),
		       json_string_value(json_object_get(item, "to")));
	}
	printf("%zu settings would change; nothing was set\n", json_array_size(list));
	return 0;
}

static int set_on(struct target *t, const struct profile *p, struct err *e)
{
	auto_free struct assignment *a = calloc(p->n_settings + 1, sizeof(*a));
	auto_free struct setting *s = calloc(p->n_settings + 1, sizeof(*s));
	size_t n = a ? target_assignments(t, p, a) : 0;
	if (!a || !s) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		s[i] = a[i].setting;
	}
	int rc = agent_open(t->agent, "applied", p->name, s, n, NULL, e);
	return rc < 0 ? rc : agent_replace(t->agent, a, n, e);
}

/* All hosts are set before any is committed; what is not committed rolls back when its agent ends.
 */
static int apply_all(struct cli *c, struct targets *t, const struct profile *p, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		int rc = check_machine(c, p, &t->items[i], e);
		if (rc < 0 || (rc = set_on(&t->items[i], p, e)) < 0) {
			return rc;
		}
		if (cli_interrupted(c)) {
			return err_set(e, -EINTR, "interrupted: nothing is applied");
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		int rc = agent_commit(t->items[i].agent, e);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static int apply(struct cli *c, const struct profile *p)
{
	struct targets t;
	struct err e = {0}, closing = {0};
	int rc = targets_init(&t, c, p, &e);
	if (rc == 0) {
		rc = targets_connect(&t, c, &e);
	}
	if (rc == 0) {
		rc = cli_value(c, "dry-run") ? dry_run(c, &t, p, &e) : apply_all(c, &t, p, &e);
	}
	int rc_close = targets_close(&t, &closing);
	targets_clear(&t);
	if (rc < 0 || rc_close < 0) {
		int status = cli_fail(c,
				      rc_close < 0 && closing.class == ERR_RESTORE ? &closing : &e);
		return cli_interrupted(c) && status != CLI_NOT_RESTORED ? CLI_INTERRUPTED : status;
	}
	if (!cli_value(c, "dry-run")) {
		cli_note(c, "applied %s: %zu settings (tunesweep rollback puts them back)", p->name,
			 p->n_settings);
	}
	return CLI_DONE;
}

static int run(struct cli *c)
{
	struct profile p;
	struct err e = {0};
	if (profile_load(c->args[0], &p, &e) < 0) {
		return cli_fail(c, &e);
	}
	int status = cli_value(c, "dry-run") ? CLI_DONE : cli_restore_crashed(c);
	if (status == CLI_DONE) {
		status = apply(c, &p);
	}
	profile_clear(&p);
	return status;
}

const struct command command_apply = {
	.name = "apply",
	.arguments = "PROFILE",
	.min_args = 1,
	.max_args = 1,
	.summary = "Set a profile as one transaction, and keep it until rollback",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
