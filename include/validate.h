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

struct gain { /* of a against b, percent */
	struct interval score, throughput, service_demand;
	bool significant; /* the score's interval excludes 0 */
	bool decided;	  /* excludes 0 or lies within +-1 % */
	int pairs, failed;
	double score_a, score_b, throughput_a, throughput_b, sd_a,
		sd_b; /* medians over the pairs */
};

struct validate_options {
	int pairs;   /* at most */
	double time; /* s, at most */
	uint64_t seed;
	void (*seen)(void *ctx, bool is_best, const struct configuration *c, const struct sample *s,
		     double score);
	void *ctx;
};

int validate_run(struct trial_env *env, const struct configuration *best,
		 const struct configuration *baseline, const struct validate_options *o,
		 struct gain *out, struct err *e);

/* The same arithmetic on numbers that are there: log ratios of scores of pairs. */
void validate_gain(const double *log_ratio, size_t n, struct gain *out);

#endif
