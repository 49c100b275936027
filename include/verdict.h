/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is this a regression? Decided boot by boot, with stated error rates, as soon as there is enough
 * to decide. Pure; the check command brings the measurements.
 */
#ifndef TUNESWEEP_VERDICT_H
#define TUNESWEEP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#define VERDICT_FALSE_ALARM 0.05 /* no change is called a regression */
#define VERDICT_MISSED	    0.10 /* a regression of the threshold's size is called good */

enum verdict { VERDICT_GOOD, VERDICT_REGRESSION, VERDICT_CANNOT_TELL };

struct verdict_side {
	const double *boot; /* level of each boot: mean logarithm of its samples */
	size_t n;
	double within; /* standard deviation of such a mean by what varies within a boot; 0 if not
			  known */
};

struct verdict_input {
	struct verdict_side reference, here;
	double threshold; /* smallest regression that counts, as a fraction: 0.02 */
	/* Between boots, of logarithms: given, or from history with its degrees of freedom
	 * (INFINITY where it is given); NaN where nothing is known. */
	double boot_sd, boot_freedom;
	size_t looks; /* at most so many boots will be looked at, one by one */
};

struct verdict_result {
	enum verdict verdict;
	double percent; /* here against the reference */
	double sd;	/* between boots, as used; NaN */
	double more;	/* further boots that are probably wanted (median); INFINITY: no number of
			   them, the reference itself is too uncertain; NaN where not known */
};

/*
 * With a known spread (given, or 10 degrees of freedom): Wald's sequential probability ratio test
 * of no change against a loss of threshold, on the mean difference with the variance of both sides'
 * boots (Wald, Annals of Mathematical Statistics 16 (1945): the error rates hold whenever it
 * stops). Else: Student's t with the spread pooled from both sides and history, and the error rates
 * shared equally among the looks (Bonferroni); at least 2 degrees of freedom.
 */
struct verdict_result verdict_by_boots(const struct verdict_input *in);

/* The spread between boots that the verdict uses, and its degrees of freedom (INFINITY where it was
 * given): what is known of it, else pooled over history and the boots of both sides, each around
 * its own mean. NaN with 0 degrees of freedom where nothing is known. */
double verdict_level_sd(const struct verdict_input *in, double *freedom);

/* more is in samples here; INFINITY where the reference has too few itself. Within one boot, or
 * where there is no boot to speak of: logarithms of samples, unpaired. */
struct verdict_result verdict_by_samples(const double *reference, size_t n_reference,
					 const double *here, size_t n_here, double threshold);

#endif
