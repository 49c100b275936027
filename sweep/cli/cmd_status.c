/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep status: what is set on this machine, by which profile, since when, and what has
 * drifted from it.
 */
#include "cleanup.h"
#include "cli_confirm.h"
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
	if (json_object_get(status, "until")) {
		char until[32];
		since = (time_t)json_integer_value(json_object_get(status, "until"));
		strftime(until, sizeof(until), "%Y-%m-%d %H:%M:%S", localtime_r(&since, &tm));
		printf("  waits for 'tunesweep confirm' until %s, else all is rolled back\n",
		       until);
	}
	json_array_foreach((json_t *)items, i, item)
	{
		print_setting(item);
	}
}

struct listing { /* of one status command */
	const struct cli *c;
	json_t *all; /* {host: status} */
};

/* The values of an apply that waits for its confirm: its own process holds them. NULL if none is.
 */
static json_t *waiting_status(const struct target *t)
{
	struct err ignored = {0};
	auto_json json_t *list = waiting_list(t->text), *answer = NULL;
	const json_t *one = json_array_get(list, 0);
	if (!one || waiting_ask(one, json_pack("{s:s, s:s}", "op", "status", "via", t->text),
				&answer, &ignored) < 0) {
		return NULL;
	}
	json_t *status = json_object_get(answer, "status");
	json_object_set(status, "profile", json_object_get(one, "profile"));
	json_object_set(status, "until", json_object_get(one, "until"));
	return json_incref(status);
}

static int show_waiting(struct listing *l, const struct target *t, json_t *status)
{
	if (!l->c->json) {
		print_host(t, status);
	}
	json_object_set_new(l->all, target_name(t), status);
	return 0;
}

static int show_host(void *ctx, struct target *t, struct err *e)
{
	struct listing *l = ctx;
	auto_json json_t *status = NULL;
	int rc = agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	json_t *waiting = rc == -EBUSY ? waiting_status(t) : NULL;
	if (waiting) {
		return show_waiting(l, t, waiting);
	}
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
