/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the comparison share. Nobody else includes this.
 */
#ifndef TUNESWEEP_COMPARE_PRIVATE_H
#define TUNESWEEP_COMPARE_PRIVATE_H

#include "compare.h"
#include "stats.h"
#include <stdbool.h>

struct compare_cell { /* one configuration on both sides: indices of samples */
	size_t *sample[2];
	size_t n[2];
	bool baseline[2]; /* some of them are of this phase */
};

struct compare_pairing {
	struct compare_cell *cell;
	size_t n; /* all configurations */
};

/* Which samples of both sides are of the same configuration. */
int compare_pair(const struct observations *const side[2], struct compare_pairing *out,
		 struct err *e);
void compare_pairing_clear(struct compare_pairing *p);

/* Distinct boots of a side, 0 if none is known; and whether some boot is on both sides. */
size_t compare_boots(const struct observations *o);
bool compare_same_boot(const struct observations *a, const struct observations *b);
/* Log ratio of b to a over boots as units: the mean logarithm of each boot over cells that both
 * sides have. */
struct interval compare_by_boots(const struct observations *const side[2],
				 const struct compare_pairing *p, enum compare_metric m,
				 double level);

#endif
