/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measurements of many runs side by side: the numbers of each sample, and what is known of where
 * and how it was taken, as labels. Read from the store; the timeline and comparisons are made of
 * them.
 */
#ifndef TUNESWEEP_OBSERVATION_H
#define TUNESWEEP_OBSERVATION_H

#include "err.h"
#include "store.h"

struct observation {
	size_t set;					/* index of its set */
	double time, score, throughput, service_demand; /* NaN where unknown */
};

/* Samples of one trial, which have all but the numbers in common. */
struct observation_set {
	json_t *labels; /* {name: text or number}, see below; owned */
	json_t *values; /* {key: value}; owned, NULL unless asked for */
	char run[64];
	char phase[16];
	size_t first, n; /* its samples */
};

struct observations {
	struct observation_set *set;
	struct observation *item;
	size_t n_sets, n_items;
};

enum observe {
	OBSERVE_BASELINE, /* the machine as it was (also in proofs), single tests, imports */
	OBSERVE_BEST,	  /* what the proofs measured of the winners */
	OBSERVE_CHECKS,	  /* what the check command measured */
	OBSERVE_NIGHTS,	  /* what the nightly command measured */
	OBSERVE_ALL,
};

struct observe_options {
	enum observe which;
	const char *run;  /* its whole id; NULL: all runs */
	const char *name; /* of the spec or import; NULL: all */
	bool values;
};

/*
 * Only valid samples. Labels of a sweep's samples: "name", "kernel", "driver", "firmware",
 * "machine", "boot" (boot ids of its hosts, sorted), "date" (of the run's start, UTC), each only if
 * known; several hosts that differ are joined by " + ". Those of imported ones: "name" and what
 * the file said, with the values as labels too. Cleared by the caller, also after an error.
 */
int observations_read(struct store *s, const struct observe_options *o, struct observations *out,
		      struct err *e);
void observations_clear(struct observations *o);
/* Moves what from has behind what to has; from is empty then. -ENOMEM. */
int observations_append(struct observations *to, struct observations *from, struct err *e);

/* A label as text; "" if there is none. Returns buf. */
const char *observation_label(const json_t *labels, const char *name, char *buf, size_t size);

#endif
