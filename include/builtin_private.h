/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files of the built-in engine: builtin.c runs a sample through its phases,
 * builtin_pair.c takes both hosts through a step,
 * builtin_request.c says what is asked of the endpoints, builtin_ask.c asks, builtin_read.c
 * understands their answers, builtin_series.c judges the warm-up, builtin_result.c turns two reads
 * of each host into a sample, with builtin_cpu.c, builtin_kind.c (what a type of test has besides),
 * builtin_limit.c (what held it back), builtin_counters.c and builtin_detail.c. Only for
 * sweep/engine/builtin*.c and their test.
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
	double sent, received; /* bytes, both ways */
	double acked;	       /* bytes that the far end has taken; NaN if not known */
	double rtt, min_rtt, cwnd, retransmits;	       /* NaN if not known, as all that follow */
	double tcp_busy, rwnd_limited, sndbuf_limited; /* us */
	double unsent, unread;			       /* bytes in the sockets' queues */
	double cpu_t, busy, resolution;		       /* s */
	double energy;				       /* J */
	int cpus;				       /* 0: this host's CPUs are not known */
	json_t *json;				       /* the whole answer; owned */
};

void builtin_read_clear(struct builtin_read *r);
int builtin_read_parse(json_t *answer, struct builtin_read *out, struct err *e);

/* ---- builtin_counters.c: what a host has counted besides, over the sample ---- */

#define BUILTIN_COUNTERS_MAX 64

struct builtin_counters {
	size_t n;
	struct {
		double t;     /* s, the host's own clock */
		json_t *host; /* of an answer to read; owned */
	} point[BUILTIN_COUNTERS_MAX];
};
void builtin_counters_add(struct builtin_counters *c, const struct builtin_read *r);
void builtin_counters_clear(struct builtin_counters *c);
/* {"begins": s from start to the first point, "t": [s from the first point on, ...],
 * NAME: [growth since the point before, ...]}, of what has grown at all; null of fewer than three
 * points, which say no more than the ends of the window. start: by the host's own clock. */
json_t *builtin_counters_json(const struct builtin_counters *c, double start);

/* ---- one of the two hosts ---- */

enum { BUILTIN_FROM, BUILTIN_TO, BUILTIN_HOSTS }; /* FROM connects, TO listens */

struct builtin_host {
	struct agent *agent;
	int index;	   /* in the spec */
	const char *side;  /* "connect" or "listen", as stream.h names them */
	const char *role;  /* "sender" or "receiver" of the data */
	bool is_open;	   /* a stop is owed */
	bool is_hung;	   /* the last request was not answered in time */
	double background; /* busy fraction before anything moved; NaN: not measured */
	struct builtin_read first, last; /* the ends of the window */
	struct builtin_counters counters;
	json_t *final; /* the answer to stop: of all that was moved; NULL: not known; owned */
};

/* last - first of a number in an object of the answer ("" for the answer itself); NaN if unknown.
 */
double builtin_delta(const struct builtin_host *h, const char *object, const char *key);

/* ---- builtin_request.c ---- */

struct builtin_test { /* what both requests of a sample have in common */
	const struct spec_test *test;
	const char *address;
	int port;
	char token[33];
	bool autotune;
	bool one_host;
	json_t *local_ports; /* of the connecting side; NULL: any */
};

/* Ports that samples of the same path have in common; json is owned. */
#define BUILTIN_PATHS 4
struct builtin_path {
	int port;
	json_t *local_ports;
};

/* Do the kernel's own buffer settings belong to what is swept? */
bool builtin_autotune(const struct space *space);
int builtin_token(char token[33], struct err *e);

/* builtin_numa.c: the request's "numa", or NULL if no numa.* of this host is searched. */
json_t *builtin_numa(const struct builtin_host *h, const struct engine_run *run);

/* Listen or connect, by the host's side. */
json_t *builtin_open_request(const struct builtin_host *h, const struct builtin_test *t,
			     const struct engine_run *run);
/* Takes the port and the connections' ports over into t. */
int builtin_open_answer(const struct builtin_host *h, struct builtin_test *t, const json_t *answer,
			struct err *e);
json_t *builtin_plain_request(const struct builtin_host *h, const char *op, bool cpu);

/* ---- builtin_ask.c ---- */

struct builtin_ask {
	struct builtin_host *h;
	json_t *request; /* taken */
	int timeout_ms;
	json_t *answer; /* the caller's, also after an error; NULL if there was none */
};

/* in_turn: one after the other, and none after one that failed. Otherwise hosts with agents of
 * their own are asked at the same time. Requests to one agent always keep their order. */
int builtin_ask(struct builtin_ask *list, size_t n, bool in_turn, const struct builtin_test *t,
		struct err *e);
void builtin_ask_clear(struct builtin_ask *list, size_t n);

/* ---- builtin_series.c ---- */

struct builtin_series {
	size_t n;
	double sender_start; /* s, the first point by the sender's own clock */
	struct {
		double t, bytes;  /* of the data's receiver */
		double rtt, cwnd; /* of its sender */
		double unsent;	  /* bytes, at its sender */
		double unread;	  /* bytes, at its receiver */
	} point[BUILTIN_POINTS_MAX];
};
void builtin_series_add(struct builtin_series *s, const struct builtin_read *sender,
			const struct builtin_read *receiver);
bool builtin_series_steady(const struct builtin_series *s);
/* Medians from point `from` on. */
double builtin_series_rtt(const struct builtin_series *s, size_t from);
double builtin_series_cwnd(const struct builtin_series *s, size_t from);
/* Surely below a rate (bit/s) from point `from` on? */
bool builtin_series_below(const struct builtin_series *s, size_t from, double limit);
double builtin_series_unread(const struct builtin_series *s, size_t from);
/* [[t, bytes, rtt, cwnd], ...], times from the first point on. */
json_t *builtin_series_json(const struct builtin_series *s);

/* ---- builtin_pair.c: both hosts, step by step ---- */

struct builtin_pair {
	struct builtin_host host[BUILTIN_HOSTS];
	struct builtin_host *sender, *receiver; /* of the data */
	bool one_process;			/* one agent has both ends */
	struct builtin_test test;
	struct builtin_series *series; /* a point is added at each read of both */
	double counters_every;	       /* s between two looks at what the hosts count */
	double counters_at;	       /* s, this machine's clock: the next */
	double trip;		       /* s that the last read of both took */
};

int builtin_pair_listen(struct builtin_pair *p, const struct engine_run *run, struct err *e);
int builtin_pair_connect(struct builtin_pair *p, const struct engine_run *run, struct err *e);
/* run: connects before; NULL: that has been done. Starts both and reads them, as the beginning of
 * the window (ends) or not. */
int builtin_pair_begin(struct builtin_pair *p, const struct engine_run *run, bool ends,
		       struct err *e);
/* Into first or last. ends: with all that is wanted at an end of the window. */
int builtin_pair_read(struct builtin_pair *p, bool first, bool ends, struct err *e);
/* The window's last reads, each host's when its window is so long (s; 0: now); then the sending
 * ends in order, and for at most so long (s) what is under way comes in. */
int builtin_pair_end(struct builtin_pair *p, double window, double drain, struct err *e);
void builtin_pair_stop(struct builtin_pair *p);	 /* whatever is open */
void builtin_pair_clear(struct builtin_pair *p); /* the numbers that it holds */

/* ---- builtin_result.c ---- */

enum builtin_type {
	BUILTIN_STREAM, /* tcp_stream and tcp_maerts */
	BUILTIN_BIDIR,
	BUILTIN_UDP,
	BUILTIN_RR,
};

struct builtin_window {
	const struct spec_test *test;  /* NULL: a plain stream */
	const struct builtin_test *at; /* address and ports; NULL: not told */
	enum builtin_type type;
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
double builtin_seconds(const struct builtin_host *h); /* of its window */
/* Bytes that went through this host in the window, by which its CPU is divided. */
bool builtin_is_both_ways(const struct builtin_window *w);
double builtin_moved(const struct builtin_window *w, const struct builtin_host *h);

/* ---- builtin_cpu.c ---- */

struct builtin_cpu { /* over the window */
	bool known;
	int cpus;
	double seconds, busy, error, fraction; /* error: of busy, s */
	double self;
};
struct builtin_cpu builtin_cpu_of(const struct builtin_host *h);
int builtin_cpu_fill(const struct builtin_window *w, struct sample *out, struct err *e);
double builtin_cpu_busiest(const struct builtin_host *h); /* share of the busiest CPU */

/* ---- builtin_kind.c: what datagrams and requests have besides ---- */

void builtin_udp_fill(const struct builtin_window *w, struct sample *out);
json_t *builtin_udp_json(const struct builtin_window *w); /* who lost how many */
void builtin_rr_fill(const struct builtin_window *w, struct sample *out);
/* us below which the share of the time lies, from two arrays of [bucket, count] (latency.c); NaN
 * if nothing was timed. */
double builtin_latency(const json_t *first, const json_t *last, double share);

/* ---- builtin_limit.c: a word, and the numbers that it rests on ---- */

const char *builtin_limit(const struct builtin_window *w, json_t **evidence);

/* ---- builtin_detail.c ---- */

/* Where its memory lay; at the end of the window the buffers may be gone already. Borrowed. */
json_t *builtin_placement(const struct builtin_host *h);
json_t *builtin_detail(const struct builtin_window *w, json_t *evidence); /* takes evidence */

#endif
