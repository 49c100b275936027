/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the verdict is made of: observations as levels by boot. Pure.
 */
#ifndef TUNESWEEP_CHECK_SIDES_H
#define TUNESWEEP_CHECK_SIDES_H

#include "compare.h"
#include "observation.h"
#include "verdict.h"

struct check_side {
	double *boot;	/* mean logarithm of each boot's samples, more is better; owned */
	double *sample; /* logarithms of all samples; owned */
	size_t n_boots, n_samples;
	double within;	    /* standard deviation of such a mean; 0 if not known */
	bool boots_known;   /* each sample's */
	json_t *boot_names; /* {boot: number}; owned */
};

/* Only sets whose labels have all of wanted's (NULL: all sets). -ENOMEM. */
int check_side_make(const struct observations *o, const json_t *wanted, enum compare_metric m,
		    struct check_side *out, struct err *e);
void check_side_clear(struct check_side *s);
/* Was some boot of one also one of the other? */
bool check_side_same_boot(const struct check_side *a, const struct check_side *b);

/* Spread between boots of the same kernel and machine, pooled around each one's own mean; NaN and 0
 * degrees of freedom if none has two boots. */
double check_history(const struct observations *o, enum compare_metric m, double *freedom);

#endif
