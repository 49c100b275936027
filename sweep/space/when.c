/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which settings of a configuration mean something ("when"), and the others back at their
 * baselines: two configurations that differ only there are one. Called by the encoding and by
 * whoever makes a configuration from another.
 */
#include "space_private.h"

bool space_is_active(const struct space *s, const struct configuration *c, size_t i)
{
	const struct dimension *d = &s->dims[i];
	return d->when < 0 || value_equal(&c->v[d->when], &d->tunable->when.is);
}

/* The one that is looked at first: it may itself go back to its baseline. */
static void settle_one(const struct space *s, struct configuration *c, bool *done, size_t i)
{
	const struct dimension *d = &s->dims[i];
	if (done[i]) {
		return;
	}
	done[i] = true;
	if (d->when >= 0) {
		settle_one(s, c, done, (size_t)d->when);
	}
	if (!space_is_active(s, c, i) && d->baseline.type != VALUE_NONE) {
		c->v[i] = d->baseline;
	}
}

void space_settle(const struct space *s, struct configuration *c)
{
	bool done[SPEC_TUNABLES_MAX] = {false};
	for (size_t i = 0; i < s->n; i++) {
		settle_one(s, c, done, i);
	}
}
