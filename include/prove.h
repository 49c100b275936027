/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything that is claimed of a winner: its gain over the baseline, what of it the host's
 * settings bring alone and the application's alone, and each setting's own effect, all measured
 * afresh in the manner of validate.h on one budget of pairs and time. The gain comes first; what is
 * left of the budget goes to the rest.
 */
#ifndef TUNESWEEP_PROVE_H
#define TUNESWEEP_PROVE_H

#include "validate.h"

enum proof_stage {
	PROOF_GAIN,
	PROOF_HOST_ONLY,
	PROOF_APPLICATION_ONLY,
	PROOF_EFFECT,
	PROOF_AGAINST
};

struct proof {
	struct gain gain;	      /* winner against baseline */
	struct gain against;	      /* winner against another profile, if one was given */
	struct gain host_only;	      /* only the host scope of the winner, against the baseline */
	struct gain application_only; /* only its run scope */
	struct gain effect[SPEC_TUNABLES_MAX]; /* winner against the winner without that setting */
};

struct prove_options {
	int pairs;   /* in all */
	double time; /* s, in all */
	uint64_t seed;
	/* Another profile's values (what it does not name: the baseline's); NULL: none. A third of
	 * the pairs is kept for it. */
	const struct configuration *against;
	/* Told of every sample; dimension is that of PROOF_EFFECT. */
	int (*seen)(void *ctx, enum proof_stage stage, size_t dimension, bool is_first,
		    const struct configuration *effective, const struct sample *s,
		    const struct gain *so_far, struct err *e);
	void *ctx;
};

/* A gain of 0 pairs was not measured. Errors as validate_run; out holds what there is. */
int prove_run(struct trial_env *env, const struct configuration *winner,
	      const struct configuration *baseline, const struct prove_options *o,
	      struct proof *out, struct err *e);

/* The winner without one setting: that dimension at its baseline. False where there is no such
 * configuration: a default above its maximum, a forbidden one, or nothing changes. Settings whose
 * condition then does not hold go to the baseline too. */
bool prove_without(const struct space *space, const struct configuration *winner,
		   const struct configuration *baseline, size_t dimension,
		   struct configuration *out);

#endif
