/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sweep hands over at its end: the object of result.json, and the profile that best.yaml
 * holds. It decides one thing, whether the best or the baseline is recommended; all numbers are
 * given to it. Called by the run command after the loop.
 */
#ifndef TUNESWEEP_BEST_H
#define TUNESWEEP_BEST_H

#include "err.h"
#include "profile.h"
#include "sample.h"
#include "stats.h"
#include <jansson.h>

struct best_point {	      /* a configuration and what it measured; all borrowed */
	const json_t *values; /* {key: effective value}; NULL: there is no such configuration */
	const json_t *asked;  /* {key: value}; NULL or equal: nothing differs */
	const struct sample *sample; /* NULL: not known */
	double score;		     /* NaN: not known */
};

struct best_part { /* what a part of the configuration brings by itself; pairs 0: not measured */
	const char *key; /* of a setting's effect, as in the values */
	struct interval score, throughput, service_demand; /* percent */
	int pairs;
};

struct best_medians { /* of the proof's pairs; NaN: not known */
	double throughput, service_demand, score;
};

struct best_inputs {
	const char *run, *name;
	const char *status;  /* complete, interrupted, failed */
	int samples, failed; /* of the search */
	double seconds;
	struct best_point baseline, best;
	bool has_gain;					   /* false: no proof was made */
	struct interval score, throughput, service_demand; /* of the gain, percent */
	/* The score's numbers are a difference, not percent (scores that are not positive have no
	 * ratio): then the gain has "difference", and "percent" is null. */
	bool as_difference;
	bool significant; /* the score's interval excludes 0 */
	int pairs;
	/* What the proof saw of each, side by side. The search's own numbers of the best flatter
	 * it: it was chosen for them. Only with has_gain. */
	struct best_medians proof_baseline, proof_best;
	struct best_part against; /* key: the profile's name; pairs 0: none was given or measured */
	const json_t *panel;	  /* array of {"test", "pairs", "worse", ...}; NULL: none. Copied */
	struct best_part host_only, application_only;
	const struct best_part *effects; /* n_effects; borrowed */
	size_t n_effects;
	const json_t *model;  /* what the search learnt of each setting; NULL: nothing. Copied */
	const json_t *proved; /* {key: value} of what the proof measured: the best, pruned; NULL */
	bool restored;
	const char *store; /* path; NULL: nothing was kept */
};

/* The best is to be used: its gain is proved, or the baseline does not work at all (a lack of
 * proof is a result, too, and then the baseline is recommended). */
bool best_is_recommended(const struct best_inputs *in);

/* INTERFACE's "result.json of a sweep", a new object. What is not known is null. */
json_t *best_result_json(const struct best_inputs *in);

/* The evidence block of a profile, a new object without what is not known. */
json_t *best_evidence(const struct best_inputs *in, const char *spec_sha256, int boots);

struct best_setting {	  /* one swept field */
	const char *host; /* "" or NULL if it has none */
	struct assignment assignment;
	struct value was;	/* VALUE_NONE if not known */
	struct interval effect; /* percent of the score; estimate NaN where it was not measured */
};

/*
 * Fills p, which the caller clears with profile_clear also after an error: host scope under
 * settings, run scope under application. machine and evidence are copied by reference; NULL leaves
 * them out.
 */
int best_profile(struct profile *p, const char *name, const struct best_setting *settings, size_t n,
		 json_t *machine, json_t *evidence, struct err *e);

#endif
