/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU meter's source where there is a performance monitor: cycles in which a CPU was not idle,
 * counted by hardware at the rate of the time stamp counter (perf_event_open(2)), so that they are
 * time, whatever the clock does. Opened with privilege by host_meters.c, read by the meter.
 */
#include "cleanup.h"
#include "cpu_meter_private.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define SKEW_S 2e-6 /* between the counter and the clock, a CPU */

static int event_open(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr a = {
		.type = type,
		.size = sizeof(a),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	return (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* As the kernel itself turns the time stamp counter into ns. */
static double seconds_of(int fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	double seconds = 0;
	struct perf_event_mmap_page *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		return 0;
	}
	if (p->cap_user_time) {
		seconds = ldexp((double)p->time_mult, -(int)p->time_shift) * 1e-9;
	}
	munmap(p, size);
	return seconds;
}

int cpu_perf_open(uint32_t type, uint64_t config, double seconds, struct cpu_perf *out,
		  struct err *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	memset(out, 0, sizeof(*out));
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = cpu < CPU_METER_CPUS_MAX ? event_open(type, config, cpu) : -1;
		int error = cpu < CPU_METER_CPUS_MAX ? errno : EOVERFLOW;
		if (fd < 0 && error == ENODEV) {
			continue; /* not online */
		}
		if (fd < 0) {
			cpu_perf_close(out);
			return err_set(e, -error, "no performance monitor: %s",
				       error == ENOENT ? "the event is not there"
						       : strerror(error));
		}
		out->cpu[out->n] = cpu;
		out->fd[out->n++] = fd;
	}
	out->seconds = seconds > 0 || out->n == 0 ? seconds : seconds_of(out->fd[0]);
	if (out->n == 0 || !(out->seconds > 0)) {
		cpu_perf_close(out);
		return err_set(e, -ENOTSUP, "no performance monitor: its rate is not known");
	}
	return 0;
}

static bool is_virtual(const struct sysroot *root)
{
	size_t size = 65536;
	auto_free char *text = malloc(size);
	return text && sysfile_read(root, "/proc/cpuinfo", text, size, NULL) == 0 &&
	       strstr(text, " hypervisor") != NULL;
}

int cpu_perf_open_hardware(const struct sysroot *root, struct cpu_perf *out, struct err *e)
{
	out->n = 0;
	if (is_virtual(root)) {
		return err_set(e, -ENOTSUP,
			       "no performance monitor: not used in a virtual machine");
	}
	return cpu_perf_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0, out, e);
}

void cpu_perf_close(struct cpu_perf *p)
{
	for (int i = 0; i < p->n; i++) {
		close(p->fd[i]);
	}
	p->n = 0;
}

/* Where the monitor has other events to count besides, it counted a part of the time only. */
static double count_read(int fd)
{
	uint64_t v[3]; /* count, time enabled, time running */
	if (read(fd, v, sizeof(v)) != (ssize_t)sizeof(v) || (v[1] > 0 && v[2] == 0)) {
		return NAN;
	}
	return v[2] > 0 ? (double)v[0] * ((double)v[1] / (double)v[2]) : (double)v[0];
}

int cpu_perf_snapshot(const struct cpu_perf *p, struct cpu_snapshot *out, struct err *e)
{
	struct timespec ts;
	memset(out, 0, sizeof(*out));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	out->t = (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
	out->total_idle = NAN;
	out->resolution = SKEW_S * p->n;
	for (int i = 0; i < p->n; i++) {
		double busy = count_read(p->fd[i]) * p->seconds;
		if (!isfinite(busy)) {
			return err_set(e, -EIO, "performance monitor: CPU %d cannot be read",
				       p->cpu[i]);
		}
		out->listed[p->cpu[i]] = true;
		out->idle[p->cpu[i]] = out->t - busy;
		out->cpus++;
	}
	return 0;
}
