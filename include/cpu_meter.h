/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Busy CPU seconds of the whole host since some fixed point, from the best source there is:
 * the performance monitor's unhalted cycles, else /proc/timer_list (idle accounting to 1 ns, root),
 * else /proc/stat's idle + iowait (10 ms).
 * Facts on the sources: idle counters are accounted, not tick-sampled, on tickless kernels.
 * Time that a hypervisor takes away counts as busy. Called by the endpoints' process only.
 */
#ifndef TUNESWEEP_CPU_METER_H
#define TUNESWEEP_CPU_METER_H

#include "err.h"
#include <stddef.h>

#define CPU_METER_CPUS_MAX 1024

struct cpu_meter;

struct cpu_reading {
	double t;	       /* CLOCK_MONOTONIC, seconds, of this reading */
	double busy;	       /* seconds, summed over CPUs; only differences mean anything */
	double resolution;     /* error bar of one reading, seconds */
	const char *source;    /* "perf", "timer_list" or "proc_stat" */
	int cpus;	       /* online */
	const double *per_cpu; /* busy seconds of each, borrowed until the next reading */
};

struct cpu_perf;

/* timer_list_fd: open descriptor, -1 to try the file itself. perf: opened before, or NULL, or with
 * no counters in it; used first. Both stay the caller's. */
int cpu_meter_create(int timer_list_fd, const struct cpu_perf *perf, struct cpu_meter **out,
		     struct err *e);

/* A CPU that comes or goes between two readings counts as idle for that interval. */
int cpu_meter_read(struct cpu_meter *m, struct cpu_reading *out, struct err *e);
void cpu_meter_destroy(struct cpu_meter *m);

#endif
