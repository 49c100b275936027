/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep verify: does the machine have a profile's values? Reads only; exit status 1 if not.
 */
#include "changes.h"
#include "cleanup.h"
#include <stdio.h>
#include <stdlib.h>

struct comparison { /* of one verify command */
	const struct cli *c;
	const struct profile *p;
	json_t *rows;
	size_t differs;
};

/* Adds one row a setting of this host. One that is optional and not there is left out. */
static int compare_host(void *ctx, struct target *t, struct err *e)
{
	struct comparison *v = ctx;
	auto_free struct wanted *wanted = NULL;
	size_t n;
	int rc = changes_ask(v->c, t, v->p, false, &wanted, &n, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct assignment *a = &wanted[i].setting->assignment;
		const struct value *present = &wanted[i].range.present;
		char key[256];
		bool same = value_equal(present, &a->value);
		json_array_append_new(v->rows,
				      json_pack("{s:s, s:o, s:o, s:b}", "set",
						changes_key(t, a, key, sizeof(key)), "expected",
						value_to_json(&a->value), "actual",
						value_to_json(present), "same", same));
		v->differs += !same;
	}
	return rc;
}

static void print_rows(const struct cli *c, const json_t *rows)
{
	const json_t *row;
	size_t i;
	json_array_foreach((json_t *)rows, i, row)
	{
		bool same = json_is_true(json_object_get(row, "same"));
		char expected[VALUE_TEXT_MAX], actual[VALUE_TEXT_MAX];
		struct value v = {0}, w = {0};
		struct err ignored = {0};
		value_from_json(json_object_get(row, "expected"), &v, &ignored);
		value_from_json(json_object_get(row, "actual"), &w, &ignored);
		if (!same || !c->quiet) {
			printf("%s: expected %s, actual %s%s\n",
			       json_string_value(json_object_get(row, "set")),
			       value_format(&v, UNIT_NONE, expected, sizeof(expected)),
			       w.type == VALUE_NONE
				       ? "not there"
				       : value_format(&w, UNIT_NONE, actual, sizeof(actual)),
			       same ? "" : "  DIFFERS");
		}
	}
}

static int verify(struct cli *c, const struct profile *p)
{
	auto_json json_t *rows = json_array();
	struct comparison v = {.c = c, .p = p, .rows = rows};
	int status = targets_visit(c, p, false, compare_host, &v);
	if (status != CLI_DONE) {
		return status;
	}
	if (c->json) {
		auto_json json_t *out = json_pack("{s:b, s:O}", "same", v.differs == 0, "settings",
						  rows);
		cli_print_json(out);
	} else {
		print_rows(c, rows);
		if (v.differs) {
			cli_note(c, "%zu of %zu settings differ", v.differs, json_array_size(rows));
		} else {
			cli_note(c, "none of %zu settings differs", json_array_size(rows));
		}
	}
	return v.differs ? CLI_NO : CLI_DONE;
}

static int run(struct cli *c)
{
	struct profile p;
	struct err e = {0};
	if (targets_load_profile(c, &p, &e) < 0) {
		return cli_fail(c, &e);
	}
	int status = verify(c, &p);
	profile_clear(&p);
	return status;
}

const struct command command_verify = {
	.name = "verify",
	.arguments = "PROFILE[:ROLE]",
	.min_args = 1,
	.max_args = 1,
	.summary = "Say whether the machine has a profile's values (exit status 1: it differs)",
	.options = target_options,
	.needs_launcher = true,
	.run = run,
};
