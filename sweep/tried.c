/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of what was tried. It ranks by the median of a configuration's own samples, so that
 * one lucky sample does not win once it has been measured again. Called by loop.c.
 */
#include "tried.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tried_clear(struct tried_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->items[i].asked != t->items[i].effective) {
			free(t->items[i].asked);
		}
		free(t->items[i].effective);
		free(t->items[i].scores);
		sample_clear(&t->items[i].sample);
	}
	free(t->items);
	*t = (struct tried_table){0};
}

static bool equal(const struct value *v, const struct configuration *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!value_equal(&v[i], &c->v[i])) {
			return false;
		}
	}
	return true;
}

static bool is_effective(const struct tried *t, const struct configuration *c)
{
	return t->n == c->n && equal(t->effective, c);
}

bool tried_is(const struct tried *t, const struct configuration *c)
{
	return is_effective(t, c) || (t->n == c->n && equal(t->asked, c));
}

static bool make_room(struct tried_table *t)
{
	if (t->n < t->room) {
		return true;
	}
	size_t room = t->room ? 2 * t->room : 64;
	struct tried *more = realloc(t->items, room * sizeof(*more));
	if (more) {
		t->items = more;
		t->room = room;
	}
	return more;
}

static struct value *copy(const struct configuration *c)
{
	struct value *v = malloc((c->n + 1) * sizeof(*v));
	return v ? memcpy(v, c->v, c->n * sizeof(*v)) : NULL;
}

struct tried *tried_find(struct tried_table *t, const struct configuration *asked,
			 const struct configuration *effective)
{
	for (size_t i = 0; i < t->n; i++) {
		if (is_effective(&t->items[i], effective)) {
			return &t->items[i];
		}
	}
	struct value *took = make_room(t) ? copy(effective) : NULL;
	struct value *wanted = took && !configuration_equal(asked, effective) ? copy(asked) : took;
	if (!wanted) {
		free(took);
		return NULL;
	}
	struct tried *it = &t->items[t->n++];
	*it = (struct tried){.effective = took, .asked = wanted, .n = effective->n, .median = NAN};
	sample_init(&it->sample);
	return it;
}

static void copy_values(const struct value *v, size_t n, struct configuration *out)
{
	*out = (struct configuration){.n = n};
	memcpy(out->v, v, n * sizeof(*v));
}

void tried_effective(const struct tried *t, struct configuration *out)
{
	copy_values(t->effective, t->n, out);
}

void tried_asked(const struct tried *t, struct configuration *out)
{
	copy_values(t->asked, t->n, out);
}

int tried_add(struct tried *t, const struct sample *s, double score, bool admissible)
{
	if (!admissible) {
		t->n_failed++;
		return 0;
	}
	double *more = realloc(t->scores, (t->n_scores + 1) * sizeof(*more));
	if (!more) {
		return -ENOMEM;
	}
	t->scores = more;
	t->scores[t->n_scores++] = score;
	t->median = stats_median(t->scores, t->n_scores);
	double kept = t->sample.m[METRIC_SCORE];
	if (!t->sample.ok || fabs(score - t->median) <= fabs(kept - t->median)) {
		sample_clear(&t->sample);
		sample_copy(&t->sample, s);
	}
	return 0;
}

double tried_score(const struct tried *t)
{
	return t->median;
}

static bool counts(const struct tried *t)
{
	return t->n_scores > t->n_failed && !isnan(t->median);
}

int tried_best(const struct tried_table *t)
{
	int best = -1;
	for (size_t i = 0; i < t->n; i++) {
		const struct tried *it = &t->items[i];
		if (counts(it) && (best < 0 || it->median > t->items[best].median)) {
			best = (int)i;
		}
	}
	return best;
}

/* The score that fewer than k are above; -INFINITY if there are no k. */
static double score_of_rank(const struct tried_table *t, int k)
{
	double best[TRIED_LEADERS_MAX];
	int n = 0;
	for (size_t i = 0; i < t->n; i++) {
		double score = t->items[i].median;
		if (!counts(&t->items[i]) || (n == k && !(score > best[k - 1]))) {
			continue;
		}
		int at = n < k ? n++ : k - 1;
		for (; at > 0 && best[at - 1] < score; at--) {
			best[at] = best[at - 1];
		}
		best[at] = score;
	}
	return n < k ? -INFINITY : best[k - 1];
}

int tried_least_known(const struct tried_table *t, int k)
{
	int pick = -1;
	if (k < 1) {
		return -1;
	}
	double least = score_of_rank(t, k < TRIED_LEADERS_MAX ? k : TRIED_LEADERS_MAX);
	for (size_t i = 0; i < t->n; i++) {
		const struct tried *it = &t->items[i], *best = pick < 0 ? NULL : &t->items[pick];
		if (!counts(it) || it->median < least) {
			continue;
		}
		if (!best || it->n_scores < best->n_scores ||
		    (it->n_scores == best->n_scores && it->median > best->median)) {
			pick = (int)i;
		}
	}
	return pick;
}
