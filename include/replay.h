/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resuming a sweep: the samples that an unfinished run has left in the store, in the order in which
 * they were measured. With the same spec and seed the search asks the same again, and is answered
 * from here instead of measuring twice. Called by trial.c and the run command.
 */
#ifndef TUNESWEEP_REPLAY_H
#define TUNESWEEP_REPLAY_H

#include "packed.h"
#include "sample.h"
#include <jansson.h>

struct replay_sample {
	long long number;		  /* of the store */
	int64_t trial;			  /* of the store */
	struct packed *asked, *effective; /* of all samples of the trial: owned by its first */
	bool is_first;			  /* of its trial */
	struct sample sample;
};

struct replay {
	size_t n, next;
	struct replay_sample *items;
	struct packed_texts texts;
};

/* From store_get_run_brief's object. ERR_USAGE if its values do not fit the space. */
int replay_load(const json_t *run, const struct space *space, struct replay *out, struct err *e);
void replay_clear(struct replay *r);

/* The next sample if it is one of this configuration; NULL if there is none or it is another: from
 * then on everything is measured. */
const struct replay_sample *replay_take(struct replay *r, const struct configuration *asked);

/* ERR_USAGE with the first line that differs, unless both specs are the same text. */
int replay_check_spec(const char *run, const char *before, const char *now, struct err *e);

#endif
