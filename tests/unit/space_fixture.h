/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table that stands for the hosts that a space is made of, and short ways to specs and spaces.
 * Included by the tests of spaces.
 */
#ifndef TUNESWEEP_TEST_SPACE_FIXTURE_H
#define TUNESWEEP_TEST_SPACE_FIXTURE_H

#include "cleanup.h"
#include "space.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct answer { /* what the fake host says */
	const char *name, *field;
	bool settable;
	int64_t present, min, max;
	const char *word; /* a text: present value; its choices are cubic, reno, bbr */
};

static const struct answer answers[] = {
	{"net.ipv4.tcp_rmem", "min", true, 4096, 1, INT32_MAX, NULL},
	{"net.ipv4.tcp_rmem", "default", true, 131072, 1, INT32_MAX, NULL},
	{"net.ipv4.tcp_rmem", "max", true, 6291456, 1, INT32_MAX, NULL},
	{"net.ipv4.tcp_congestion_control", "", true, 0, 0, 0, "cubic"},
	{"net.core.somaxconn", "", true, 4096, 0, 65535, NULL},
	{"net.core.netdev_max_backlog", "", false, 0, 0, 0, NULL},
	{"net.ipv4.tcp_slow_start_after_idle", "", true, 1, 0, 1, NULL},
};

static int fake_probe(void *ctx, int host, const struct setting *s, const char *field,
		      struct tunable_range *out, struct err *e)
{
	(void)ctx;
	(void)host;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		const struct answer *a = &answers[i];
		if (strcmp(a->name, s->name) || strcmp(a->field, field)) {
			continue;
		}
		*out = (struct tunable_range){.settable = a->settable,
					      .present = value_int(a->present),
					      .min = a->min,
					      .max = a->max};
		strcpy(out->why_not, "not in this network namespace");
		if (a->word) {
			out->present = value_text(a->word);
			out->n_choices = 3;
			strcpy(out->choices[0], "cubic");
			strcpy(out->choices[1], "reno");
			strcpy(out->choices[2], "bbr");
		} else if (s->tunable->type == VALUE_BOOL) {
			out->present = value_bool(a->present != 0);
		}
		return 0;
	}
	return err_set(e, -ENOENT, "the fake host does not know %s", s->name);
}

static const struct space_source fake = {.probe = fake_probe};

static inline struct spec *parse(const char *text)
{
	struct spec *s = NULL;
	struct err e;
	if (spec_parse("s.yaml", text, strlen(text), &s, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

#define HOSTS                                                                                      \
	"tunesweep: 1\nhosts: {a: {via: lab}, b: {via: lab}}\ntest: {engine: builtin}\n"           \
	"tunables:\n"
#define PARAMS "tunesweep: 1\ntest: {engine: simulated, surface: flat}\ntunables:\n"

static inline struct space *make(struct spec *spec, json_t **notes)
{
	struct space *s = NULL;
	struct err e;
	if (space_create(spec, &fake, &s, notes, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

#endif
