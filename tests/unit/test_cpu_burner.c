/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU meter against a burner of known load on this machine: within three points of what the
 * burner used by getrusage and all others besides, for each source that there is.
 */
#include "cleanup.h"
#include "cpu_meter.h"
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#define near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

static double clock_read(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void spin(double seconds, double period, double duty)
{
	double end = clock_read(CLOCK_MONOTONIC) + seconds;
	struct timespec rest = {0, (long)((1 - duty) * period * 1e9)};
	while (clock_read(CLOCK_MONOTONIC) < end) {
		double start = clock_read(CLOCK_MONOTONIC);
		while (clock_read(CLOCK_MONOTONIC) - start < duty * period) {
		}
		nanosleep(&rest, NULL);
	}
}

/* s: what ran on a CPU by other accounts than that of idle time: the scheduler's, which adds up
 * each task's turns (as such, or for the control group of all); and interrupts by /proc/stat's
 * ticks, for those of an idle CPU belong to no task. */
struct account {
	double ran, interrupts;
};

/* The sum of one or two numbers behind the beginning of a line; NaN where there are none. */
static double field_of(const char *path, const char *line_begin, const char *format)
{
	char line[8192];
	double v[2] = {0};
	size_t n = strlen(line_begin);
	auto_fclose FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, line_begin, n) == 0) {
			return sscanf(line + n, format, &v[0], &v[1]) >= 1 ? v[0] + v[1] : NAN;
		}
	}
	return NAN;
}

/* Of a task that has not ended its turn only the first account knows nothing: the caller has just
 * come to this CPU. */
static double turns_of(int cpu)
{
	static const char *const groups[] = {"/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu",
					     "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage_percpu"};
	char begin[16], format[600] = "";
	snprintf(begin, sizeof(begin), "cpu%d ", cpu);
	double ns = field_of("/proc/schedstat", begin, "%*s %*s %*s %*s %*s %*s %lf");
	for (int i = 0; i < cpu && i < 100; i++) {
		strcat(format, "%*s ");
	}
	strcat(format, "%lf");
	for (size_t i = 0; isnan(ns) && i < ARRAY_SIZE(groups); i++) {
		ns = field_of(groups[i], "", format);
	}
	return 1e-9 * ns;
}

static struct account account_of(int cpu)
{
	char begin[16];
	snprintf(begin, sizeof(begin), "cpu%d ", cpu);
	return (struct account){
		.ran = turns_of(cpu),
		.interrupts = field_of("/proc/stat", begin, "%*s %*s %*s %*s %*s %lf %lf") /
			      (double)sysconf(_SC_CLK_TCK),
	};
}

static double own_time(void)
{
	struct rusage r;
	assert_int_equal(getrusage(RUSAGE_SELF, &r), 0);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* The same of this process by the scheduler's account. */
static double own_turns(void)
{
	return 1e-9 * field_of("/proc/self/schedstat", "", "%lf");
}

/* The first CPU that this process may use, where the meter's list has no gaps; or -1. */
static int burn_cpu(void)
{
	cpu_set_t set;
	bool all = sysconf(_SC_NPROCESSORS_ONLN) == sysconf(_SC_NPROCESSORS_CONF);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (unsigned i = 0; all && i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set)) {
			return (int)i;
		}
	}
	return -1;
}

struct burnt { /* over one window, s */
	double seconds, own, background, interrupts, metered, error;
};

static struct burnt burn(struct cpu_meter *m, int cpu, double seconds, double period, double duty)
{
	static const struct timespec moment = {0, 1000000};
	struct err e = {0};
	struct cpu_reading a, b;
	nanosleep(&moment, NULL);
	struct account before = account_of(cpu);
	double own = own_time(), turns = own_turns();
	assert_int_equal(cpu_meter_read(m, &a, &e), 0);
	double from = a.per_cpu[cpu];
	spin(seconds, period, duty);
	nanosleep(&moment, NULL);
	struct account after = account_of(cpu);
	own = own_time() - own;
	turns = own_turns() - turns;
	assert_int_equal(cpu_meter_read(m, &b, &e), 0);
	assert_true(b.busy - a.busy <= b.cpus * (b.t - a.t) + a.resolution + b.resolution + 1e-3);
	return (struct burnt){
		.seconds = b.t - a.t,
		.own = own,
		.background = after.ran - before.ran - turns,
		.interrupts = after.interrupts - before.interrupts,
		.metered = b.per_cpu[cpu] - from,
		.error = a.resolution + b.resolution,
	};
}

/* Points that the meter is off what the burner used by getrusage and all others besides. */
static double points_off(const struct burnt *b)
{
	double truth = b->own + b->background;
	double below = truth - b->error - b->metered;
	double above = b->metered - truth - b->error - b->interrupts;
	return 100 * fmax(0, fmax(below, above)) / b->seconds;
}

/* Within three points of the truth on the burner's own CPU, whatever else runs there. A meter that
 * is wrong is so in each window; a machine that is disturbed, in one. */
static void check_load(struct cpu_meter *m, double seconds, double period, double duty)
{
	int cpu = burn_cpu();
	struct burnt b = {0};
	cpu_set_t one, all;
	if (cpu < 0 || !isfinite(account_of(cpu).ran)) {
		print_message("no account of a CPU but the meter's here\n");
		skip();
	}
	CPU_ZERO(&one);
	CPU_SET((unsigned)cpu, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (int i = 0; i < 3; i++) {
		b = burn(m, cpu, seconds, period, duty);
		if (points_off(&b) <= 3) {
			break;
		}
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	if (points_off(&b) > 3) {
		fail_msg("load %.0f %%: metered %.4f s of %.4f, own %.4f, background %.4f, "
			 "interrupts %.4f, error bar %.4f",
			 100 * duty, b.metered, b.seconds, b.own, b.background, b.interrupts,
			 b.error);
	}
	assert_true(b.own > 0);
}

static void check_meter(int fd, const char *source, double seconds)
{
	struct err e = {0};
	struct cpu_meter *m;
	struct cpu_reading r;
	assert_int_equal(cpu_meter_create(fd, NULL, &m, &e), 0);
	assert_int_equal(cpu_meter_read(m, &r, &e), 0);
	assert_true(r.cpus >= 1);
	if (source) {
		assert_string_equal(r.source, source);
	}
	near(r.t, clock_read(CLOCK_MONOTONIC), 0.2);
	double sum = 0;
	for (int i = 0; i < r.cpus; i++) {
		sum += r.per_cpu[i];
	}
	near(sum, r.busy, 0.03 * r.cpus);
	check_load(m, seconds, 0.001, 0.05);
	check_load(m, seconds, 0.005, 0.25);
	check_load(m, seconds, 0.002, 0.90);
	cpu_meter_destroy(m);
}

static void test_meter(void **state)
{
	(void)state;
	check_meter(-1, NULL, 0.3);
}

/* A descriptor that is no timer list: the meter goes on with /proc/stat. */
static void test_meter_falls_back(void **state)
{
	(void)state;
	auto_fclose FILE *f = tmpfile();
	assert_non_null(f);
	check_meter(fileno(f), "proc_stat", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meter),
		cmocka_unit_test(test_meter_falls_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
