/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A night: measure what was measured on the nights before, say what got better or worse, sweep what
 * is due, and keep the best profile of each kind of hardware. The night is handed what it may do
 * (struct nightly_world), so that a test can run many of them on a clock and machine of its own.
 *
 * The configuration, read as strictly as a spec:
 *
 *   tunesweep_nightly: 1
 *   state: /var/lib/tunesweep/nightly     # profiles, records and summaries; relative to this file
 *   window: {from: "23:00", to: "05:30"}  # local time; without it any time is night
 *   in_use: {load: 2.0, logins: 0, traffic: 100Mbit/s, inhibit: /etc/tunesweep/inhibit}
 *   doctor: advise                        # required: sweeps only a machine without findings | off
 *   compare: {nights: 14, samples: 8, threshold: 5%, metrics: [throughput, service_demand],
 *             false_discovery: 5%, between_nights: 2%}
 *   apply: never                          # verified: a gain proved tonight and on 3 boots in all
 *   keep: {days: 90, size: 1GiB}          # of the store; without it nothing is deleted
 *   write: {text: FILE, json: FILE, prometheus: FILE}
 *   sweeps:                               # the rules: those whose when fits this machine are run
 *     - {spec: tcp.yaml, when: {driver: ice, cpu: "*EPYC*"}, every: 7}
 *
 * when: kernel, cpu, product, hypervisor, hostname, driver, pci with shell patterns; a rule fits if
 * all do (of driver and pci: some network device). every: nights from one sweep to the next; what
 * was cut short goes on in the next night. in_use: what is above these ends the night before the
 * next measurement; a file under inhibit does so, too. The load is the last minute's at first, and
 * the runnable processes later, when the night's own work is in the average. A host behind a
 * command is asked the same: where it is used (or has HOST_USE_INHIBIT), rules that want it are
 * left out.
 */
#ifndef TUNESWEEP_NIGHTLY_H
#define TUNESWEEP_NIGHTLY_H

#include "compare.h"
#include "host_use.h"
#include "recheck.h"
#include "store.h"
#include "sysfile.h"
#include <limits.h>
#include <time.h>

#define NIGHTLY_SWEEPS_MAX 32
#define NIGHTLY_WHEN_MAX   8
#define NIGHTLY_BOOTS	   3 /* that a gain is proved on before it is applied */

enum nightly_doctor { DOCTOR_ADVISE, DOCTOR_REQUIRED, DOCTOR_OFF };
enum nightly_apply { APPLY_NEVER, APPLY_VERIFIED };

struct nightly_limits { /* of use by others; infinite where not given */
	double load, logins, traffic /* bit/s */;
	char inhibit[PATH_MAX]; /* "": no file */
};

struct nightly_compare {
	int64_t nights, samples;
	double threshold, false_discovery;
	double between_nights; /* standard deviation, fraction; NaN: from the nights themselves */
	bool metric[COMPARE_METRICS];
};

struct nightly_sweep { /* one rule */
	char spec[PATH_MAX];
	int64_t every;
	size_t n_when;
	char when_key[NIGHTLY_WHEN_MAX][16], when_pattern[NIGHTLY_WHEN_MAX][128];
};

struct nightly_config {
	char state[PATH_MAX];
	int from, to; /* minutes of the day; equal: always */
	struct nightly_limits in_use;
	int doctor; /* enum nightly_doctor */
	struct nightly_compare compare;
	int apply;		 /* enum nightly_apply */
	int64_t keep_days;	 /* 0: for ever */
	int64_t keep_bytes;	 /* 0: any size */
	char write[3][PATH_MAX]; /* by enum nightly_format; "": not written */
	size_t n_sweeps;
	struct nightly_sweep sweeps[NIGHTLY_SWEEPS_MAX];
};

enum nightly_format { NIGHTLY_TEXT, NIGHTLY_JSON, NIGHTLY_PROMETHEUS };
extern const char *const nightly_formats[]; /* their names, NULL-terminated */

/* state_default: where state is if the file does not say. */
int nightly_config_load(const char *path, const char *state_default, struct nightly_config *out,
			struct err *e);

/* nightly/guard.c: is it night, which one ("2026-01-31": the day on which it began), and how many
 * seconds are left of it (INFINITY without a window). */
bool nightly_is_night(const struct nightly_config *c, time_t now, char name[16], double *left);
/* What of a host's use is above the limits: words in why, "" if nothing is. */
void nightly_judge_use(const struct nightly_limits *l, const struct host_use *u, bool first,
		       char *why, size_t size);
/* Who uses this machine: a sentence in why, "" if nobody does. It takes a second where the traffic
 * or a later load is to be known. first: before anything was measured. */
void nightly_in_use(const struct nightly_limits *l, const struct sysroot *root, bool first,
		    char *why, size_t size);

/* The same of far hosts, recheck_result's use. true: one of them is used, why names it. */
bool nightly_far_use(const struct nightly_limits *l, json_t *use, bool first, char *why,
		     size_t size);

/* nightly/kind.c: what makes two machines alike: CPU, nodes, drivers and speeds of all hosts of a
 * test; not kernel, names or addresses. hosts: {name: fingerprint}. A word fit for a file name. */
void nightly_kind(const json_t *hosts, char *buf, size_t size);
bool nightly_rule_fits(const struct nightly_sweep *s, const json_t *fingerprint);

struct nightly_call { /* one sweep to be run */
	const char *spec, *dir, *store;
	bool resume;
	double seconds; /* until it is to be interrupted; INFINITY: never */
};

/* What a night may do. Functions return 0 or -errno; ctx is theirs. */
struct nightly_world {
	void *ctx;
	struct launcher *launcher;
	int interrupt_fd;
	const json_t *fingerprint; /* of this machine, with "hostname" */
	const char *store_path;
	time_t (*now)(void *ctx);
	void (*in_use)(void *ctx, const struct nightly_limits *l, bool first, char *why,
		       size_t size);
	int (*measure)(void *ctx, const struct recheck *o, struct recheck_result *out,
		       struct err *e);
	/* result: result.json's object, NULL if there is none; status as the run command's. */
	int (*sweep)(void *ctx, const struct nightly_call *call, json_t **result, int *status,
		     struct err *e);
	/* report: what it prints with --json; status as its own, -1 if there is no doctor. */
	int (*doctor)(void *ctx, json_t **report, int *status, struct err *e);
	int (*apply)(void *ctx, const struct spec *spec, const char *profile, struct err *e);
	void (*note)(void *ctx, const char *line);
	bool (*interrupted)(void *ctx);
};

/*
 * One night; also where there is nothing to do. summary, the caller's: {"tunesweep_nightly": 1,
 * "host", "night", "status": "complete" | "cut short" | "in use" | "outside the window" | "not fit"
 * | "interrupted" | "failed", "reason", "sweeps": [{"spec", "kind", "status", "run", "resumed",
 * "gain", "profile", "applied", "reason"}], "comparisons": [nightly/judge.c's], "alarms": n,
 * "doctor", "pruned"}. The error is the first one; the summary holds what there is in every case.
 */
int nightly_run(const struct nightly_config *c, const struct nightly_world *w, struct store *store,
		json_t **summary, struct err *e);

/* From tonight on other levels are right: earlier nights are no longer compared with. */
int nightly_accept(const struct nightly_config *c, const char *night, int *records, struct err *e);

/* nightly/fleet.c: calls the changes among all comparisons of these summaries at one false
 * discovery rate: sets "alarm" and "change" in each comparison and "alarms" in each summary.
 * Returns the number of alarms. */
int nightly_call_alarms(json_t *const *summaries, size_t n, double rate);
/* {"tunesweep_nightly_fleet": 1, "hosts": n, "alarms": n, "nights": [...], "comparisons": [...]}:
 * the newest summary of each host. ERR_USAGE if one is none. */
int nightly_fleet(json_t *const *summaries, size_t n, double rate, json_t **out, struct err *e);

/* nightly/write.c: a night's or fleet's summary. */
void nightly_print(const json_t *summary, enum nightly_format format, FILE *out);
int nightly_save(const json_t *summary, enum nightly_format format, const char *path,
		 struct err *e);

#endif
