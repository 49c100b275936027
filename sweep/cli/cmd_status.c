/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep status: what is set on this machine, by which profile, since when, and what has
 * drifted from it.
 */
#include "cleanup.h"
#include "cli.h"
#include "targets.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* One setting with its old value, and what someone else has made of it since. */
static void print_setting(const json_t *item)
{
	const char *old = text_of(item, "old"), *set = text_of(item, "value");
	const char *wanted = *set ? set : old, *present = text_of(item, "present");
	bool drifted = strcmp(wanted, present) != 0;
	if (!*set && !drifted) {
		return; /* watched because another setting changes it, and as it was */
	}
	printf("  %s%s%s = %s (was %s)%s%s\n", text_of(item, "set"),
	       *text_of(item, "device") ? " on " : "", text_of(item, "device"), wanted, old,
	       drifted ? ", DRIFTED to " : "", drifted ? present : "");
}

static void print_host(const struct target *t, const json_t *status)
{
	const json_t *items = json_object_get(status, "settings"), *item;
	const char *prefix = *t->name ? t->name : "";
	time_t since = (time_t)json_integer_value(json_object_get(status, "since"));
	char when[32] = "";
	struct tm tm;
	size_t i;
	if (json_array_size(items) == 0) {
		printf("%s%snothing is applied\n", prefix, *prefix ? ": " : "");
		return;
	}
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", localtime_r(&since, &tm));
	printf("%s%sprofile %s since %s\n", prefix, *prefix ? ": " : "", text_of(status, "profile"),
	       when);
	json_array_foreach((json_t *)items, i, item)
	{
		print_setting(item);
	}
}

struct listing { /* of one status command */
	const struct cli *c;
	json_t *all; /* {host: status} */
};

static int show_host(void *ctx, struct target *t, struct err *e)
{
	struct listing *l = ctx;
	auto_json json_t *status = NULL;
	int rc = agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	if (rc == -EBUSY) { /* values come and go under a sweep: who holds them is the answer */
		if (!l->c->json) {
			printf("%s\n", e->text);
		}
		json_object_set_new(l->all, target_name(t), json_pack("{s:s}", "busy", e->text));
		return 0;
	}
	rc = rc < 0 ? rc : agent_status(t->agent, &status, e);
	if (rc == 0 && !l->c->json) {
		print_host(t, status);
	}
	if (rc == 0 && json_array_size(json_object_get(status, "settings")) == 0) {
		json_object_set_new(status, "profile", json_null());
		json_object_set_new(status, "since", json_null());
	}
	if (rc == 0) {
		json_object_set(l->all, target_name(t), status);
	}
	return rc;
}

static int run(struct cli *c)
{
	auto_json json_t *all = json_object();
	struct listing l = {c, all};
	int status = targets_visit(c, NULL, false, show_host, &l);
	if (c->json && status == CLI_DONE) {
		cli_print_json(all);
	}
	return status;
}

const struct command command_status = {
	.name = "status",
	.arguments = "",
	.summary = "Say what is set, by which profile, since when, and what drifted",
	.options = target_options,
	.needs_launcher = true,
	.run = run,
};
