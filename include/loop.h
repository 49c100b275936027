/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sweep: baseline, ask, trial, tell, until the budget or the time is used up; then the proof.
 * It is handed everything it needs and prints nothing: what happens is told by a callback.
 */
#ifndef TUNESWEEP_LOOP_H
#define TUNESWEEP_LOOP_H

#include "store.h"
#include "trial.h"
#include "validate.h"

enum loop_event { LOOP_BASELINE, LOOP_SAMPLE, LOOP_PROOF, LOOP_NOTE };

struct loop_progress {
	enum loop_event event;
	int done, budget;			  /* of the phase */
	const struct sample *sample;		  /* the newest; NULL for a note */
	double score, best_score, baseline_score; /* NaN if not known */
	double seconds_left;
	const char *note;
};

struct loop_options {
	struct store *store; /* NULL: nothing is kept */
	const char *run;     /* its id there */
	void (*progress)(void *ctx, const struct loop_progress *p);
	void *ctx;
};

struct loop_result {
	struct configuration baseline, best, best_asked;
	struct sample baseline_sample, best_sample;
	double baseline_score, best_score; /* medians over their samples in the search */
	bool has_best;			   /* some admissible sample succeeded */
	bool best_is_baseline;
	int samples, failed; /* of the search */
	double seconds;
	bool has_gain;
	struct gain gain;
	bool interrupted;
};

void loop_result_clear(struct loop_result *r);

/* 0 also when interrupted (result->interrupted); < 0 when it could not go on. The result holds
 * what there is in every case. */
int loop_run(struct trial_env *env, const struct loop_options *o, struct loop_result *result,
	     struct err *e);

#endif
