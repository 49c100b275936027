/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The proof of a winner: measured again beside the baseline in randomised ABBA / BAAB order, log
 * ratios within pairs, and an interval that is valid under looking after every pair. It says
 * whether the gain is real, and how large, never the search's own optimistic value.
 */
#ifndef TUNESWEEP_VALIDATE_H
#define TUNESWEEP_VALIDATE_H

#include "stats.h"
#include "trial.h"

struct gain {		    /* of a (the best) against b (the baseline) */
	bool as_difference; /* scores that are not positive: score is in score units, not percent */
	struct interval score, throughput, service_demand; /* percent; NaN where not measured */
	bool significant;				   /* the score's interval excludes 0 */
	bool decided;	   /* it excludes 0, or lies within +-1 %: no more pairs are wanted */
	int pairs, failed; /* pairs that count; pairs of which one half failed */
	double score_a, score_b, throughput_a, throughput_b, sd_a,
		sd_b; /* medians over the pairs */
};

#define VALIDATE_LEVEL 0.95

/* Metrics of the two halves of each pair. */
struct pair {
	double score[2], throughput[2], service_demand[2]; /* [0] best, [1] baseline */
};

struct validate_options {
	int pairs;   /* at most */
	double time; /* s, at most */
	uint64_t seed;
	/* Told of every sample, also failed ones; done counts the samples. */
	int (*seen)(void *ctx, bool is_best, const struct configuration *effective,
		    const struct sample *s, const struct gain *so_far, struct err *e);
	void *ctx;
};

/* 0, also when the time is used up; -EINTR, -EHOSTDOWN as trial_run, out then holds what the pairs
 * so far tell. */
int validate_run(struct trial_env *env, const struct configuration *best,
		 const struct configuration *baseline, const struct validate_options *o,
		 struct gain *out, struct err *e);

/* The arithmetic alone: gain from the pairs that are there. Intervals are valid under looking
 * after each pair; the point estimates are Hodges-Lehmann's. */
void validate_gain(const struct pair *pairs, size_t n, struct gain *out);

#endif
