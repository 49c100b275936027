/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the scheduler says of a flow's threads: how long each ran and waited for a CPU, and where.
 * Reads /proc, which takes longer than counting bytes; called at the ends of a window.
 */
#include "cleanup.h"
#include "flow_private.h"
#include <stdio.h>
#include <string.h>

/* The thread's time on a CPU and in the queue for one, ns, and the CPU that it ran on last. */
static bool thread_read(int tid, double *cpu, double *waited, int *last)
{
	char path[64], text[512];
	unsigned long long ran, queued;
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	auto_fclose FILE *sched = fopen(path, "re");
	if (!sched || fscanf(sched, "%llu %llu", &ran, &queued) != 2) {
		return false;
	}
	*cpu = (double)ran * 1e-9;
	*waited = (double)queued * 1e-9;
	*last = -1;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	auto_fclose FILE *stat = fopen(path, "re");
	size_t n = stat ? fread(text, 1, sizeof(text) - 1, stat) : 0;
	text[n] = '\0';
	/* The 39th field; the name, the second, may hold blanks. */
	const char *p = strrchr(text, ')');
	for (int i = 2; p && i < 39; i++) {
		p = strchr(p + 1, ' ');
	}
	*last = p ? atoi(p) : -1;
	return true;
}

void flow_count_threads(struct flow *f, struct flow_counts *sum)
{
	for (int i = 0; i < f->n_lanes; i++) {
		double cpu, waited;
		int last, tid = atomic_load(&f->lane[i].tid);
		if (tid == 0 || !thread_read(tid, &cpu, &waited, &last)) {
			continue;
		}
		sum->cpu += cpu;
		sum->waited += waited;
		if (cpu + waited > sum->busiest_cpu + sum->busiest_waited) {
			sum->busiest_cpu = cpu;
			sum->busiest_waited = waited;
		}
		if (last >= 0 && last < 128) {
			sum->cpus[last / 64] |= UINT64_C(1) << last % 64;
		}
	}
}
