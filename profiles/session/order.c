/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of the writes of one call: channels before the RSS table that they reset, a queueing
 * discipline before its parameters. By the catalogue alone. Called by session/set.c.
 */
#include "session_private.h"
#include <string.h>

static void move(struct plan *p, size_t from, size_t to)
{
	struct change c = p->changes[from];
	memmove(&p->changes[to + 1], &p->changes[to], (from - to) * sizeof(c));
	p->changes[to] = c;
}

static void sort(struct plan *p)
{
	for (size_t i = 1; i < p->n; i++) {
		const struct setting *late = &p->changes[i].t->setting;
		for (size_t k = 0; k < i && *late->tunable->affects; k++) {
			const struct setting *early = &p->changes[k].t->setting;
			if (tunable_may_affect(late, early) && !tunable_may_affect(early, late)) {
				move(p, i, k);
				break;
			}
		}
	}
}

void session_order(struct plan *p)
{
	sort(p);
	for (size_t i = 0; i < p->n; i++) {
		struct change *c = &p->changes[i];
		c->write = !same_text(c->want, c->before);
		c->looks = false;
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct change *cause = &p->changes[i];
		bool differs = !same_text(cause->want, cause->before);
		for (size_t k = 0; differs && k < p->n; k++) {
			struct change *c = &p->changes[k];
			if (tunable_may_affect(&cause->t->setting, &c->t->setting)) {
				c->write = c->looks = true;
			}
		}
	}
}

bool session_was_changed(struct session *s, const struct change *c)
{
	char now[SETTING_TEXT_MAX];
	return c->looks && !tunable_read(&s->root, &c->t->setting, now, sizeof(now), NULL) &&
	       !same_text(now, c->after);
}
