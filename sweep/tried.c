/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of what was tried. It ranks by the median of a configuration's own samples, so that
 * one lucky sample does not win once it has been measured again. Called by loop.c.
 */
#include "tried.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t tried_count(const struct tried_table *t)
{
	return t->items.n;
}

struct tried *tried_at(const struct tried_table *t, size_t i)
{
	return chunks_at(&t->items, i);
}

static void release(struct tried *t)
{
	if (t->asked != t->effective) {
		free(t->asked);
	}
	free(t->effective);
	free(t->scores);
	free(t->metrics);
}

void tried_clear(struct tried_table *t)
{
	for (size_t i = 0; i < tried_count(t); i++) {
		release(tried_at(t, i));
	}
	chunks_clear(&t->items);
	hash_index_clear(&t->by_effective);
	packed_texts_clear(&t->texts);
	*t = (struct tried_table){0};
}

bool tried_is(const struct tried *t, const struct configuration *c)
{
	return packed_equal(t->effective, c) || packed_equal(t->asked, c);
}

static size_t hash_of(const void *items, size_t i)
{
	const struct tried *t = chunks_at(items, i);
	return packed_hash(t->effective);
}

static struct tried *add_entry(struct tried_table *t, const struct configuration *asked,
			       const struct configuration *effective)
{
	struct tried *it = chunks_add(&t->items, sizeof(*it));
	if (!it) {
		return NULL;
	}
	it->number = (uint32_t)(t->items.n - 1);
	it->median = NAN;
	it->effective = packed_values(&t->texts, effective);
	it->asked = configuration_equal(asked, effective) ? it->effective
							  : packed_values(&t->texts, asked);
	if (!it->effective || !it->asked ||
	    hash_index_add(&t->by_effective, hash_of, &t->items) < 0) {
		release(it);
		chunks_drop(&t->items);
		return NULL;
	}
	return it;
}

struct tried *tried_find(struct tried_table *t, const struct configuration *asked,
			 const struct configuration *effective)
{
	size_t i, at = configuration_hash(effective);
	while ((i = hash_index_next(&t->by_effective, &at)) != SIZE_MAX) {
		if (packed_equal(tried_at(t, i)->effective, effective)) {
			return tried_at(t, i);
		}
	}
	return add_entry(t, asked, effective);
}

void tried_effective(const struct tried *t, struct configuration *out)
{
	packed_unpack(t->effective, out);
}

void tried_asked(const struct tried *t, struct configuration *out)
{
	packed_unpack(t->asked, out);
}

_Static_assert(METRIC_COUNT <= 32, "tried.known has a bit a metric");

/* False: out of memory; then the one before stays. */
static bool keep_sample(struct tried_table *table, struct tried *t, const struct sample *s)
{
	double metrics[METRIC_COUNT];
	uint32_t known = 0;
	size_t n = 0;
	for (int m = 0; m < METRIC_COUNT; m++) {
		if (!isnan(s->m[m])) {
			metrics[n++] = s->m[m];
			known |= 1u << m;
		}
	}
	const char *limited_by = packed_text(&table->texts, s->limited_by);
	double *kept = limited_by ? realloc(t->metrics, (n ? n : 1) * sizeof(*kept)) : NULL;
	if (!kept) {
		return false;
	}
	t->metrics = memcpy(kept, metrics, n * sizeof(*kept));
	t->known = known;
	t->limited_by = limited_by;
	return true;
}

void tried_sample(const struct tried *t, struct sample *out)
{
	const double *next = t->metrics;
	sample_init(out);
	out->ok = next;
	for (int m = 0; m < METRIC_COUNT; m++) {
		if (t->known & 1u << m) {
			out->m[m] = *next++;
		}
	}
	snprintf(out->limited_by, sizeof(out->limited_by), "%s", next ? t->limited_by : "");
}

static int add_score(struct tried *t, double score)
{
	if (t->n_scores > 0) {
		double *more = realloc(t->scores, (t->n_scores + 1) * sizeof(*more));
		if (!more) {
			return -ENOMEM;
		}
		if (!t->scores) {
			more[0] = t->median;
		}
		t->scores = more;
		more[t->n_scores] = score;
	}
	t->n_scores++;
	t->median = t->scores ? stats_median(t->scores, t->n_scores) : score;
	return 0;
}

static bool counts(const struct tried *t)
{
	return t->n_scores > t->n_failed && !isnan(t->median);
}

/* The first of the best. */
static const struct tried *look_for_best(const struct tried_table *t)
{
	const struct tried *best = NULL;
	for (size_t i = 0; i < tried_count(t); i++) {
		const struct tried *it = tried_at(t, i);
		if (counts(it) && (!best || it->median > best->median)) {
			best = it;
		}
	}
	return best;
}

/* All are looked at only where the best itself has become worse. */
static void note_best(struct tried_table *table, const struct tried *t, double was)
{
	const struct tried *best = table->best;
	if (t == best) {
		bool worse = !counts(t) || t->median < was;
		table->best = worse ? look_for_best(table) : t;
	} else if (counts(t) && (!best || t->median > best->median ||
				 (t->median == best->median && t->number < best->number))) {
		table->best = t;
	}
}

int tried_add(struct tried_table *table, struct tried *t, const struct sample *s, double score,
	      bool admissible)
{
	double was = t->median;
	int rc = 0;
	if (!admissible) {
		t->n_failed++;
	} else {
		struct sample kept;
		tried_sample(t, &kept);
		rc = add_score(t, score);
		double far = fabs(kept.m[METRIC_SCORE] - t->median);
		if (rc == 0 && (!kept.ok || fabs(score - t->median) <= far)) {
			rc = keep_sample(table, t, s) ? 0 : -ENOMEM;
		}
	}
	note_best(table, t, was);
	return rc;
}

double tried_score(const struct tried *t)
{
	return t->median;
}

const double *tried_scores(const struct tried *t)
{
	return t->scores ? t->scores : &t->median;
}

int tried_best(const struct tried_table *t)
{
	return t->best ? (int)t->best->number : -1;
}

/* The score that fewer than k are above; -INFINITY if there are no k. */
static double score_of_rank(const struct tried_table *t, int k)
{
	double best[TRIED_LEADERS_MAX];
	int n = 0;
	for (size_t i = 0; i < tried_count(t); i++) {
		double score = tried_at(t, i)->median;
		if (!counts(tried_at(t, i)) || (n == k && !(score > best[k - 1]))) {
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
	for (size_t i = 0; i < tried_count(t); i++) {
		const struct tried *it = tried_at(t, i);
		const struct tried *best = pick < 0 ? NULL : tried_at(t, (size_t)pick);
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
