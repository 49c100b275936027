/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep capture: present values as a profile. Reads only.
 */
#include "cleanup.h"
#include "cli_capture.h"
#include "cli_confirm.h"
#include "host.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"host", 0, "NAME=VIA", "a host: local, netns:NAME, or a command such as 'ssh tx1'", true},
	{"device", 0, "D", "take the settings of this device, too", false},
	{"name", 0, "NAME", "the new profile's name (default: captured)", false},
	{"output", 'o', "FILE", "write it there instead of to standard output", false},
	{NULL, 0, NULL, NULL, false},
};

struct capture { /* of one capture command */
	struct cli *c;
	const struct profile *model; /* NULL if no argument is a profile */
	struct profile out;
};

/* What is applied, else all that can safely be set. */
static int pick_present(struct capture *k, struct target *t, struct picks *p, struct err *e)
{
	auto_json json_t *status = NULL;
	int rc = agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	rc = rc ? rc : agent_status(t->agent, &status, e);
	rc = rc ? rc : picks_of_applied(p, json_object_get(status, "settings"), e);
	if (rc || p->n) {
		return rc;
	}
	cli_note(k->c, "nothing is applied on %s: all that can safely be set is taken",
		 target_name(t));
	return picks_of_all(p, cli_value(k->c, "device"), e);
}

static int pick(struct capture *k, struct target *t, struct picks *p, struct err *e)
{
	int rc = 0;
	if (k->model) {
		return picks_of_profile(p, k->model, t->name, e);
	}
	if (!k->c->n_args) {
		return pick_present(k, t, p, e);
	}
	for (int i = 0; rc == 0 && i < k->c->n_args; i++) {
		rc = picks_of_pattern(p, k->c->args[i], cli_value(k->c, "device"), e);
	}
	return rc;
}

/* What cannot be set here has no place in a profile. */
static int take_value(struct capture *k, struct target *t, const struct assignment *a,
		      struct err *e)
{
	struct tunable_range range;
	struct profile_setting *s = &k->out.settings[k->out.n_settings];
	int rc = agent_probe(t->agent, &a->setting, a->field, &range, e);
	if (rc) {
		return rc;
	}
	if (!range.settable) {
		if (k->c->n_args || k->c->verbose) {
			cli_note(k->c, "%s is left out: %s", a->setting.name, range.why_not);
		}
		return 0;
	}
	if (strcmp(range.present.text, TUNABLE_AS_FOUND) == 0) {
		cli_note(k->c, "%s is left out: no word says how it is", a->setting.name);
		return 0;
	}
	*s = (struct profile_setting){.assignment = *a, .effect.percent = __builtin_nan("")};
	s->assignment.value = range.present;
	snprintf(s->host, sizeof(s->host), "%s", t->name);
	k->out.n_settings++;
	return 0;
}

static int capture_host(void *ctx, struct target *t, struct err *e)
{
	struct capture *k = ctx;
	struct picks p = {0};
	const struct agent_info *info = agent_info(t->agent);
	int rc = pick(k, t, &p, e);
	size_t room = k->out.n_settings + p.n + 1;
	struct profile_setting *bigger = realloc(k->out.settings, room * sizeof(*bigger));
	if (!bigger) {
		picks_clear(&p);
		return err_set(e, -ENOMEM, "out of memory");
	}
	k->out.settings = bigger;
	for (size_t i = 0; rc == 0 && i < p.n; i++) {
		rc = take_value(k, t, &p.items[i], e);
	}
	picks_clear(&p);
	if (rc == 0 && !k->out.machine && k->c->n_repeated < 2) {
		k->out.machine = host_machine(info->host);
	}
	return rc;
}

static int write_out(struct capture *k, struct err *e)
{
	const char *path = cli_value(k->c, "output");
	if (path) {
		return profile_save(&k->out, path, e);
	}
	profile_print(&k->out, stdout);
	return 0;
}

static json_t *as_json(const struct profile *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->n_settings; i++) {
		const struct assignment *a = &p->settings[i].assignment;
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s, s:o}", "set", a->setting.name,
					"field", a->field, "device", a->setting.device, "host",
					p->settings[i].host, "value", value_to_json(&a->value)));
	}
	return json_pack("{s:i, s:s, s:O?, s:o}", "tunesweep_profile", 1, "name", p->name,
			 "machine", p->machine, "settings", list);
}

static int capture(struct capture *k)
{
	struct err e = {0};
	const char *name = cli_value(k->c, "name");
	snprintf(k->out.name, sizeof(k->out.name), "%s", name && *name ? name : "captured");
	int status = targets_visit(k->c, k->model, false, capture_host, k);
	if (status != CLI_DONE) {
		return status;
	}
	if (!k->out.n_settings) {
		err_set(&e, -ENOENT, "nothing of that can be set here");
		return cli_fail(k->c, &e);
	}
	if (k->c->json) {
		auto_json json_t *j = as_json(&k->out);
		cli_print_json(j);
	}
	if (!k->c->json || cli_value(k->c, "output")) {
		return write_out(k, &e) < 0 ? cli_fail(k->c, &e) : CLI_DONE;
	}
	return CLI_DONE;
}

static int run(struct cli *c)
{
	struct err e = {0};
	struct profile model = {0};
	struct capture k = {.c = c};
	profile_init(&k.out);
	if (c->n_args == 1 && targets_is_profile(c, c->args[0])) {
		if (targets_load_profile(c, &model, &e) < 0) {
			return cli_fail(c, &e);
		}
		k.model = &model;
	}
	int status = capture(&k);
	profile_clear(&k.out);
	profile_clear(&model);
	return status;
}

const struct command command_capture = {
	.name = "capture",
	.arguments = "[PROFILE | PATTERN...]",
	.max_args = -1,
	.summary = "Write present values as a profile",
	.details = "Of the settings of PROFILE, of those that match a PATTERN (as 'list' takes "
		   "it), else of what is applied, else of all that can safely be set.",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
