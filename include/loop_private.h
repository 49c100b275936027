/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of one sweep, shared by loop.c (what comes next) and loop/measure.c (one sample:
 * measured, counted, kept, told). Nobody else includes this.
 */
#ifndef TUNESWEEP_LOOP_PRIVATE_H
#define TUNESWEEP_LOOP_PRIVATE_H

#include "fleet.h"
#include "loop.h"
#include "tried.h"

struct sweep { /* one loop_run */
	struct trial_env *env;
	const struct loop_options *o;
	struct loop_result *r;
	struct search *search; /* NULL until the baseline has been measured once */
	struct tried_table tried;
	struct configuration asked; /* last: what the hosts have now, or should have */
	double started, end;
	double best_throughput;
	bool log_scores; /* the search is told log(score) while scores are positive */
};

/* Scores as the search is told them: logarithms while scores are positive. */
double loop_told_value(const struct sweep *s, double score);

/* A search that does not learn is told a configuration's median, or that it has failed. */
void loop_tell_median(struct sweep *s, const double *point, const struct tried *t);

/* Measures a configuration once, counts, keeps and tells it. point: where the search asked for it,
 * or NULL. *entry is where it is counted. Errors as trial_run and the store. */
int loop_measure(struct sweep *s, enum loop_phase phase, const double *point,
		 const struct configuration *asked, struct tried **entry, struct err *e);

/* The same for several configurations at once, one a pair of the pool; point[i] goes with t[i]. */
int loop_measure_many(struct sweep *s, enum loop_phase phase, double (*point)[SEARCH_DIMS_MAX],
		      struct fleet_trial *t, size_t n, struct err *e);

/* loop/pool.c: measures the baseline on every pair, so that their levels are known; and one step of
 * the search on all of them. 1: go on; 0: the search has nothing more to ask. */
int loop_level_pairs(struct sweep *s, struct err *e);
int loop_pool_step(struct sweep *s, size_t most, struct err *e);

/* Puts a sample into the store; *trial is made by the first one of a configuration. */
int loop_keep_sample(struct sweep *s, const char *phase, const struct configuration *asked,
		     const struct configuration *effective, const struct sample *sample,
		     int64_t *trial, struct err *e);

/* Tells a search that learns one sample, with how far each limit was kept. The point is that of the
 * values that the kernel took; point is the one that was asked, or NULL. */
void loop_tell_sample(struct sweep *s, const double *point, const struct configuration *effective,
		      const struct sample *sample);

/* loop/problem.c: makes the search once the baseline has shown whether scores have logarithms, and
 * tells it the baseline, earlier nights, and points that are known to be good elsewhere. */
int loop_start_search(struct sweep *s, struct err *e);

/* loop/prune.c: puts back to the baseline what the search believes to bring nothing. */
void loop_prune(struct sweep *s);

#endif
