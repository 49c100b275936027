/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pool: pairs of hosts that are alike measure different configurations at the same time. The
 * first pair is the sweep's own; each other one has its own agents, sessions, space and engine, all
 * with the first one's configurations. Pairs differ a little: each one's level is a factor that is
 * measured first, and a pair that is off is told and left out. Called by loop and proof.
 *
 * Each trial runs in a thread of its own on its own pair; nothing else is shared but the launcher,
 * which serves one request at a time. An idle pair's agents hear a heartbeat from a further thread.
 */
#ifndef TUNESWEEP_FLEET_H
#define TUNESWEEP_FLEET_H

#include "hosts.h"
#include "trial.h"

#define FLEET_MAX 64

struct fleet;

/* What a pair measured of one configuration. */
struct fleet_trial {
	const struct configuration *asked;
	struct configuration effective;
	struct sample sample; /* the pair's own numbers; cleared by the caller */
	size_t pair;
	int64_t replayed; /* as trial_env's */
};

/* Opens the further pairs of spec (spec->n_pairs of them) beside the first one's env; their old
 * values are on disk when this returns. On an error everything is undone. */
int fleet_open(const struct spec *spec, struct launcher *l, struct trial_env *first,
	       struct fleet **out, struct err *e);
/* Rolls all further pairs back, as hosts_close; report gets {"pair N": {host: [items]}}. NULL is
 * allowed. */
int fleet_close(struct fleet *f, json_t *report, struct err *e);

size_t fleet_width(const struct fleet *f); /* pairs in use; 1 for NULL */

/* Measures n (at most fleet_width) configurations at the same time, the i-th on the i-th pair in
 * use, or answers them from the replay. A further pair whose host is lost is left out and its trial
 * made on the first one. Errors as trial_run. */
int fleet_run(struct trial_env *first, struct fleet_trial *t, size_t n, struct err *e);

/* From rounds of one configuration on every pair (t[round * width + pair]): levels and noise, and
 * which pairs are left out. report: [{"pair", "hosts", "throughput", "noise", "level", "used",
 * "why"}], the caller's. */
void fleet_judge(struct fleet *f, const struct fleet_trial *t, size_t rounds, json_t **report);

/* The numbers as the first pair would have measured them. */
void fleet_normalize(const struct fleet *f, size_t pair, struct sample *s);

/* fleet/slurm.c: the spec's pairs out of a Slurm allocation's node list, "n[1-4,9]": two nodes a
 * pair, from and to of the test, reached by srun within that job ("": the one this runs in).
 * ERR_USAGE if it has too few. */
int fleet_from_slurm(struct spec *spec, const char *nodes, const char *job, struct err *e);

#endif
