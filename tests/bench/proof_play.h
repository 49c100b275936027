/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine whose truth is known, for the proof: one setting that brings a given gain or none,
 * under noise, low outliers and drift. Included by the bench of the proof and by its short form.
 */
#ifndef TUNESWEEP_PROOF_PLAY_H
#define TUNESWEEP_PROOF_PLAY_H

#include "loop.h"
#include "validate.h"

struct proof_machine {
	double gain;	 /* of the best over the baseline, a fraction */
	double noise;	 /* sd of a sample's logarithm */
	double outliers; /* share of samples that are 5 to 40 % low */
	double drift;	 /* height of a sine of 60 to 180 samples, and at most as much slope over
			    100 samples */
	double carry;	 /* autocorrelation of the noise from one sample to the next */
	double phase, period, slope, last; /* drawn by proof_machine_start */
	long samples;
	struct stats_rng rng;
	bool is_best; /* what is measured now */
};

void proof_machine_start(struct proof_machine *m, uint64_t seed);

/* One sample of the best or the baseline, around 1 + gain or 1. */
double proof_measure(struct proof_machine *m, bool best);

/* The product's own proof of one winner, at most so many pairs. */
int proof_play_pairs(struct proof_machine *m, int pairs, uint64_t seed, struct gain *out,
		     struct err *e);

/* The interval of a fixed number of pairs, looked at once. */
struct interval proof_play_fixed(struct proof_machine *m, int pairs, uint64_t seed);

/* A whole sweep over six settings of which none matters (the simulated engine's noise of 3 %,
 * outliers and drift): search, pruning, proof. The caller clears r. */
int proof_play_sweep(int samples, int pairs, uint64_t seed, struct loop_result *r, struct err *e);

#endif
