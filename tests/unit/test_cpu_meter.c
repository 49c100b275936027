/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CPU meter: its parsers on recorded texts (tests/sysroot/cpu), and the totals over CPUs that
 * come and go. What it says of a known load is in test_cpu_burner.c.
 */
#include "cleanup.h"
#include "cpu_meter_private.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

/* Too large for the stack of a sanitizer build. */
static struct cpu_snapshot *snapshot_new(void)
{
	return calloc(1, sizeof(struct cpu_snapshot));
}

static char *text_load(const char *path)
{
	auto_fclose FILE *f = fopen(path, "r");
	char *text = calloc(1, 65536);
	assert_non_null(f);
	assert_true(fread(text, 1, 65535, f) > 0);
	return text;
}

static void test_timer_list(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free char *text = text_load("tests/sysroot/cpu/timer_list");
	auto_free struct cpu_snapshot *s = snapshot_new();
	assert_int_equal(cpu_timer_list_source.parse(text, s, &e), 0);
	assert_int_equal(s->cpus, 2);
	near(s->t, 1000.0, 1e-9);
	assert_true(isnan(s->total_idle));
	/* 700 + 0.25 s, and 0.5 s of the open period of a CPU whose tick is stopped */
	near(s->idle[0], 700.75, 1e-9);
	/* its idle period ended 78 ms ago: no tick is as long */
	near(s->idle[1], 603.0, 1e-9);
	near(s->resolution, 0, 1e-12);
	assert_false(s->listed[2]);
}

static const char one_cpu[] = "Timer List Version: v0.10\nnow at 50000000000 nsecs\n\ncpu: 3\n"
			      "  .tick_stopped   : 0\n"
			      "  .idle_entrytime : 49999000000 nsecs\n"
			      "  .idle_sleeptime : 10000000000 nsecs\n"
			      "  .iowait_sleeptime: 1000000000 nsecs\n%s";

static int parse_one(const char *tail, struct cpu_snapshot *s)
{
	char text[512];
	struct err e = {0};
	snprintf(text, sizeof(text), one_cpu, tail);
	return cpu_timer_list_source.parse(text, s, &e);
}

static void test_timer_list_open_period(void **state)
{
	(void)state;
	auto_free struct cpu_snapshot *s = snapshot_new();
	/* 1 ms after the last change, tick running, older than a second ago or not: the middle,
	 * and its half width as the error bar */
	assert_int_equal(parse_one("", s), 0);
	near(s->idle[3], 11.0005, 1e-9);
	near(s->resolution, 0.0005, 1e-9);
	/* a kernel that says it */
	assert_int_equal(parse_one("  .idle_active    : 1\n", s), 0);
	near(s->idle[3], 11.001, 1e-9);
	near(s->resolution, 0, 1e-12);
	assert_int_equal(parse_one("  .idle_active    : 0\n", s), 0);
	near(s->idle[3], 11.0, 1e-9);
	/* the entry may be later than the time stamp of the file */
	assert_int_equal(parse_one("  .idle_entrytime : 50000100000 nsecs\n", s), 0);
	near(s->idle[3], 11.0, 1e-9);
}

static void test_timer_list_bad(void **state)
{
	(void)state;
	auto_free struct cpu_snapshot *s = snapshot_new();
	static const char *const bad[] = {
		"",
		"garbage",
		"now at 12 nsecs\n",
		"cpu: 0\n  .idle_sleeptime : 1 nsecs\n",
		"now at 12 nsecs\ncpu: 0\n clock 0:\n",
		"now at 12 nsecs\ncpu: 1024\n  .tick_stopped : 0\n  .idle_entrytime : 1 nsecs\n"
		"  .idle_sleeptime : 1 nsecs\n  .iowait_sleeptime: 1 nsecs\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = {0};
		assert_true(cpu_timer_list_source.parse(bad[i], s, &e) < 0);
		assert_true(e.text[0] != '\0');
	}
	/* started with nohz=off: the counters stand still */
	assert_true(parse_one("  .nohz           : 0\n", s) < 0);
	assert_true(parse_one("  .nohz_mode      : 0\n", s) < 0);
	assert_int_equal(parse_one("  .nohz           : 1\n", s), 0);
}

static void test_many_cpus(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free struct cpu_snapshot *s = snapshot_new();
	auto_free char *text = malloc(CPU_METER_CPUS_MAX * 256);
	size_t n = (size_t)sprintf(text, "now at 100000000000 nsecs\n");
	for (int i = 0; i < CPU_METER_CPUS_MAX; i++) {
		n += (size_t)sprintf(text + n,
				     "cpu: %d\n  .tick_stopped : 1\n"
				     "  .idle_entrytime : 99000000000 nsecs\n"
				     "  .idle_sleeptime : %d nsecs\n  .iowait_sleeptime: 0 nsecs\n",
				     i, i);
	}
	assert_int_equal(cpu_timer_list_source.parse(text, s, &e), 0);
	assert_int_equal(s->cpus, CPU_METER_CPUS_MAX);
	near(s->idle[1023], 1.000001023, 1e-12);
	n = (size_t)sprintf(text, "cpu  1 1 1 100 1 0 0\n");
	for (int i = 0; i < CPU_METER_CPUS_MAX; i++) {
		n += (size_t)sprintf(text + n, "cpu%d 1 1 1 %d 1 0 0 0 0 0\n", i, i);
	}
	assert_int_equal(cpu_proc_stat_source.parse(text, s, &e), 0);
	assert_int_equal(s->cpus, CPU_METER_CPUS_MAX);
	sprintf(text + n, "cpu1024 1 1 1 1 1 0 0 0 0 0\n");
	assert_int_equal(cpu_proc_stat_source.parse(text, s, &e), -EOVERFLOW);
}

static void test_proc_stat(void **state)
{
	(void)state;
	struct err e = {0};
	auto_free char *text = text_load("tests/sysroot/cpu/stat");
	auto_free struct cpu_snapshot *s = snapshot_new();
	assert_int_equal(cpu_proc_stat_source.parse(text, s, &e), 0);
	assert_int_equal(s->cpus, 2);
	assert_true(isnan(s->t));
	/* idle and iowait; steal and guest are not idle */
	near(s->total_idle, 1377.32, 1e-9);
	near(s->idle[0], 695.96, 1e-9);
	near(s->idle[1], 681.35, 1e-9);
	near(s->resolution, 0.02, 1e-9);
	assert_true(cpu_proc_stat_source.parse("intr 1 2 3\n", s, &e) < 0);
	assert_true(cpu_proc_stat_source.parse("", s, &e) < 0);
	assert_true(cpu_proc_stat_source.parse("cpux 1 2 3 4 5\ncpu0 a b\n", s, &e) < 0);
}

static void add(struct cpu_totals *t, double now, double idle0, double idle1, double total)
{
	auto_free struct cpu_snapshot *s = snapshot_new();
	s->t = now;
	s->total_idle = total;
	s->listed[0] = true;
	s->idle[0] = idle0;
	s->listed[1] = isfinite(idle1);
	s->idle[1] = isfinite(idle1) ? idle1 : 0;
	s->cpus = 1 + s->listed[1];
	cpu_totals_add(t, s);
}

static void test_totals(void **state)
{
	(void)state;
	auto_free struct cpu_totals *t = calloc(1, sizeof(*t));
	add(t, 100, 50, 60, NAN);
	near(t->busy, 0, 0);
	add(t, 101, 50.25, 61, NAN);
	near(t->busy, 0.75, 1e-9);
	near(t->cpu[0].busy, 0.75, 1e-9);
	near(t->cpu[1].busy, 0, 1e-9);
	/* CPU 1 goes off, and comes back with a counter from 0 */
	add(t, 102, 50.25, NAN, NAN);
	near(t->busy, 1.75, 1e-9);
	add(t, 103, 50.25, 0, NAN);
	near(t->busy, 2.75, 1e-9);
	add(t, 104, 51.25, 0.5, NAN);
	near(t->busy, 3.25, 1e-9);
	/* off and on again between two readings */
	add(t, 105, 52.25, 0.1, NAN);
	near(t->busy, 3.25, 1e-9);
}

static void test_totals_sum_line(void **state)
{
	(void)state;
	auto_free struct cpu_totals *t = calloc(1, sizeof(*t));
	/* each line is cut by up to a tick; the line of the sum knows better */
	add(t, 100, 50.00, 60.00, 110.01);
	add(t, 101, 50.50, 60.50, 111.02);
	near(t->busy, 0.99, 1e-9);
	/* with another set of CPUs the sum jumps: the lines count */
	add(t, 102, 51.00, NAN, 51.00);
	near(t->busy, 1.49, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer_list),
		cmocka_unit_test(test_timer_list_open_period),
		cmocka_unit_test(test_timer_list_bad),
		cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_proc_stat),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_totals_sum_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
