/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The noise floor of a test: the same configuration measured again and again (A/A), and what gain
 * can be told from it. Sets nothing. Called by the doctor command.
 */
#ifndef TUNESWEEP_NOISE_H
#define TUNESWEEP_NOISE_H

#include "hosts.h"

struct noise {
	int samples, failed;
	double throughput;	 /* median, bit/s */
	double throughput_sigma; /* robust standard deviation of one sample's logarithm */
	double demand_sigma;	 /* likewise of the service demand; NaN where it is not known */
	double score_sigma;	 /* likewise of the spec's objective */
	/* The smallest gain of the objective, in percent, that is found in four of five cases by
	 * the spec's number of pairs at 95 %: (1.96 + 0.84) sigma sqrt(2 / pairs), the usual
	 * formula for two means (Cohen, Statistical Power Analysis, 2nd ed., ch. 2). */
	double smallest_gain;
	int pairs;
	char failure[200]; /* of the last failed sample */
};

/* The hosts are up, nothing is open on them. -EINTR when interrupted, -EHOSTDOWN when an agent is
 * gone; else 0, also where samples failed. */
int noise_measure(const struct hosts *hosts, int samples, int interrupt_fd, struct noise *out,
		  struct err *e);

#endif
