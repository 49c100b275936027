/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files of the built-in engine: builtin.c runs a sample through its phases,
 * builtin_request.c asks the endpoints, builtin_series.c judges the warm-up, builtin_result.c
 * turns two reads of each host into a sample. Only for sweep/engine/builtin*.c and their test.
 */
#ifndef TUNESWEEP_BUILTIN_PRIVATE_H
#define TUNESWEEP_BUILTIN_PRIVATE_H

#include "engine.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define BUILTIN_INTERVAL_S   0.05
#define BUILTIN_WARMUP_S     1.5
#define BUILTIN_WARMUP_MAX_S 3.0
#define BUILTIN_POINTS_MAX   512

/* ---- one answer of an endpoint to "read" (stream.h) ---- */

struct builtin_read {
	double t, bytes, self;
	double acked;		       /* bytes that the far end has taken; NaN if not known */
	double rtt, cwnd, retransmits; /* NaN if not known, as all that follow */
	double tcp_busy, rwnd_limited, sndbuf_limited; /* us */
	double cpu_t, busy, resolution;		       /* s */
	int cpus;				       /* 0: this host's CPUs are not known */
	json_t *json;				       /* the whole answer; owned */
};

void builtin_read_clear(struct builtin_read *r);
int builtin_read_parse(json_t *answer, struct builtin_read *out, struct err *e);

/* ---- one of the two hosts ---- */

enum { BUILTIN_FROM, BUILTIN_TO, BUILTIN_HOSTS }; /* FROM connects, TO listens */

struct builtin_host {
	struct agent *agent;
	int index;			 /* in the spec */
	const char *side;		 /* "connect" or "listen", as stream.h names them */
	const char *role;		 /* "sender" or "receiver" of the data */
	bool is_open;			 /* a stop is owed */
	bool is_hung;			 /* the last request was not answered in time */
	struct builtin_read first, last; /* the ends of the window */
};

/* ---- builtin_request.c ---- */

struct builtin_test { /* what both requests of a sample have in common */
	const struct spec_test *test;
	const char *address;
	int port;
	char token[33];
	bool autotune;
};

/* Do the kernel's own buffer settings belong to what is swept? */
bool builtin_autotune(const struct space *space);
int builtin_token(char token[33], struct err *e);

/* Listen or connect by the host's side; sets t->port when listening. */
int builtin_open(struct builtin_host *h, struct builtin_test *t, const struct engine_run *run,
		 struct err *e);
int builtin_start(struct builtin_host *h, const struct builtin_test *t, struct err *e);
int builtin_read_host(struct builtin_host *h, const struct builtin_test *t, bool cpu,
		      struct builtin_read *out, struct err *e);
void builtin_stop(struct builtin_host *h);

/* ---- builtin_series.c ---- */

struct builtin_series {
	size_t n;
	struct {
		double t, bytes;  /* of the data's receiver */
		double rtt, cwnd; /* of its sender */
	} point[BUILTIN_POINTS_MAX];
};
void builtin_series_add(struct builtin_series *s, const struct builtin_read *sender,
			const struct builtin_read *receiver);
bool builtin_series_steady(const struct builtin_series *s);
/* Medians from point `from` on. */
double builtin_series_rtt(const struct builtin_series *s, size_t from);
double builtin_series_cwnd(const struct builtin_series *s, size_t from);
/* [[t, bytes, rtt, cwnd], ...], times from the first point on. */
json_t *builtin_series_json(const struct builtin_series *s);

/* ---- builtin_result.c ---- */

struct builtin_window {
	const struct builtin_host *sender, *receiver; /* of the data */
	bool one_host;				      /* both share their CPUs */
	bool one_process;			      /* and the endpoints' process */
	const struct builtin_series *series;
	size_t window_start; /* its first point */
	double warmup;	     /* s */
	bool steady;
};

/* -EIO where a number cannot be: such a sample has failed. */
int builtin_result(const struct builtin_window *w, struct sample *out, struct err *e);

#endif
