/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU meter's best source: the text of /proc/timer_list, whose per-CPU idle counters are
 * accounted at each entry to and exit from idle, in nanoseconds. Parses only; the meter reads.
 */
#include "cpu_meter_private.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS 1e-9

/* What is printed of one CPU; -1 for what this kernel does not print. */
struct cpu_fields {
	int64_t cpu, idle, iowait, entry, active, stopped, nohz;
};

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{".idle_sleeptime", offsetof(struct cpu_fields, idle)},
	{".iowait_sleeptime", offsetof(struct cpu_fields, iowait)},
	{".idle_entrytime", offsetof(struct cpu_fields, entry)},
	{".idle_active", offsetof(struct cpu_fields, active)},
	{".tick_stopped", offsetof(struct cpu_fields, stopped)},
	{".nohz ", offsetof(struct cpu_fields, nohz)},
	{".nohz_mode", offsetof(struct cpu_fields, nohz)},
};

static void field_read(const char *line, struct cpu_fields *f)
{
	while (*line == ' ') {
		line++;
	}
	if (*line != '.') {
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t len = strlen(fields[i].name);
		int64_t v;
		if (strncmp(line, fields[i].name, len) == 0 &&
		    sscanf(line + len, " : %" SCNd64, &v) == 1) {
			*(int64_t *)((char *)f + fields[i].offset) = v;
		}
	}
}

/* A CPU whose tick runs takes an interrupt each tick, which ends an idle period: one that seems
 * open for longer is over, and the CPU runs. */
static int64_t tick_ns(void)
{
	struct timespec ts;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &ts) != 0) {
		return 10000000;
	}
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/*
 * The open idle period: idle_entrytime is written at the beginning and at the end of one, so it
 * alone does not say whether the CPU is idle. Newer kernels do not print idle_active: a stopped
 * tick says idle; with the tick running nobody can tell, and the middle is taken.
 */
static void open_period(const struct cpu_fields *f, int64_t now, int64_t *idle, int64_t *error)
{
	int64_t open = now - f->entry;
	*idle = 0;
	*error = 0;
	if (open <= 0) {
		return;
	}
	if (f->active == 1 || (f->active < 0 && f->stopped == 1)) {
		*idle = open;
	} else if (f->active < 0 && open <= tick_ns() * 5 / 4) {
		*idle = open / 2;
		*error = open - open / 2;
	}
}

static int cpu_finish(const struct cpu_fields *f, int64_t now, struct cpu_snapshot *out,
		      struct err *e)
{
	int64_t open, error;
	if (f->cpu < 0) {
		return 0;
	}
	if (f->cpu >= CPU_METER_CPUS_MAX) {
		return err_set(e, -EOVERFLOW,
			       "/proc/timer_list: CPU %" PRId64 " is above the limit of %d", f->cpu,
			       CPU_METER_CPUS_MAX - 1);
	}
	if (f->idle < 0 || f->iowait < 0 || f->entry < 0 || (f->active < 0 && f->stopped < 0) ||
	    f->nohz == 0) {
		return err_set(e, -EBADMSG,
			       "/proc/timer_list: no idle times for CPU %" PRId64
			       " (the kernel's tick is never stopped?)",
			       f->cpu);
	}
	open_period(f, now, &open, &error);
	out->listed[f->cpu] = true;
	out->idle[f->cpu] = (double)(f->idle + f->iowait + open) * NS;
	out->resolution += (double)error * NS;
	out->cpus++;
	return 0;
}

static int timer_list_parse(const char *text, struct cpu_snapshot *out, struct err *e)
{
	static const struct cpu_fields none = {-1, -1, -1, -1, -1, -1, -1};
	struct cpu_fields f = none;
	int64_t now = -1, cpu;
	memset(out, 0, sizeof(*out));
	out->total_idle = NAN;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		/* The list of tick devices follows that of the CPUs. */
		if (strncmp(line, "Tick Device", 11) == 0) {
			break;
		}
		if (now < 0 && sscanf(line, "now at %" SCNd64 " nsecs", &now) == 1) {
			continue;
		}
		if (strncmp(line, "cpu:", 4) == 0 && sscanf(line, "cpu: %" SCNd64, &cpu) == 1) {
			int r = cpu_finish(&f, now, out, e);
			if (r < 0) {
				return r;
			}
			f = none;
			f.cpu = cpu;
			continue;
		}
		field_read(line, &f);
	}
	int r = cpu_finish(&f, now, out, e);
	if (r < 0) {
		return r;
	}
	if (now < 0 || out->cpus == 0) {
		return err_set(e, -EBADMSG, "/proc/timer_list: no time or no CPU in it");
	}
	out->t = (double)now * NS;
	return 0;
}

const struct cpu_source cpu_timer_list_source = {
	.name = "timer_list", .path = "/proc/timer_list", .parse = timer_list_parse};
