/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that was ever measured, in one SQLite file (WAL, schema by user_version). A run has trials,
 * a trial has samples. What is committed survives a kill -9; a damaged or foreign file is refused
 * with a sentence and not touched.
 */
#ifndef TUNESWEEP_STORE_H
#define TUNESWEEP_STORE_H

#include "err.h"
#include "sample.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct store;

/* Creates the file (mode 0600) and its folders if write; -EROFS and others as they come. Reading
 * works on read-only media, too; -ENOENT if there is no store yet. Not to be carried over a fork.
 */
int store_open(const char *path, bool write, struct store **out, struct err *e);
void store_close(struct store *s);

/* Default path: results.db in $XDG_STATE_HOME/tunesweep, for root /var/lib/tunesweep. */
int store_default_path(char *buf, size_t size, struct err *e);

struct store_run {
	char id[32];	      /* made by store_begin_run: date, time and 4 hex digits, sortable */
	const char *name;     /* of the spec */
	const char *spec;     /* its text, whole */
	const char *spec_sha; /* hash of the text, hex */
	uint64_t seed;
	const json_t *hosts; /* {name: fingerprint} */
};

/* Status "unfinished" until store_end_run. */
int store_begin_run(struct store *s, struct store_run *r, struct err *e);
/* status: complete, interrupted, failed; result is result.json's object, or NULL. -ENOENT if there
 * is no such run. */
int store_end_run(struct store *s, const char *run, const char *status, const json_t *result,
		  struct err *e);

/* values: {key: value} as in result.json; asked is NULL where nothing differs. phase: "search",
 * "baseline", "proof". */
int store_add_trial(struct store *s, const char *run, const char *phase, const json_t *values,
		    const json_t *asked, int64_t *trial, struct err *e);
/* The same with labels: {name: text or number}, what neither the configuration nor the run's hosts
 * say (kernel, driver, variant and boot of imported results). NULL: none. */
int store_add_labelled_trial(struct store *s, const char *run, const char *phase,
			     const json_t *values, const json_t *labels, int64_t *trial,
			     struct err *e);
/* Committed when it returns (unless between store_begin and store_commit). score: NaN if it has
 * none. */
int store_add_sample(struct store *s, int64_t trial, const struct sample *sample, double score,
		     struct err *e);

/* Many calls as one transaction: all or nothing. store_abandon after an error. */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_abandon(struct store *s);

/* Newest first: array of {"run", "name", "started", "status", "seconds", "samples", "failed",
 * "throughput", "service_demand", "gain", "recommended"}: all samples that the store has of it, the
 * best's numbers, result.json's gain object; null where the run has no result. */
int store_list_runs(struct store *s, json_t **out, struct err *e);

/*
 * One run with all that belongs to it; id may be a unique beginning, or "latest":
 * {"run", "name", "started", "ended", "status", "seed", "spec", "spec_sha256", "program", "hosts",
 *  "result": result.json or null,
 *  "trials": [{"trial": n from 1, "phase", "values", "asked": {...} or null, "labels" likewise,
 *              "samples": [sample_to_json's object with "sample": n from 1 in the run, "time"]}]}
 * Times are UTC as "2026-01-31T12:00:00Z". ERR_USAGE if there is no such run, or several.
 */
int store_get_run(struct store *s, const char *id, json_t **out, struct err *e);

/* The same without "trials": what was wanted, where, and how it ended. */
int store_get_run_head(struct store *s, const char *id, json_t **out, struct err *e);

/* The same without the samples' "detail" (time series, counters), which is most of a run: for who
 * shows or compares numbers. One sample's is read with store_get_detail, by its number in the run;
 * null where it has none. */
int store_get_run_brief(struct store *s, const char *id, json_t **out, struct err *e);
int store_get_detail(struct store *s, const char *id, int64_t sample, json_t **out, struct err *e);

/* The same with nothing of a sample but "sample", "ok" and these keys (NULL-terminated), and those
 * only where they are known: a tenth of the memory, for who shows few numbers of very many. */
int store_get_run_keys(struct store *s, const char *id, const char *const *keys, json_t **out,
		       struct err *e);
/* What stands in the samples' details under a key, one after the other in the order of
 * store_get_run; nothing is told of samples without it. */
int store_each_detail(struct store *s, const char *id, const char *key,
		      void (*see)(void *ctx, const json_t *part), void *ctx, struct err *e);

/* Deletes runs that began before a time (seconds since 1970; 0: none), then the oldest ones until
 * the file is not larger than max_bytes (0: any size), except those whose ids are the keys of kept;
 * and gives the room back. removed: how many runs went. */
int store_prune(struct store *s, double before, int64_t max_bytes, const json_t *kept, int *removed,
		struct err *e);

/* The whole id of the run that is meant by a beginning or "latest". */
int store_find_run(struct store *s, const char *id, char *whole, size_t size, struct err *e);

#endif
