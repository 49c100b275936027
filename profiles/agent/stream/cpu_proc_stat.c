/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU meter's second source: idle + iowait of /proc/stat's cpu lines, which on tickless
 * kernels are accounted like timer_list's but printed to 10 ms. Parses only; the meter reads.
 */
#include "cpu_meter_private.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "cpu" or "cpuN", then user nice system idle iowait. Returns CPU number, -1 for the sum of all,
 * -2 for any other line. */
static int cpu_line(const char *line, uint64_t *idle, uint64_t *iowait)
{
	int cpu = -1, used = 0;
	uint64_t x;
	if (strncmp(line, "cpu", 3) != 0) {
		return -2;
	}
	line += 3;
	if (*line != ' ' && (sscanf(line, "%d%n", &cpu, &used) != 1 || cpu < 0)) {
		return -2;
	}
	line += used;
	if (sscanf(line, " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &x, &x, &x,
		   idle, iowait) != 5) {
		return -2;
	}
	return cpu;
}

static int proc_stat_parse(const char *text, struct cpu_snapshot *out, struct err *e)
{
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	memset(out, 0, sizeof(*out));
	out->t = NAN;
	out->total_idle = NAN;
	/* idle and iowait are each cut to a tick in the line of the sum */
	out->resolution = 2 * tick;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		uint64_t idle, iowait;
		line += *line == '\n';
		int cpu = cpu_line(line, &idle, &iowait);
		if (cpu == -2) {
			continue;
		}
		if (cpu >= CPU_METER_CPUS_MAX) {
			return err_set(e, -EOVERFLOW, "/proc/stat: CPU %d is above the limit of %d",
				       cpu, CPU_METER_CPUS_MAX - 1);
		}
		/* The sum of both: iowait alone can run backwards. */
		double s = (double)(idle + iowait) * tick;
		if (cpu < 0) {
			out->total_idle = s;
			continue;
		}
		out->listed[cpu] = true;
		out->idle[cpu] = s;
		out->cpus++;
	}
	if (out->cpus == 0) {
		return err_set(e, -EBADMSG, "/proc/stat: no cpu lines in it");
	}
	return 0;
}

const struct cpu_source cpu_proc_stat_source = {
	.name = "proc_stat", .path = "/proc/stat", .parse = proc_stat_parse};
