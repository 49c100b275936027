/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only the whole list of tunables shows of those that place things on CPUs, or exclude each
 * other: refused with its place before anything is asked of a host. Called by spec.c after the
 * tunables are known.
 */
#include "spec_private.h"

#include <string.h>

static const struct spec_tunable *find(const struct spec *s, const char *name, int host)
{
	for (size_t i = 0; i < s->n_tunables; i++) {
		const struct spec_tunable *t = &s->tunables[i];
		if (t->host == host && strcmp(t->target.setting.name, name) == 0) {
			return t;
		}
	}
	return NULL;
}

/* Setting the one makes the other 0: no configuration has both. */
static int check_pair(const struct spec *s, const struct spec_tunable *t, struct err *e)
{
	const char *other = t->target.setting.tunable->excludes;
	if (!other || !find(s, other, t->host)) {
		return 0;
	}
	return spec_error(s, t->place, e, "%s and %s exclude each other: search one of them",
			  t->target.setting.name, other);
}

static bool has_choice(const struct spec_tunable *t, const char *word)
{
	for (size_t i = 0; i < t->n_choices; i++) {
		if (strcmp(t->choices[i].text, word) == 0) {
			return true;
		}
	}
	return false;
}

/* The endpoint must be somewhere, or its interrupts cannot follow it. */
static int check_follows(const struct spec *s, const struct spec_tunable *t, struct err *e)
{
	bool at_end = t->host == s->test.from || t->host == s->test.to;
	int end = t->host == s->test.to;
	if (strcmp(t->target.setting.name, "irq.affinity") != 0 ||
	    !has_choice(t, SPEC_SAME_AS_RECEIVER)) {
		return 0;
	}
	if (!at_end || (!find(s, "numa.cpu", t->host) && s->test.n_cpus[end] == 0)) {
		return spec_error(s, t->place, e,
				  "'" SPEC_SAME_AS_RECEIVER
				  "' follows the test's endpoint on this host, which must be given "
				  "its CPUs by 'cpus' or numa.cpu");
	}
	return 0;
}

static int check_end(const struct spec *s, const struct spec_tunable *t, struct err *e)
{
	if (t->target.setting.tunable->backend != BACKEND_NUMA || t->host == s->test.from ||
	    t->host == s->test.to) {
		return 0;
	}
	return spec_error(s, t->place, e, "%s: the test has no endpoint on host %s",
			  t->target.setting.name, s->hosts[t->host].name);
}

int spec_check_machine(const struct spec *s, struct err *e)
{
	for (size_t i = 0; i < s->n_tunables; i++) {
		const struct spec_tunable *t = &s->tunables[i];
		int rc = check_pair(s, t, e);
		rc = rc ? rc : check_end(s, t, e);
		rc = rc ? rc : check_follows(s, t, e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}
