/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configurations a sweep has tried, each with its samples' scores: which is the best so far,
 * and which deserve another look. Two configurations with the same effective values are one.
 */
#ifndef TUNESWEEP_TRIED_H
#define TUNESWEEP_TRIED_H

#include "sample.h"
#include "space.h"

#define TRIED_LEADERS_MAX 16 /* the most that tried_least_known looks at */

struct tried {				 /* one configuration */
	struct value *effective, *asked; /* n each; the same ones if they are equal */
	size_t n;
	double *scores; /* of its admissible samples */
	size_t n_scores, n_failed;
	double median;	      /* of scores; NaN if there are none */
	struct sample sample; /* the one nearest to the median score */
	int64_t trial;	      /* of the store; 0 if it is not kept */
};

struct tried_table {
	struct tried *items;
	size_t n, room;
};

void tried_clear(struct tried_table *t);

/* The entry with these effective values, made if there is none. NULL: out of memory. */
struct tried *tried_find(struct tried_table *t, const struct configuration *asked,
			 const struct configuration *effective);

/* Its values as a configuration. (A table of whole ones would have room for 64 values in each.) */
void tried_effective(const struct tried *t, struct configuration *out);
void tried_asked(const struct tried *t, struct configuration *out);
/* These are its effective values, or those that were asked. */
bool tried_is(const struct tried *t, const struct configuration *c);

/* Counts a sample; admissible ones with their score, others as failed. 0 or -ENOMEM. */
int tried_add(struct tried *t, const struct sample *s, double score, bool admissible);

/* Median of its scores; NaN if it has none. */
double tried_score(const struct tried *t);

/* Index of the best by median score, skipping those that failed more often than they counted; -1
 * if there is none. */
int tried_best(const struct tried_table *t);

/* Of the k best, the one with the fewest samples (the better one of equals); -1 if there is none.
 */
int tried_least_known(const struct tried_table *t, int k);

#endif
