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

void tried_clear(struct tried_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->items[i].scores);
		sample_clear(&t->items[i].sample);
	}
	free(t->items);
	*t = (struct tried_table){0};
}

struct tried *tried_find(struct tried_table *t, const struct configuration *asked,
			 const struct configuration *effective)
{
	for (size_t i = 0; i < t->n; i++) {
		if (configuration_equal(&t->items[i].effective, effective)) {
			return &t->items[i];
		}
	}
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		struct tried *more = realloc(t->items, room * sizeof(*more));
		if (!more) {
			return NULL;
		}
		t->items = more;
		t->room = room;
	}
	struct tried *it = &t->items[t->n++];
	*it = (struct tried){.asked = *asked, .effective = *effective};
	sample_init(&it->sample);
	return it;
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
	double median = tried_score(t), kept = t->sample.m[METRIC_SCORE];
	if (!t->sample.ok || fabs(score - median) <= fabs(kept - median)) {
		sample_clear(&t->sample);
		sample_copy(&t->sample, s);
	}
	return 0;
}

double tried_score(const struct tried *t)
{
	return stats_median(t->scores, t->n_scores);
}

static bool counts(const struct tried *t)
{
	return t->n_scores > t->n_failed;
}

int tried_best(const struct tried_table *t)
{
	int best = -1;
	for (size_t i = 0; i < t->n; i++) {
		if (counts(&t->items[i]) &&
		    (best < 0 || tried_score(&t->items[i]) > tried_score(&t->items[best]))) {
			best = (int)i;
		}
	}
	return best;
}

/* How many configurations are better than this one. */
static int rank_of(const struct tried_table *t, size_t i)
{
	int better = 0;
	for (size_t j = 0; j < t->n; j++) {
		better += counts(&t->items[j]) &&
			  tried_score(&t->items[j]) > tried_score(&t->items[i]);
	}
	return better;
}

int tried_least_known(const struct tried_table *t, int k)
{
	int pick = -1, pick_rank = 0;
	for (size_t i = 0; i < t->n; i++) {
		int rank = counts(&t->items[i]) ? rank_of(t, i) : k;
		if (rank >= k) {
			continue;
		}
		size_t samples = t->items[i].n_scores;
		size_t least = pick < 0 ? SIZE_MAX : t->items[pick].n_scores;
		if (samples < least || (samples == least && rank < pick_rank)) {
			pick = (int)i;
			pick_rank = rank;
		}
	}
	return pick;
}
