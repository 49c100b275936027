/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the level of an ordered series changes by more than chance. Pure: levels in, marks out.
 */
#ifndef TUNESWEEP_CHANGE_H
#define TUNESWEEP_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

struct change { /* of one group against the one before it */
	bool marked;
	double p; /* of the test that found it; NaN where it is not marked */
};

/*
 * level: n values in order (logarithms of a rate, so that a step is a ratio), one a boot or one a
 * measurement; group: the index of each one's group, not descending, without gaps from 0. out has
 * one element a group; the first is never marked. Changes are looked for between groups only.
 *
 * Binary segmentation: the largest standardised step of a segment is tested, and only where it is
 * more than chance are the parts looked at, too. The spread is that of successive differences
 * within the segment (their median, so that the step itself does not count), and the largest step
 * that chance makes is simulated for the segment's own length (normal values, the same spread
 * estimated in the same way), so that a short series is judged as one and looking at every
 * boundary costs nothing: alpha is for the whole series. von Neumann, Annals of Mathematical
 * Statistics 12 (1941); Vostrikova, Soviet Mathematics Doklady 24 (1981). -ENOMEM.
 */
int change_find(const double *level, const size_t *group, size_t n, double alpha,
		struct change *out);

/* Standard deviation from the successive differences of x; 0 for n < 2. Constant steps in x are
 * not seen as spread. */
double change_spread(const double *x, size_t n);

#endif
