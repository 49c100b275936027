/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU meter: reads the best source that answers and turns idle times into busy times. The
 * texts are understood by the sources (cpu_timer_list.c, cpu_proc_stat.c), not here.
 */
#include "cleanup.h"
#include "cpu_meter_private.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define TEXT_START (256 * 1024)
#define TEXT_MAX   (64 * 1024 * 1024)

struct cpu_meter {
	const struct cpu_source *source;
	const struct cpu_perf *perf; /* used instead of a source, or NULL */
	int fd;
	bool own_fd;
	char *text;
	size_t size;
	struct cpu_snapshot snapshot;
	struct cpu_totals totals;
	double per_cpu[CPU_METER_CPUS_MAX];
};

/* An idle counter that falls, or grows faster than time, by more than rounding can explain: the
 * CPU was taken off and came back with a new counter. */
static bool is_same_counter(double idle, double dt)
{
	const double rounding = 0.05;
	return idle > -rounding && idle < dt + rounding;
}

void cpu_totals_add(struct cpu_totals *totals, const struct cpu_snapshot *s)
{
	double dt = totals->started ? s->t - totals->t : 0;
	double sum = 0, busy_before = totals->busy;
	bool same_set = totals->started;
	for (int i = 0; i < CPU_METER_CPUS_MAX; i++) {
		bool both = s->listed[i] && totals->cpu[i].listed;
		double idle = s->idle[i] - totals->cpu[i].idle;
		if (both && totals->started && is_same_counter(idle, dt)) {
			totals->cpu[i].busy += dt - idle;
			sum += dt - idle;
		} else if (s->listed[i] || totals->cpu[i].listed) {
			same_set = false;
		}
		totals->cpu[i].listed = s->listed[i];
		totals->cpu[i].idle = s->idle[i];
	}
	/* The sum's own line is rounded once, not once a CPU; with another set of CPUs it jumps. */
	if (same_set && isfinite(s->total_idle) && isfinite(totals->total_idle)) {
		sum = dt * s->cpus - (s->total_idle - totals->total_idle);
	}
	totals->busy = busy_before + sum;
	totals->total_idle = s->total_idle;
	totals->t = s->t;
	totals->started = true;
}

static double monotonic(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int text_grow(struct cpu_meter *m, struct err *e)
{
	size_t size = m->size ? m->size * 2 : TEXT_START;
	char *text = size <= TEXT_MAX ? realloc(m->text, size) : NULL;
	if (!text) {
		return err_set(e, -ENOMEM, "%s: no memory for its text of over %zu bytes",
			       m->source->path, m->size);
	}
	m->text = text;
	m->size = size;
	return 0;
}

/* The whole text from its beginning; /proc gives at most a page or two a call. */
static int text_read(struct cpu_meter *m, struct err *e)
{
	size_t used = 0;
	for (;;) {
		if (used + 1 >= m->size) {
			int r = text_grow(m, e);
			if (r < 0) {
				return r;
			}
		}
		ssize_t n = pread(m->fd, m->text + used, m->size - used - 1, (off_t)used);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return err_set(e, -errno, "%s: %s", m->source->path, strerror(errno));
		}
		if (n == 0) {
			m->text[used] = '\0';
			return 0;
		}
		used += (size_t)n;
	}
}

static int snapshot_read(struct cpu_meter *m, struct err *e)
{
	if (m->perf) {
		return cpu_perf_snapshot(m->perf, &m->snapshot, e);
	}
	double before = monotonic();
	int r = text_read(m, e);
	if (r < 0) {
		return r;
	}
	r = m->source->parse(m->text, &m->snapshot, e);
	if (r == 0 && !isfinite(m->snapshot.t)) {
		m->snapshot.t = before;
	}
	return r;
}

/* Where the tick can be stopped on a CPU that works (nohz_full), timer_list does not tell idle
 * from busy. */
static bool has_full_nohz(void)
{
	char buf[64];
	auto_close int fd = open("/sys/devices/system/cpu/nohz_full", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : 0;
	if (n <= 0) {
		return false;
	}
	buf[n] = '\0';
	return strpbrk(buf, "0123456789") != NULL;
}

static int source_try(struct cpu_meter *m, const struct cpu_source *source, int fd, struct err *e)
{
	m->source = source;
	m->own_fd = fd < 0;
	m->fd = fd >= 0 ? fd : open(source->path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0) {
		return err_set(e, -errno, "%s: %s", source->path, strerror(errno));
	}
	int r = snapshot_read(m, e);
	if (r < 0 && m->own_fd) {
		close(m->fd);
	}
	return r;
}

static int perf_try(struct cpu_meter *m, const struct cpu_perf *perf, struct err *e)
{
	m->perf = perf && perf->n > 0 ? perf : NULL;
	int r = m->perf ? snapshot_read(m, e) : -ENOTSUP;
	m->perf = r < 0 ? NULL : m->perf;
	return r;
}

int cpu_meter_create(int timer_list_fd, const struct cpu_perf *perf, struct cpu_meter **out,
		     struct err *e)
{
	struct cpu_meter *m = calloc(1, sizeof(*m));
	if (!m) {
		return err_set(e, -ENOMEM, "CPU meter: no memory");
	}
	int r = perf_try(m, perf, e);
	if (r < 0) {
		r = has_full_nohz() ? -ENOTSUP
				    : source_try(m, &cpu_timer_list_source, timer_list_fd, e);
	}
	if (r < 0) {
		r = source_try(m, &cpu_proc_stat_source, -1, e);
	}
	if (r < 0) {
		free(m->text);
		free(m);
		return r;
	}
	cpu_totals_add(&m->totals, &m->snapshot);
	*out = m;
	return 0;
}

int cpu_meter_read(struct cpu_meter *m, struct cpu_reading *out, struct err *e)
{
	int r = snapshot_read(m, e);
	if (r < 0) {
		return r;
	}
	cpu_totals_add(&m->totals, &m->snapshot);
	int n = 0;
	for (int i = 0; i < CPU_METER_CPUS_MAX; i++) {
		if (m->totals.cpu[i].listed) {
			m->per_cpu[n++] = m->totals.cpu[i].busy;
		}
	}
	*out = (struct cpu_reading){
		.t = m->totals.t,
		.busy = m->totals.busy,
		.resolution = m->snapshot.resolution,
		.source = m->perf ? "perf" : m->source->name,
		.cpus = n,
		.per_cpu = m->per_cpu,
	};
	return 0;
}

void cpu_meter_destroy(struct cpu_meter *m)
{
	if (!m) {
		return;
	}
	if (m->own_fd) {
		close(m->fd);
	}
	free(m->text);
	free(m);
}
