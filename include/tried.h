/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configurations a sweep has tried, each with its samples' scores: which is the best so far,
 * and which deserve another look. Two configurations with the same effective values are one. Whole
 * samples are the store's: of each configuration only the numbers of one stay here.
 */
#ifndef TUNESWEEP_TRIED_H
#define TUNESWEEP_TRIED_H

#include "chunks.h"
#include "hash_index.h"
#include "packed.h"
#include "sample.h"

#define TRIED_LEADERS_MAX 16 /* the most that tried_least_known looks at */

struct tried {				  /* one configuration */
	struct packed *effective, *asked; /* the same one if they are equal */
	double *scores;			  /* of its admissible samples; NULL for one: the median */
	double median;			  /* NaN if there are none */
	double *metrics;		  /* those that are known, of the sample nearest to it */
	const char *limited_by;		  /* of that sample; the table's */
	int64_t trial;			  /* of the store; 0 if it is not kept */
	uint32_t known;			  /* a bit a metric */
	uint32_t n_scores, n_failed;
	uint32_t number; /* in the table */
};

struct tried_table { /* zero: empty */
	struct chunks items;
	struct hash_index by_effective;
	struct packed_texts texts;
	const struct tried *best; /* NULL: there is none */
};

void tried_clear(struct tried_table *t);

size_t tried_count(const struct tried_table *t);
struct tried *tried_at(const struct tried_table *t, size_t i);

/* The entry with these effective values, made if there is none. NULL: out of memory. */
struct tried *tried_find(struct tried_table *t, const struct configuration *asked,
			 const struct configuration *effective);

/* Its values as a configuration. */
void tried_effective(const struct tried *t, struct configuration *out);
void tried_asked(const struct tried *t, struct configuration *out);
/* These are its effective values, or those that were asked. */
bool tried_is(const struct tried *t, const struct configuration *c);

/* Counts a sample of an entry of the table; admissible ones with their score, others as failed. 0
 * or -ENOMEM. */
int tried_add(struct tried_table *table, struct tried *t, const struct sample *s, double score,
	      bool admissible);

/* Median of its scores; NaN if it has none. */
double tried_score(const struct tried *t);
/* Its n_scores scores. */
const double *tried_scores(const struct tried *t);
/* What is kept of the sample nearest to the median score: its metrics, and what limited it. Not ok
 * if there is none. */
void tried_sample(const struct tried *t, struct sample *out);

/* Index of the best by median score, skipping those that failed more often than they counted; -1
 * if there is none. */
int tried_best(const struct tried_table *t);

/* Of the k best, the one with the fewest samples (the better one of equals); -1 if there is none.
 */
int tried_least_known(const struct tried_table *t, int k);

#endif
