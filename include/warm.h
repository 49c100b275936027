/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A warm start: what earlier runs of the same test on the same kind of machine have measured, read
 * from the store. The search learns from it with levels of its own for each run (another boot,
 * another machine), and tries the winners again early. Called by the run command; handed to the
 * loop.
 */
#ifndef TUNESWEEP_WARM_H
#define TUNESWEEP_WARM_H

#include "space.h"
#include "store.h"

#define WARM_SAMPLES_MAX 200 /* newest runs first: a model takes no more than 300 in all */
#define WARM_WINNERS_MAX 4

struct warm_sample {
	struct configuration config; /* effective values */
	double score;
	bool ok;
	int group;   /* from 1: a run each */
	double when; /* counts the run's samples */
};

struct warm {
	size_t n, n_winners;
	int runs;
	struct warm_sample *items;
	struct configuration winners[WARM_WINNERS_MAX]; /* proved, newest first, distinct */
};

/* hosts: {name: fingerprint} of now; before: only runs begun earlier than this one (its id; "" for
 * all), so that a resumed run reads the same again. A run counts if its spec measures the same with
 * the same objective, has all settings of this space, and its hosts are of the same kind (CPU and
 * NICs; the kernel may be another). */
int warm_load(struct store *store, const struct space *space, const json_t *hosts,
	      const char *before, struct warm *out, struct err *e);
void warm_clear(struct warm *w);

#endif
