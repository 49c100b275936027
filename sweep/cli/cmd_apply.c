/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep apply: sets a profile on its hosts as one transaction. Either every host has all of it
 * and keeps it, or every host is as it was.
 */
#include "changes.h"
#include "cleanup.h"
#include "cli_confirm.h"
#include "host.h"
#include "value.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define CONFIRM_SECONDS_MAX 86400

static const struct cli_option options[] = {
	{"host", 0, "NAME=VIA",
	 "a host of the profile: local, netns:NAME, or a command such as 'ssh tx1'", true},
	{"confirm", 0, "SECS",
	 "return at once, and roll everything back, to before the first apply, unless 'tunesweep "
	 "confirm' follows within this time (60, 90s, 5min)",
	 false},
	{"force", 0, NULL, "apply although the machine is not the one that the profile was made on",
	 false},
	{"dry-run", 0, NULL, "say what would change and set nothing", false},
	{NULL, 0, NULL, NULL, false},
};

struct application { /* of one apply command */
	struct cli *c;
	const struct profile *p;
	struct targets t;
	struct agent *agents[CLI_HOSTS_MAX]; /* of the targets */
	double confirm;			     /* seconds; 0: kept at once */
	size_t n_set;
	struct waiter *waiter;
};

/* A stale profile on another kind of machine wants --force (the differences are named). A kernel of
 * the same series is told of: a machine that an update has left untuned helps nobody. */
static int check_machine(const struct application *a, const struct target *t, struct err *e)
{
	const struct agent_info *info = agent_info(t->agent);
	if (!a->p->machine || !info->host || cli_value(a->c, "force")) {
		return 0;
	}
	auto_json json_t *differences = host_differences(a->p->machine, info->host);
	const char *first = json_string_value(json_array_get(differences, 0));
	if (first && host_kernel_is_update(a->p->machine, info->host)) {
		cli_note(a->c,
			 "%s has had a kernel update since: %s (its gain is not proved there)",
			 target_name(t), first);
		json_array_remove(differences, 0);
		first = json_string_value(json_array_get(differences, 0));
	}
	if (!first) {
		return 0;
	}
	const char *second = json_string_value(json_array_get(differences, 1));
	return err_set(
		e, -1,
		"the profile was made on another machine than %s: %s%s%s%s (measure again, or "
		"--force applies it all the same; at each boot: without these in its 'machine')",
		target_name(t), first, second ? "; " : "", second ? second : "",
		json_array_size(differences) > 2 ? "; ..." : "");
}

static int dry_run(struct application *a, struct err *e)
{
	auto_json json_t *list = json_array();
	for (size_t i = 0; i < a->t.n; i++) {
		int rc = changes_list(a->c, &a->t.items[i], a->p, list, e);
		if (rc < 0) {
			return rc;
		}
	}
	if (a->c->json) {
		cli_print_json(list);
		return 0;
	}
	changes_print(list);
	printf("%zu settings would change; nothing was set\n", json_array_size(list));
	return 0;
}

/* What is optional is tried one by one, so that the rest does not fall with it. */
static int set_apart(struct application *a, struct target *t, const struct wanted *wanted, size_t n,
		     struct assignment *values, struct err *e)
{
	size_t n_must = 0;
	for (size_t i = 0; i < n; i++) {
		if (!wanted[i].setting->optional) {
			values[n_must++] = wanted[i].setting->assignment;
		}
	}
	int rc = agent_replace(t->agent, values, n_must, e);
	a->n_set += n_must;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct err why = {0};
		char key[256];
		if (!wanted[i].setting->optional) {
			continue;
		}
		if (agent_set(t->agent, &wanted[i].setting->assignment, 1, NULL, &why) == 0) {
			a->n_set++;
			continue;
		}
		if (why.class == ERR_RESTORE || why.code == -EHOSTDOWN) {
			*e = why;
			return why.code;
		}
		cli_note(a->c, "%s is skipped: %s",
			 changes_key(t, &wanted[i].setting->assignment, key, sizeof(key)),
			 why.text);
	}
	return rc;
}

static bool any_optional(const struct wanted *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (wanted[i].setting->optional) {
			return true;
		}
	}
	return false;
}

static int set_on(struct application *a, struct target *t, const struct wanted *wanted, size_t n,
		  struct err *e)
{
	auto_free struct assignment *values = calloc(n + 1, sizeof(*values));
	auto_free struct setting *settings = calloc(n + 1, sizeof(*settings));
	struct err why = {0};
	if (!values || !settings) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		values[i] = wanted[i].setting->assignment;
		settings[i] = values[i].setting;
	}
	int rc = agent_open(t->agent, "applied", a->p->name, settings, n, NULL, e);
	if (rc < 0) {
		return rc;
	}
	rc = agent_replace(t->agent, values, n, &why);
	if (rc < 0 && why.class == ERR_SYSTEM && why.code != -EHOSTDOWN &&
	    any_optional(wanted, n)) {
		return set_apart(a, t, wanted, n, values, e);
	}
	*e = why;
	a->n_set += rc < 0 ? 0 : n;
	return rc;
}

/* Whoever owns the machine shall know who moves its interrupts now. */
static void tell_irqbalance(const struct application *a, struct target *t,
			    const struct wanted *wanted, size_t n)
{
	struct setting daemon;
	struct tunable_range range;
	struct err ignored = {0};
	bool moved = false;
	for (size_t i = 0; i < n; i++) {
		const struct setting *s = &wanted[i].setting->assignment.setting;
		moved = moved || s->tunable->backend == BACKEND_IRQ;
	}
	if (!moved || tunable_resolve("irq.irqbalance", "", "", &daemon, &ignored) < 0 ||
	    agent_probe(t->agent, &daemon, "", &range, &ignored) < 0) {
		return;
	}
	if (strcmp(range.present.text, "paused") == 0) {
		cli_note(a->c,
			 "irqbalance on %s is paused for as long as this is applied, for all "
			 "interrupts; rollback lets it go on",
			 target_name(t));
	} else if (strcmp(range.present.text, TUNABLE_AS_FOUND) == 0) {
		cli_note(a->c,
			 "irqbalance on %s leaves these interrupts alone for as long as this is "
			 "applied, and goes on with all others",
			 target_name(t));
	}
}

/* Every host is asked before the first is set; what is not committed rolls back when its agent
 * ends. */
static int set_all(struct application *a, struct err *e)
{
	struct wanted *wanted[CLI_HOSTS_MAX] = {0};
	size_t n[CLI_HOSTS_MAX] = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < a->t.n; i++) {
		rc = check_machine(a, &a->t.items[i], e);
		rc = rc ? rc : agent_allow(a->t.items[i].agent, a->p->allow, e);
		rc = rc ? rc : changes_ask(a->c, &a->t.items[i], a->p, true, &wanted[i], &n[i], e);
	}
	for (size_t i = 0; i < a->t.n; i++) {
		a->agents[i] = a->t.items[i].agent;
	}
	for (size_t i = 0; rc == 0 && i < a->t.n; i++) {
		agent_wait_with(a->t.items[i].agent, a->agents, a->t.n);
		rc = set_on(a, &a->t.items[i], wanted[i], n[i], e);
		if (rc == 0) {
			tell_irqbalance(a, &a->t.items[i], wanted[i], n[i]);
		}
		if (rc == 0 && cli_interrupted(a->c)) {
			rc = err_set(e, -EINTR, "interrupted: nothing is applied");
		}
	}
	for (size_t i = 0; i < a->t.n; i++) {
		agent_wait_with(a->agents[i], NULL, 0);
		free(wanted[i]);
	}
	return rc;
}

static void print_applied(const struct application *a)
{
	json_int_t until = (json_int_t)time(NULL) + (json_int_t)a->confirm;
	if (a->c->json) {
		auto_json json_t *told = json_pack(
			"{s:s, s:I, s:o}", "applied", a->p->name, "settings", (json_int_t)a->n_set,
			"until", a->confirm > 0 ? json_integer(until) : json_null());
		cli_print_json(told);
	}
}

/* The invocation returns; what becomes of it later is told to the system's log. */
static void wait_for_confirm(struct application *a, struct err *e)
{
	char reason[300];
	struct err left = {0};
	cli_note(a->c,
		 "applied %s: %zu settings, for %g s: 'tunesweep confirm' keeps them, else all is "
		 "rolled back",
		 a->p->name, a->n_set, a->confirm);
	print_applied(a);
	background_ready(a->c, CLI_DONE);
	enum waiter_end end = waiter_wait(a->waiter, a->c, &a->t, a->confirm, reason,
					  sizeof(reason), &left);
	openlog("tunesweep", LOG_PID, LOG_DAEMON);
	if (end == WAITER_CONFIRMED) {
		syslog(LOG_NOTICE, "profile %s is confirmed and stays", a->p->name);
	} else {
		syslog(LOG_WARNING, "profile %s was rolled back: %s%s%s", a->p->name, reason,
		       left.code ? "; " : "", left.text);
		*e = left;
	}
}

static int apply(struct application *a, struct err *e)
{
	bool dry = cli_value(a->c, "dry-run") != NULL;
	int rc = targets_init(&a->t, a->c, a->p, e);
	rc = rc ? rc : targets_connect(&a->t, a->c, e);
	if (dry || rc) {
		return rc ? rc : dry_run(a, e);
	}
	if (a->confirm > 0) {
		rc = waiter_open(&a->waiter, a->p->name, e);
	}
	rc = rc ? rc : set_all(a, e);
	if (rc == 0 && a->confirm > 0) {
		wait_for_confirm(a, e);
		return e->code;
	}
	rc = rc ? rc : targets_commit(&a->t, e);
	if (rc == 0) {
		cli_note(a->c, "applied %s: %zu settings (tunesweep rollback puts them back)",
			 a->p->name, a->n_set);
		print_applied(a);
	}
	return rc;
}

/* What keeps an apply out may be another one that waits: it is named, and how it ends. */
static void tell_waiting(const struct application *a)
{
	for (size_t i = 0; i < a->t.n; i++) {
		auto_json json_t *list = waiting_list(a->t.items[i].text);
		const json_t *one;
		size_t k;
		json_array_foreach(list, k, one)
		{
			if (json_integer_value(json_object_get(one, "pid")) != getpid()) {
				cli_note(a->c,
					 "%s waits for its confirm on %s: 'tunesweep confirm' "
					 "keeps it, 'tunesweep rollback' ends it",
					 json_string_value(json_object_get(one, "profile")),
					 target_name(&a->t.items[i]));
			}
		}
	}
}

static int run_apply(struct application *a)
{
	struct err e = {0}, closing = {0};
	int rc = apply(a, &e);
	int rc_close = targets_close(&a->t, &closing);
	if (rc < 0 && e.class == ERR_SYSTEM) {
		tell_waiting(a);
	}
	targets_clear(&a->t);
	waiter_close(a->waiter);
	if (rc == 0 && rc_close == 0) {
		return CLI_DONE;
	}
	bool dirty = rc == 0 || (rc_close < 0 && closing.class == ERR_RESTORE);
	int status = cli_fail(a->c, dirty ? &closing : &e);
	return cli_interrupted(a->c) && status != CLI_NOT_RESTORED ? CLI_INTERRUPTED : status;
}

/* A bare number is in seconds, as in the option's name. */
static int take_confirm(const struct cli *c, double *seconds, struct err *e)
{
	const char *text = cli_value(c, "confirm");
	if (!text) {
		return 0;
	}
	int rc = text[strspn(text, "0123456789.")] ? scalar_time(text, seconds, e)
						   : scalar_real(text, seconds, e);
	if (rc < 0) {
		return err_wrap(e, "--confirm");
	}
	return *seconds >= 1 && *seconds <= CONFIRM_SECONDS_MAX
		       ? 0
		       : err_usage(e, "--confirm %s: 1 to %d seconds", text, CONFIRM_SECONDS_MAX);
}

static int run(struct cli *c)
{
	struct profile p;
	struct err e = {0};
	struct application a = {.c = c, .p = &p};
	if (take_confirm(c, &a.confirm, &e) < 0 || targets_load_profile(c, &p, &e) < 0) {
		return cli_fail(c, &e);
	}
	int status = cli_value(c, "dry-run") ? CLI_DONE : cli_restore_crashed(c);
	if (status == CLI_DONE) {
		status = run_apply(&a);
	}
	profile_clear(&p);
	return status;
}

const struct command command_apply = {
	.name = "apply",
	.arguments = "PROFILE[:ROLE]",
	.min_args = 1,
	.max_args = 1,
	.summary = "Set a profile as one transaction, and keep it until rollback",
	.options = options,
	.needs_launcher = true,
	.background = "confirm",
	.run = run,
};
