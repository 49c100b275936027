/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine that was suspended and a clock that was set, within a sample: the linker puts this
 * file's clock_gettime in place of the real one (--wrap), for the engine and for the endpoints.
 */
#include "builtin_fixture.h"
#include <stdatomic.h>
#include <sys/mman.h>

struct steps { /* s, shared with the endpoints' processes */
	atomic_int boot, real;
};

static struct steps *steps;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int r = __real_clock_gettime(clock, ts);
	if (steps && clock == CLOCK_BOOTTIME) {
		ts->tv_sec += atomic_load(&steps->boot);
	} else if (steps && clock == CLOCK_REALTIME) {
		ts->tv_sec += atomic_load(&steps->real);
	}
	return r;
}

static int steps_make(void **state)
{
	(void)state;
	steps = mmap(NULL, sizeof(*steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return steps == MAP_FAILED;
}

/* A sample in whose midst `what` steps by so many seconds. */
static int run_with_step(struct fixture *f, atomic_int *what, int by, struct sample *s,
			 struct err *e)
{
	struct engine_run run = {.number = 1, .duration = 0.2};
	int ms, r = engine_builtin.start(f->state, &run, e);
	sample_init(s);
	for (int i = 0; r == 0; i++) {
		struct timespec ts = {0, 20000000};
		nanosleep(&ts, NULL);
		if (i == 1) {
			atomic_fetch_add(what, by);
		}
		r = engine_builtin.poll(f->state, s, &ms, e);
	}
	engine_builtin.stop(f->state);
	return r;
}

static void test_suspended(void **state)
{
	(void)state;
	struct fixture f;
	struct sample s;
	struct err e = {0};
	fixture_begin(&f, "tcp_stream", false, 1);
	f.spec.test.no_warmup = true;
	assert_int_equal(run_with_step(&f, &steps->boot, 5, &s, &e), -EIO);
	assert_non_null(strstr(e.text, "sender: its machine was suspended for 5.0 s"));
	assert_false(s.ok);
	/* what was before a sample is none of its concern */
	assert_int_equal(run_with_step(&f, &steps->boot, 0, &s, &e), 1);
	assert_true(s.ok);
	sample_clear(&s);
	fixture_end(&f);
}

static void test_clock_is_set(void **state)
{
	(void)state;
	static const int by[] = {3600, -86400};
	struct fixture f;
	struct err e = {0};
	fixture_begin(&f, "tcp_stream", false, 1);
	f.spec.test.no_warmup = true;
	for (int i = 0; i < 2; i++) {
		struct sample s;
		if (run_with_step(&f, &steps->real, by[i], &s, &e) != 1) {
			fail_msg("%s", e.text);
		}
		assert_true(s.ok && s.m[METRIC_THROUGHPUT] > 1e6);
		assert_true(s.m[METRIC_SECONDS] > 0.15 && s.m[METRIC_SECONDS] < 60);
		assert_true(s.warmup >= 0 && s.warmup < 60);
		sample_clear(&s);
	}
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_clock_is_set),
	};
	return cmocka_run_group_tests(tests, steps_make, NULL);
}
