/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the endpoints' process reads of its host and may open only with privilege: descriptors that
 * the agent opens before the process gives privilege up, and that stay readable after. What is not
 * there is said in a sentence, never taken for zero.
 */
#ifndef TUNESWEEP_HOST_METERS_H
#define TUNESWEEP_HOST_METERS_H

#include "cpu_meter.h"
#include "sysfile.h"
#include <stdint.h>

#define ENERGY_ZONES_MAX 32

struct energy_zone {
	int fd;
	double range; /* uJ; the counter begins at 0 again behind it */
};

/* Counters of the processors' cycles while they are not idle, one a CPU. */
struct cpu_perf {
	int n; /* 0: none */
	int cpu[CPU_METER_CPUS_MAX], fd[CPU_METER_CPUS_MAX];
	double seconds; /* a count is worth so much time */
};

struct host_meters {
	int timer_list; /* -1: not readable */
	int n_energy;
	struct energy_zone energy[ENERGY_ZONES_MAX];
	char no_energy[96]; /* why there are none */
	struct cpu_perf perf;
	char no_perf[96];
};

/* Never fails: what cannot be opened is left out. */
void host_meters_open(const struct sysroot *root, struct host_meters *out);
void host_meters_close(struct host_meters *m);
int host_meters_count(const struct host_meters *m); /* descriptors */
/* Moves each descriptor to the next number from `from` on, in order; all of them must be above
 * those numbers. Returns the first number that is free again. */
int host_meters_renumber(struct host_meters *m, int from);
/* To a number of at least `least`. */
void host_meters_lift(struct host_meters *m, int least);

/* ---- energy.c: RAPL ---- */

/* The processors' packages and their memory; where these are not told, the whole platform. Returns
 * how many zones; 0 with the reason. */
int energy_open(const struct sysroot *root, struct energy_zone zone[ENERGY_ZONES_MAX], char *why,
		size_t size);

struct energy { /* what was used since the first reading */
	bool started;
	double last[ENERGY_ZONES_MAX]; /* uJ */
	double joules;
};
/* Joules; NaN if there are no zones or one cannot be read. To be called at least once in the time
 * in which a counter comes round (a minute at the very least). */
double energy_read(struct energy *e, const struct host_meters *m);

/* ---- cpu_perf.c: the performance monitor ---- */

/* The event counted on all CPUs, by perf_event_open's type and config; seconds: of one count, 0 to
 * take the time stamp counter's from the kernel. */
int cpu_perf_open(uint32_t type, uint64_t config, double seconds, struct cpu_perf *out,
		  struct err *e);
/* Cycles that are not idle, where there is a monitor that counts them at a rate that does not
 * change. Not in a virtual machine: time that its host takes away would count as idle. */
int cpu_perf_open_hardware(const struct sysroot *root, struct cpu_perf *out, struct err *e);
void cpu_perf_close(struct cpu_perf *p);

#endif
