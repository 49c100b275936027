/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measurement of one configuration: the metrics by INTERFACE's names, all doubles, NaN for
 * unknown. Every engine fills the same struct; score, store and reports read it.
 */
#ifndef TUNESWEEP_SAMPLE_H
#define TUNESWEEP_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum metric {
	METRIC_THROUGHPUT,     /* bit/s, received */
	METRIC_SERVICE_DEMAND, /* us/KB (KB = 1024 bytes), all hosts together */
	METRIC_SERVICE_DEMAND_SENDER,
	METRIC_SERVICE_DEMAND_RECEIVER,
	METRIC_CPU_SENDER, /* fraction of the host */
	METRIC_CPU_RECEIVER,
	METRIC_SCORE,
	METRIC_RETRANSMITS,
	METRIC_RETRANSMITS_PER_GB,
	METRIC_JOULES_PER_GB,
	METRIC_RTT,  /* us, under load */
	METRIC_CWND, /* bytes */
	METRIC_SENT, /* packets, UDP */
	METRIC_LOST,
	METRIC_OFFERED,	    /* bit/s */
	METRIC_SECONDS,	    /* measured window */
	METRIC_LATENCY_P50, /* us */
	METRIC_LATENCY_P99,
	METRIC_COUNT
};

#define SAMPLE_EXTRA_MAX 8

struct sample {
	double m[METRIC_COUNT];
	size_t n_extra; /* a command engine's own metrics */
	struct {
		char name[32];
		double value;
	} extra[SAMPLE_EXTRA_MAX];
	bool ok;       /* false: failed, reason says why */
	bool cut_link; /* setting the configuration lost the link, or the host with it */
	char reason[256];
	char limited_by[32]; /* "" for unknown */
	char cpu_source[16];
	double cpu_error; /* error bar of the service demand, as a fraction; NaN if unknown */
	double link_cpu;  /* share of a host's CPUs that a user-space lab link used; NaN if none */
	double warmup;	  /* seconds dropped; NaN if not known */
	bool steady;	  /* the warm-up ended in steady state */
	json_t *detail;	  /* counters, intervals, effective socket values; owned, may be NULL */
};

void sample_init(struct sample *s); /* all NaN, not ok */
void sample_clear(struct sample *s);
void sample_copy(struct sample *to, const struct sample *from);
int sample_fail(struct sample *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* returns -EIO */

const char *metric_name(enum metric m);
const char *metric_unit(enum metric m);
int metric_find(const char *name); /* -1 if there is none */
/* By name, also extra ones; NaN if unknown. */
double sample_metric(const struct sample *s, const char *name);
/* All known metrics; unknown is null. */
json_t *sample_to_json(const struct sample *s);

#endif
