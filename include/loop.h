/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sweep: baseline, ask, trial, tell, until the budget or the time is used up; then the proof.
 * It is handed everything it needs and prints nothing: what happens is told by a callback.
 */
#ifndef TUNESWEEP_LOOP_H
#define TUNESWEEP_LOOP_H

#include "panel.h"
#include "prove.h"
#include "store.h"
#include "trial.h"
#include "warm.h"

enum loop_phase { LOOP_BASELINE, LOOP_SEARCH, LOOP_PROOF };

struct loop_progress { /* after each sample */
	enum loop_phase phase;
	int done, budget; /* samples of the search, pairs of the proof */
	const struct configuration *effective;
	const struct sample *sample;	   /* the newest */
	double best_score, baseline_score; /* NaN if not known */
	const struct gain *gain;	   /* in the proof, so far */
	enum proof_stage stage;
	size_t dimension;    /* of PROOF_EFFECT */
	double seconds_left; /* estimate for the phase; NaN if not known */
};

struct loop_options {
	const struct configuration *against; /* a profile's values, see prove.h; NULL */
	const struct warm *warm;	     /* what earlier nights have measured; NULL */
	struct store *store;		     /* NULL: nothing is kept */
	const char *run;		     /* its id there */
	/* Engines for the panel's other tests, see panel.h; NULL: no panel. */
	int (*engine)(void *ctx, const struct spec *variant, void **state, struct err *e);
	void (*progress)(void *ctx, const struct loop_progress *p); /* NULL: nobody wants to know */
	void *ctx;
};

struct loop_result {
	struct configuration baseline, best, best_asked; /* effective values, unless asked */
	struct sample baseline_sample;			 /* its first good one */
	struct sample best_sample; /* the one nearest to its median score: see tried_sample */
	double baseline_score, best_score; /* medians over their samples in the search; NaN */
	bool has_best;			   /* some admissible sample succeeded */
	bool best_is_baseline;		   /* nothing better was found: there is nothing to prove */
	bool assumed_baseline;		   /* some dimension has no present value or default */
	int samples, failed;		   /* of the search */
	double seconds;
	struct configuration winner, winner_asked; /* the best after pruning: what is proved */
	int pruned;	/* how many of the best's settings went back to the baseline for that */
	bool exhausted; /* the search ended before its budget: nothing was worth its time */
	bool knows_remaining; /* how much more than the best there may be, in remaining */
	double remaining;     /* in log(score), or in score where scores are not positive */
	json_t *model; /* what the search learnt of each setting (search_explain, with "set" and
			  "sets" for dimensions); NULL if it explains nothing */
	json_t *pairs; /* of a pool: fleet_judge's report; NULL: one pair */
	bool has_gain; /* proof.gain holds at least one pair */
	struct proof proof;
	struct panel panel; /* of a winner whose gain is proved */
	bool interrupted;
	char first_failure[256]; /* why the first failed sample failed */
};

void loop_result_init(struct loop_result *r);
void loop_result_clear(struct loop_result *r);

/* 0 also when interrupted (result->interrupted); < 0 when it could not go on: -EHOSTDOWN, or the
 * store refuses. The result holds what there is in every case. */
int loop_run(struct trial_env *env, const struct loop_options *o, struct loop_result *result,
	     struct err *e);

#endif
