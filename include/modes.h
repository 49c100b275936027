/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a median hides: samples that fall into two groups, and a sample that is bad enough early on
 * to be ended. Pure functions of arrays.
 */
#ifndef TUNESWEEP_MODES_H
#define TUNESWEEP_MODES_H

#include <stdbool.h>
#include <stddef.h>

struct modes {
	int n;		  /* 0: too few values to say (under 12); 1; 2 */
	double center[2]; /* medians, the lower first; both the same for one mode */
	size_t count[2];
};

/* Of positive values, whose logarithms are split in two so that the squares within are least. They
 * are two where Ashman's D is over 5.5 (2 is called clean by its authors; the best split of normal
 * values has 2.7, of even ones 3.5), each group has a fifth of the values and at least three, and
 * they differ by over 15 %. Ashman, Bird, Zepf, Detecting bimodality in astronomical datasets,
 * Astronomical Journal 108 (1994). */
struct modes modes_find(const double *x, size_t n);

/* Is a sample whose intervals had these rates so far surely below the limit? By the confidence
 * sequence on means of batches of 4, since neighbouring intervals are alike: valid at any number of
 * looks. False while there are under 6 batches. */
bool modes_surely_below(const double *rate, size_t n, double limit, double level);

#endif
