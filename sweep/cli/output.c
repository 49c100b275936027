/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How commands end and what they share in speaking: errors with their exit status, notes, JSON.
 */
#include "cleanup.h"
#include "cli.h"
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int status_of(const struct cli *c, const struct err *e)
{
	if (c->command && c->command->verdict) {
		return CLI_SETUP; /* 2 to 4 would mean "bad" to git bisect run */
	}
	switch (e->class) {
	case ERR_USAGE:
		return CLI_USAGE;
	case ERR_RESTORE:
		return CLI_NOT_RESTORED;
	default:
		return CLI_REFUSED;
	}
}

int cli_fail(const struct cli *c, const struct err *e)
{
	fflush(stdout);
	fprintf(stderr, "tunesweep: %s\n", e->text);
	if (c->json) {
		auto_json json_t *j = json_pack("{s:s, s:i}", "error", e->text, "status",
						status_of(c, e));
		cli_print_json(j);
	}
	return status_of(c, e);
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
	va_list ap;
	if (c->quiet) {
		return;
	}
	fflush(stdout);
	va_start(ap, fmt);
	fputs("tunesweep: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

void cli_print_json(const json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	putchar('\n');
}

bool cli_interrupted(const struct cli *c)
{
	struct pollfd p = {.fd = c->interrupt_fd, .events = POLLIN};
	return poll(&p, 1, 0) > 0;
}

int cli_open_store(const struct cli *c, bool write, struct store **out, struct err *e)
{
	char path[512];
	const char *given = cli_value(c, "store");
	if (given) {
		return store_open(given, write, out, e);
	}
	int rc = store_default_path(path, sizeof(path), e);
	return rc < 0 ? rc : store_open(path, write, out, e);
}

static void tell_restored(const struct cli *c, const json_t *one)
{
	const json_t *item, *items = json_object_get(one, "items");
	const char *netns = json_string_value(json_object_get(one, "netns"));
	const char *note = json_string_value(json_object_get(one, "note"));
	size_t i;
	cli_note(c, "a crashed run was cleaned up%s%s%s%s", netns && *netns ? " in " : "",
		 netns ? netns : "", note && *note ? ": " : "", note ? note : "");
	json_array_foreach((json_t *)items, i, item)
	{
		const char *set = json_string_value(json_object_get(item, "set"));
		const char *old = json_string_value(json_object_get(item, "old"));
		const char *outcome = json_string_value(json_object_get(item, "outcome"));
		cli_note(c, "  %s = %s: %s", set ? set : "?", old ? old : "?",
			 outcome ? outcome : "?");
	}
}

int cli_restore_crashed(struct cli *c)
{
	struct err e = {0};
	json_t *report = NULL, *one;
	size_t i;
	int rc = launcher_restore(c->launcher, &report, &e);
	json_array_foreach(report, i, one)
	{
		tell_restored(c, one);
	}
	json_decref(report);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}
