/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep list and show: the catalogue, and what this machine says of its entries. Reads only.
 */
#include "agent.h"
#include "cleanup.h"
#include "cli.h"
#include "topology.h"
#include "tunable.h"
#include <errno.h>
#include <fnmatch.h>
#include <net/if.h>
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
	static const char *const costs[] = {
		[COST_CALL] = "call", [COST_RESET] = "reset", [COST_REBIND] = "rebind"};
	json_t *affects = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(t->affects) && t->affects[i]; i++) {
		json_array_append_new(affects, json_string(t->affects[i]));
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:b, s:o, s:s}", "name", t->name, "scope",
			 t->scope == SCOPE_HOST ? "host" : "run", "class", class_name(t->class),
			 "fields", fields, "help", t->help, "device", t->device, "affects", affects,
			 "cost", costs[t->cost]);
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

/* --device names what is there, before a screenful says of each entry that it is not. */
static int check_device(const struct cli *c, struct err *e)
{
	const char *device = cli_value(c, "device");
	if (!device || !*device || if_nametoindex(device)) {
		return 0;
	}
	return err_set(e, -ENODEV, "--device %.40s: there is no such interface", device);
}

static int open_here(struct cli *c, struct agent **out, struct err *e)
{
	struct host_via via = {.kind = VIA_LOCAL};
	return agent_connect(c->launcher, &via, "local", out, e);
}

static void close_here(struct agent *agent)
{
	struct err ignored = {0};
	agent_close(agent, NULL, &ignored);
}

/* Asks this machine about every field of the setting: {key: range}. */
static int ask_here(struct agent *agent, const struct setting *s, json_t *out, struct err *e)
{
	const char *whole[] = {"", NULL};
	const char *const *field = s->tunable->fields[0] ? s->tunable->fields : whole;
	int rc = 0;
	for (; rc == 0 && *field; field++) {
		struct tunable_range r = {0};
		char key[200];
		rc = agent_probe(agent, s, *field, &r, e);
		setting_key(s, *field, NULL, key, sizeof(key));
		json_object_set_new(out, key, describe_range(s->tunable, &r));
	}
	return rc;
}

/* One name, as far as this machine can be asked about it: entries of a device want its name. */
static void ask_name(struct agent *agent, const char *name, const char *device, json_t *out)
{
	struct setting s;
	struct err ignored = {0};
	bool known = tunable_resolve(name, "", device, &s, &ignored) == 0;
	if (known && s.tunable->scope == SCOPE_HOST && (!s.tunable->device || *s.device)) {
		ask_here(agent, &s, out, &ignored);
	}
}

static json_t *ask_row(struct agent *agent, const struct tunable *t, const char *device)
{
	static const char *const offloads[] = {"tso", "gso", "gro", "lro", "rx", "tx", "sg"};
	json_t *here = json_object();
	if (agent && strcmp(t->name, "nic.features.*") == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(offloads); i++) {
			char name[64];
			snprintf(name, sizeof(name), "nic.features.%s", offloads[i]);
			ask_name(agent, name, device, here);
		}
	} else if (agent && !strchr(t->name, '*')) {
		ask_name(agent, t->name, t->device ? device : "", here);
	}
	return here;
}

static void print_here(const struct tunable *t, json_t *here)
{
	const char *key;
	json_t *one, *choice;
	size_t i;
	json_object_foreach(here, key, one)
	{
		auto_free char *present = json_dumps(json_object_get(one, "present"),
						     JSON_ENCODE_ANY);
		const char *why = json_string_value(json_object_get(one, "why_not"));
		json_int_t least, most;
		printf("  %s: %s", key, present);
		if (!why && json_unpack(one, "{s:I, s:I}", "min", &least, "max", &most) == 0) {
			const char *unit = cli_unit_word(t->unit);
			printf(" (%lld to %lld%s%s)", (long long)least, (long long)most,
			       *unit ? " " : "", unit);
		}
		printf("%s%s\n", why ? ", cannot be set: " : "", why ? why : "");
		json_array_foreach(json_object_get(one, "choices"), i, choice)
		{
			printf("    choice: %s\n", json_string_value(choice));
		}
	}
}

static void print_row(const struct tunable *t, json_t *here)
{
	printf("%-40s %-4s %-13s %s\n", t->name, t->scope == SCOPE_HOST ? "host" : "run",
	       class_name(t->class), t->help);
	print_here(t, here);
}

static int run_list(struct cli *c)
{
	auto_json json_t *list = json_array();
	const char *device = cli_value(c, "device");
	struct agent *agent = NULL;
	struct err e = {0};
	size_t n;
	const struct tunable *all = tunable_catalog(&n);
	if (check_device(c, &e) < 0) {
		return cli_fail(c, &e);
	}
	if (open_here(c, &agent, &e) < 0) {
		cli_note(c, "nothing is told of this machine: %s", e.text);
	}
	for (size_t i = 0; i < n; i++) {
		const struct tunable *t = &all[i];
		if (!matches(t, c->n_args ? c->args[0] : NULL)) {
			continue;
		}
		json_t *here = ask_row(agent, t, device ? device : ""), *one = describe(t);
		json_object_set_new(one, "here", here);
		json_array_append_new(list, one);
		if (!c->json) {
			print_row(t, here);
		}
	}
	close_here(agent);
	if (c->json) {
		cli_print_json(list);
	}
	if (!json_array_size(list)) {
		cli_note(c, "nothing that can be set matches '%s' (tunesweep list lists all)",
			 c->n_args ? c->args[0] : "");
	}
	return json_array_size(list) ? CLI_DONE : CLI_NO;
}

/* Whoever names CPUs shall know which of them are one core. */
static bool takes_cpus(const struct tunable *t)
{
	for (size_t i = 0; t->choices && t->choices[i]; i++) {
		if (strcmp(t->choices[i], "#-#") == 0) {
			return true;
		}
	}
	return false;
}

static int run_show(struct cli *c)
{
	char cores[4096] = "";
	struct setting s;
	struct err e = {0};
	auto_json json_t *here = json_object();
	if (tunable_resolve(c->args[0], "", cli_value(c, "device"), &s, &e) < 0 ||
	    check_device(c, &e) < 0) {
		return cli_fail(c, &e);
	}
	const struct tunable *t = s.tunable;
	if (t->scope == SCOPE_HOST && (!t->device || *s.device)) {
		struct agent *agent = NULL;
		int rc = open_here(c, &agent, &e);
		rc = rc < 0 ? rc : ask_here(agent, &s, here, &e);
		close_here(agent);
		if (rc < 0) {
			return cli_fail(c, &e);
		}
	}
	if (takes_cpus(t)) {
		topology_shared_cores(&(struct sysroot){.prefix = ""}, cores, sizeof(cores));
	}
	if (c->json) {
		auto_json json_t *j = describe(t);
		json_object_set(j, "here", here);
		json_object_set_new(j, "shared_cores", json_string(cores));
		cli_print_json(j);
		return CLI_DONE;
	}
	const char *near = t->class == CLASS_UNLISTED ? tunable_near(s.name) : NULL;
	printf("%s (%s, %s)\n  %s%s%s\n", s.name, t->scope == SCOPE_HOST ? "host" : "run",
	       class_name(t->class), t->help, near ? " The nearest that is: " : "",
	       near ? near : "");
	print_here(t, here);
	if (*cores) {
		printf("  CPUs that are threads of one core: %s\n", cores);
	}
	if (t->device && !*s.device) {
		printf("  of which device? --device D tells what it has\n");
	}
	return CLI_DONE;
}

static const struct cli_option device_options[] = {
	{"device", 0, "D", "the device of a device's tunable", false},
	{NULL, 0, NULL, NULL, false},
};

const struct command command_list = {
	.name = "list",
	.arguments = "[PATTERN]",
	.max_args = 1,
	.summary = "List what can be set",
	.options = device_options,
	.needs_launcher = true,
	.run = run_list,
};

const struct command command_show = {
	.name = "show",
	.arguments = "TUNABLE",
	.min_args = 1,
	.max_args = 1,
	.summary = "Tell all about one tunable, and whether it can be set here",
	.options = device_options,
	.needs_launcher = true,
	.run = run_show,
};
