/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the CPU meter and its sources: what one text of /proc says. A source only parses; the
 * meter reads the files and keeps the totals. For cpu_meter.c, its sources and their test.
 */
#ifndef TUNESWEEP_CPU_METER_PRIVATE_H
#define TUNESWEEP_CPU_METER_PRIVATE_H

#include "cpu_meter.h"
#include "host_meters.h"
#include <stdbool.h>

struct cpu_snapshot {
	double t;	   /* s, the text's own time stamp; NaN if it has none */
	double resolution; /* s, error bar of the sum over the CPUs */
	int cpus;	   /* how many are listed */
	bool listed[CPU_METER_CPUS_MAX];
	double idle[CPU_METER_CPUS_MAX]; /* s, idle and iowait together, up to t */
	double total_idle;		 /* s, of all, where the text sums more exactly than its
					    lines do; NaN else */
};

struct cpu_source {
	const char *name;
	const char *path;
	/* text ends with a NUL. -EBADMSG if it is not what it should be. */
	int (*parse)(const char *text, struct cpu_snapshot *out, struct err *e);
};

extern const struct cpu_source cpu_timer_list_source;
extern const struct cpu_source cpu_proc_stat_source;

/* cpu_perf.c: the counters of now. idle is all the time that they have not counted. */
int cpu_perf_snapshot(const struct cpu_perf *p, struct cpu_snapshot *out, struct err *e);

/* Over one text after another: the busy time of each CPU, carried on over CPUs that come and go. */
struct cpu_totals {
	bool started;
	double t, busy; /* s */
	double total_idle;
	struct {
		bool listed;
		double idle, busy; /* s */
	} cpu[CPU_METER_CPUS_MAX];
};
void cpu_totals_add(struct cpu_totals *totals, const struct cpu_snapshot *s);

#endif
