/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep list and show: the catalogue, and what this machine says of one entry. Reads only.
 */
#include "agent.h"
#include "cleanup.h"
#include "cli.h"
#include "tunable.h"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const char *class_name(enum tunable_class k)
{
	static const char *const names[] = {[CLASS_SAFE] = "safe",
					    [CLASS_UNSAFE] = "unsafe",
					    [CLASS_DISRUPTIVE] = "disruptive",
					    [CLASS_UNLISTED] = "unlisted",
					    [CLASS_DRIVER_REBIND] = "driver-rebind"};
	return names[k];
}

static bool matches(const struct tunable *t, const char *pattern)
{
	return !pattern || strstr(t->name, pattern) || fnmatch(pattern, t->name, 0) == 0;
}

static json_t *describe(const struct tunable *t)
{
	json_t *fields = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(t->fields) && t->fields[i]; i++) {
		json_array_append_new(fields, json_string(t->fields[i]));
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", t->name, "scope",
			 t->scope == SCOPE_HOST ? "host" : "run", "class", class_name(t->class),
			 "fields", fields, "help", t->help);
}

static int run_list(struct cli *c)
{
	auto_json json_t *list = json_array();
	size_t n;
	const struct tunable *all = tunable_catalog(&n);
	for (size_t i = 0; i < n; i++) {
		const struct tunable *t = &all[i];
		if (!matches(t, c->n_args ? c->args[0] : NULL)) {
			continue;
		}
		json_array_append_new(list, describe(t));
		if (!c->json) {
			printf("%-40s %-4s %-13s %s\n", t->name,
			       t->scope == SCOPE_HOST ? "host" : "run", class_name(t->class),
			       t->help);
		}
	}
	if (c->json) {
		cli_print_json(list);
	}
	if (!json_array_size(list)) {
		cli_note(c, "nothing that can be set matches '%s' (tunesweep list lists all)",
			 c->n_args ? c->args[0] : "");
	}
	return json_array_size(list) ? CLI_DONE : CLI_NO;
}

static json_t *describe_range(const struct tunable *t, const struct tunable_range *r)
{
	json_t *one = json_object(), *choices = json_array();
	json_object_set_new(one, "settable", json_boolean(r->settable));
	json_object_set_new(one, "why_not", r->settable ? json_null() : json_string(r->why_not));
	json_object_set_new(one, "present", value_to_json(&r->present));
	if (t->type == VALUE_INT) {
		json_object_set_new(one, "min", json_integer(r->min));
		json_object_set_new(one, "max", json_integer(r->max));
	}
	for (size_t i = 0; i < r->n_choices; i++) {
		json_array_append_new(choices, json_string(r->choices[i]));
	}
	json_object_set_new(one, "choices", choices);
	return one;
}

/* Asks this machine about every field of the setting: {key: range}. */
static int ask_here(struct cli *c, const struct setting *s, json_t *out, struct err *e)
{
	struct host_via via = {.kind = VIA_LOCAL};
	struct agent *agent = NULL;
	struct err ignored = {0};
	const char *whole[] = {"", NULL};
	const char *const *field = s->tunable->fields[0] ? s->tunable->fields : whole;
	int rc = agent_connect(c->launcher, &via, "local", &agent, e);
	for (; rc == 0 && *field; field++) {
		struct tunable_range r = {0};
		char key[200];
		rc = agent_probe(agent, s, *field, &r, e);
		setting_key(s, *field, NULL, key, sizeof(key));
		json_object_set_new(out, key, describe_range(s->tunable, &r));
	}
	agent_close(agent, NULL, &ignored);
	return rc;
}

static void print_here(json_t *here)
{
	const char *key;
	json_t *one, *choice;
	size_t i;
	json_object_foreach(here, key, one)
	{
		auto_free char *present = json_dumps(json_object_get(one, "present"),
						     JSON_ENCODE_ANY);
		const char *why = json_string_value(json_object_get(one, "why_not"));
		printf("  %s: %s%s%s\n", key, present, why ? ", cannot be set: " : "",
		       why ? why : "");
		json_array_foreach(json_object_get(one, "choices"), i, choice)
		{
			printf("    choice: %s\n", json_string_value(choice));
		}
	}
}

static int run_show(struct cli *c)
{
	struct setting s;
	struct err e = {0};
	auto_json json_t *here = json_object();
	if (tunable_resolve(c->args[0], "", cli_value(c, "device"), &s, &e) < 0) {
		return cli_fail(c, &e);
	}
	const struct tunable *t = s.tunable;
	if (t->scope == SCOPE_HOST && ask_here(c, &s, here, &e) < 0) {
		return cli_fail(c, &e);
	}
	if (c->json) {
		auto_json json_t *j = describe(t);
		json_object_set(j, "here", here);
		cli_print_json(j);
		return CLI_DONE;
	}
	printf("%s (%s, %s)\n  %s\n", s.name, t->scope == SCOPE_HOST ? "host" : "run",
	       class_name(t->class), t->help);
	print_here(here);
	return CLI_DONE;
}

static const struct cli_option show_options[] = {
	{"device", 0, "D", "the device of a device's tunable", false},
	{NULL, 0, NULL, NULL, false},
};

const struct command command_list = {
	.name = "list",
	.arguments = "[PATTERN]",
	.max_args = 1,
	.summary = "List what can be set",
	.run = run_list,
};

const struct command command_show = {
	.name = "show",
	.arguments = "TUNABLE",
	.min_args = 1,
	.max_args = 1,
	.summary = "Tell all about one tunable, and whether it can be set here",
	.options = show_options,
	.needs_launcher = true,
	.run = run_show,
};
