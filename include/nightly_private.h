/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of a night share. Seen by sweep/nightly.c and sweep/nightly/ only.
 */
#ifndef TUNESWEEP_NIGHTLY_PRIVATE_H
#define TUNESWEEP_NIGHTLY_PRIVATE_H

#include "nightly.h"

/*
 * nightly/record.c: what is known of one sweep on one kind of hardware, STATE/KIND/NAME.json, with
 * the profile beside it as NAME.yaml: {"best": {"run", "night", "values", "gain", "spec_sha256"},
 * "proofs": [{"night", "boot", "values", "percent", "interval"}], "swept": night, "since": night,
 * "alarms": [nights], "applied": {"night", "values"}}, each only if there is something.
 */
struct night_record {
	char folder[PATH_MAX], file[PATH_MAX], profile[PATH_MAX];
	json_t *j; /* owned */
};
int night_record_load(const struct nightly_config *c, const char *kind, const char *name,
		      struct night_record *out, struct err *e);
int night_record_save(const struct night_record *r, struct err *e);
void night_record_clear(struct night_record *r);
const json_t *night_record_best(const struct night_record *r); /* its values; NULL: none yet */
bool night_record_is_due(const struct night_record *r, const char *night, int64_t every);
void night_record_alarm(struct night_record *r, const char *night);
/* Tonight's gain of the best over the baseline. */
void night_record_proof(struct night_record *r, const char *night, const char *boot,
			const struct gain *g);
/* Boots on which the present best has proved a gain, tonight's among them; 0 if not tonight. */
int night_record_boots(const struct night_record *r, const char *night);
/* A sweep's end: keeps its profile from dir if it proved something better than there is. true: it
 * is the best now. */
bool night_record_swept(struct night_record *r, const char *night, const char *boot,
			const char *dir, const char *spec_sha, const json_t *result, struct err *e);

/* nightly/judge.c: tonight's samples against the nights before. */
struct night_question {
	const struct nightly_compare *compare;
	const char *host, *night, *kind, *role; /* "baseline" or "best" */
	const struct spec *spec;
	const json_t *values; /* of the best; NULL */
	const json_t *record;
};
/* The labels under which samples are kept: by them they are found again. */
json_t *night_labels(const struct night_question *q, bool again);
/*
 * Adds to comparisons one object a metric: {"host", "night", "spec", "kind", "configuration",
 * "metric", "verdict": "good" | "regression" | "cannot tell" | "first night", "percent", "p_worse",
 * "p_better", "by": "nights" | "samples", "nights", "samples": [n, n], "kernel", "kernel_before"}.
 * Whether something is an alarm is said later, of all comparisons together.
 */
int night_judge(struct store *s, const struct night_question *q, bool again, json_t *comparisons,
		struct err *e);
/* What a second measurement says of the first one's comparison: the larger p-values count, and what
 * is not seen again is none. Sets "again" to its verdict. */
void night_confirm(json_t *comparison, const json_t *again);

struct night_pending { /* proved, to be applied when all is measured */
	char spec[PATH_MAX], kind[64];
	json_t *entry; /* its place in the summary; borrowed */
};

struct night { /* one nightly_run */
	const struct nightly_config *c;
	const struct nightly_world *w;
	struct store *store;
	char name[16];
	json_t *summary;
	bool first; /* nothing has been measured yet */
	bool unfit; /* doctor forbids sweeps */
	size_t n_pending;
	struct night_pending pending[NIGHTLY_SWEEPS_MAX];
};

/* nightly/end.c: true if the night is to end now; status and reason are in the summary then. left:
 * seconds of it, else. */
bool night_ends(struct night *n, double *left);
void night_end_with(struct night *n, const char *status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* nightly/sweep.c: what one rule does in a night. An error that ends this rule only. */
int night_sweep(struct night *n, const struct nightly_sweep *rule, struct err *e);
/* nightly/measure.c: measures, keeps and judges the baseline and the best so far; *gain (if there
 * is a best) is tonight's. -EINTR when interrupted. */
int night_measure(struct night *n, const struct spec *spec, const char *kind,
		  struct night_record *record, struct err *e);
/* What hosts these are: {name: fingerprint}; of a spec without hosts, this machine. used: a
 * sentence if somebody else uses a far one, "" else. */
int night_hosts(struct night *n, const struct spec *spec, json_t **hosts, char *used, size_t size,
		struct err *e);
/* The boot ids of all hosts as one text. */
void night_boot(const json_t *hosts, char *buf, size_t size);

#endif
