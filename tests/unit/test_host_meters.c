/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Energy and the performance monitor: RAPL on a recorded tree (tests/sysroot/rapl) whose counters
 * go on and come round, the monitor with made-up counters and with an event that every kernel has.
 */
#include "cleanup.h"
#include "cpu_meter_private.h"
#include "host_meters.h"
#include "monotonic.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define near(a, b, eps)                                                                            \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (eps))) {                                                   \
			fail_msg(#a " is %.9g, not %.9g", a_, b_);                                 \
		}                                                                                  \
	} while (0)

struct tree {
	char dir[64];
	struct sysroot root;
};

static void tree_copy(struct tree *t)
{
	char command[160];
	snprintf(t->dir, sizeof(t->dir), "/tmp/test_host_meters.XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	snprintf(command, sizeof(command), "cp -r tests/sysroot/rapl/. %s", t->dir);
	assert_int_equal(system(command), 0);
	t->root.prefix = t->dir;
}

static void tree_remove(const struct tree *t)
{
	char command[96];
	snprintf(command, sizeof(command), "rm -r %s", t->dir);
	assert_int_equal(system(command), 0);
}

/* In place, as sysfs does: whoever has it open reads the new number. */
static void zone_set(const struct tree *t, const char *zone, const char *text)
{
	char path[160];
	snprintf(path, sizeof(path), "%s/sys/class/powercap/%s/energy_uj", t->dir, zone);
	auto_close int fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void test_energy(void **state)
{
	(void)state;
	struct tree t;
	auto_free struct host_meters *m = calloc(1, sizeof(*m));
	struct energy e = {0};
	tree_copy(&t);
	host_meters_open(&t.root, m);
	/* two packages and the memory of one: no part of a package, no platform, nothing twice */
	assert_int_equal(m->n_energy, 3);
	assert_string_equal(m->no_energy, "");
	near(energy_read(&e, m), 0, 0);
	zone_set(&t, "intel-rapl:0", "3000000\n");
	zone_set(&t, "intel-rapl:0:0", "9000000\n");
	near(energy_read(&e, m), 2, 1e-9);
	zone_set(&t, "intel-rapl:0:1", "570000\n");
	near(energy_read(&e, m), 2.5, 1e-9);
	/* 850 uJ up to the end of its range, and 499150 beyond */
	zone_set(&t, "intel-rapl:1", "499150\n");
	near(energy_read(&e, m), 3, 1e-9);
	near(energy_read(&e, m), 3, 1e-9);
	host_meters_close(m);
	tree_remove(&t);
}

static void test_no_energy(void **state)
{
	(void)state;
	struct tree t;
	char path[160];
	auto_free struct host_meters *m = calloc(1, sizeof(*m));
	struct energy e = {0};
	tree_copy(&t);
	/* a zone of which a part cannot be read is no sum */
	snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:1/energy_uj", t.dir);
	assert_int_equal(unlink(path), 0);
	host_meters_open(&t.root, m);
	assert_int_equal(m->n_energy, 0);
	assert_non_null(strstr(m->no_energy, "intel-rapl:1"));
	assert_true(isnan(energy_read(&e, m)));
	host_meters_close(m);
	host_meters_open(&(struct sysroot){.prefix = "tests/sysroot/cpu"}, m);
	assert_int_equal(m->n_energy, 0);
	assert_string_equal(m->no_energy, "this machine has no RAPL");
	host_meters_close(m);
	tree_remove(&t);
}

/* The descriptors in a row, each with its file behind it. */
static void test_renumber(void **state)
{
	(void)state;
	struct tree t;
	auto_free struct host_meters *m = calloc(1, sizeof(*m));
	struct energy e = {0};
	tree_copy(&t);
	host_meters_open(&t.root, m);
	int n = host_meters_count(m);
	assert_int_equal(n, 3 + (m->timer_list >= 0) + m->perf.n);
	host_meters_lift(m, 100);
	assert_int_equal(host_meters_renumber(m, 60), 60 + n);
	assert_int_equal(m->energy[0].fd, 60 + (m->timer_list >= 0));
	near(energy_read(&e, m), 0, 0);
	zone_set(&t, "intel-rapl:0", "1500000\n");
	near(energy_read(&e, m), 0.5, 1e-9);
	host_meters_close(m);
	tree_remove(&t);
}

static void test_refused_in_a_virtual_machine(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free struct cpu_perf *p = calloc(1, sizeof(*p));
	struct sysroot root = {.prefix = "tests/sysroot/rapl"};
	assert_true(cpu_perf_open_hardware(&root, p, &e) < 0);
	assert_int_equal(p->n, 0);
	assert_non_null(strstr(e.text, "virtual machine"));
}

struct fake { /* two CPUs whose counters are what was written last */
	struct cpu_perf p;
	int to[2];
};

static void fake_begin(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->p.n = 2;
	f->p.seconds = 0.5e-9;
	for (int i = 0; i < 2; i++) {
		int fd[2];
		assert_int_equal(pipe(fd), 0);
		f->p.cpu[i] = i;
		f->p.fd[i] = fd[0];
		f->to[i] = fd[1];
	}
}

static void fake_count(struct fake *f, int cpu, uint64_t n, uint64_t enabled, uint64_t running)
{
	uint64_t v[3] = {n, enabled, running};
	assert_int_equal(write(f->to[cpu], v, sizeof(v)), sizeof(v));
}

static void fake_end(struct fake *f)
{
	cpu_perf_close(&f->p);
	close(f->to[0]);
	close(f->to[1]);
}

static void test_made_up_counters(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free struct fake *f = calloc(1, sizeof(*f));
	struct cpu_meter *m;
	struct cpu_reading a, b;
	fake_begin(f);
	/* one for the trial, one each for two readings; the second CPU counts half of the time */
	for (int i = 0; i < 2; i++) {
		fake_count(f, 0, 1000, 10, 10);
		fake_count(f, 1, 500, 10, 5);
	}
	fake_count(f, 0, 1000 + 20000000, 10, 10);
	fake_count(f, 1, 500 + 2000000, 10, 5);
	assert_int_equal(cpu_meter_create(-1, &f->p, &m, &e), 0);
	assert_int_equal(cpu_meter_read(m, &a, &e), 0);
	assert_string_equal(a.source, "perf");
	assert_int_equal(a.cpus, 2);
	/* time has to pass: no CPU is busier than the clock */
	double until = monotonic_seconds() + 0.02;
	while (monotonic_seconds() < until) {
	}
	double first = a.busy;
	assert_int_equal(cpu_meter_read(m, &b, &e), 0);
	near(b.busy - first, (20000000 + 2 * 2000000) * 0.5e-9, 1e-6);
	assert_true(b.resolution > 0 && b.resolution < 1e-3);
	close(f->to[0]);
	f->to[0] = open("/dev/null", O_WRONLY);
	assert_true(cpu_meter_read(m, &b, &e) < 0);
	cpu_meter_destroy(m);
	fake_end(f);
}

/* An event that every kernel counts, here on every CPU: all of the time, idle or not. */
static void test_software_event(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free struct cpu_perf *p = calloc(1, sizeof(*p));
	struct cpu_meter *m;
	struct cpu_reading r;
	if (cpu_perf_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1e-9, p, &e) < 0) {
		print_message("%s\n", e.text);
		skip();
	}
	assert_int_equal(cpu_meter_create(-1, p, &m, &e), 0);
	assert_int_equal(cpu_meter_read(m, &r, &e), 0);
	double t = r.t, busy = r.busy;
	usleep(50000);
	assert_int_equal(cpu_meter_read(m, &r, &e), 0);
	assert_string_equal(r.source, "perf");
	assert_int_equal(r.cpus, p->n);
	near((r.busy - busy) / (r.cpus * (r.t - t)), 1, 0.2);
	cpu_meter_destroy(m);
	cpu_perf_close(p);
}

/* This machine's own monitor: it counts, or a sentence says why not. */
static void test_hardware(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free struct cpu_perf *p = calloc(1, sizeof(*p));
	int r = cpu_perf_open_hardware(&(struct sysroot){.prefix = ""}, p, &e);
	assert_true(r == 0 ? p->n > 0 && p->seconds > 1e-11 && p->seconds < 1e-8
			   : p->n == 0 && strstr(e.text, "no performance monitor"));
	/* a hardware event that is not there */
	r = cpu_perf_open(PERF_TYPE_HARDWARE, 1000, 0, p, &e);
	assert_true(r < 0 && p->n == 0 && strstr(e.text, "no performance monitor"));
	cpu_perf_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy),
		cmocka_unit_test(test_no_energy),
		cmocka_unit_test(test_renumber),
		cmocka_unit_test(test_refused_in_a_virtual_machine),
		cmocka_unit_test(test_made_up_counters),
		cmocka_unit_test(test_software_event),
		cmocka_unit_test(test_hardware),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
