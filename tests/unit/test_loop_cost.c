/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trial costs is part of what is tried next: a sweep goes back and forth less over a setting
 * that takes the link down for seconds than over one that is a system call. The loop's own cost
 * function, driven by whole sweeps over one and the same surface.
 */
#include "loop.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct counted { /* an engine, and how often the device's setting changed from sample to sample */
	int samples, changes;
	int64_t device, last;
	double other;
};

static int start(void *state, const struct engine_run *run, struct err *e)
{
	struct counted *c = state;
	(void)e;
	c->device = run->config->v[0].i;
	c->other = log2((double)run->config->v[1].i);
	return 0;
}

static int answer(void *state, struct sample *out, int *ms, struct err *e)
{
	struct counted *c = state;
	double x = ((double)c->device - 4500) / 3000, y = (c->other - 24) / 2;
	(void)ms;
	(void)e;
	c->changes += c->samples > 0 && c->device != c->last;
	c->last = c->device;
	out->ok = true;
	out->m[METRIC_THROUGHPUT] = 1e9 * exp(-0.1 * x * x - 0.1 * y * y) *
				    (1 + 0.01 * sin(12.9898 * ++c->samples));
	out->m[METRIC_SERVICE_DEMAND] = 1;
	return 1;
}

static void stop(void *state)
{
	(void)state;
}

static const struct engine_ops engine = {
	.name = "counted", .start = start, .poll = answer, .stop = stop};

static int probe(void *ctx, int host, const struct setting *s, const char *field,
		 struct tunable_range *out, struct err *e)
{
	(void)ctx;
	(void)host;
	(void)field;
	(void)e;
	*out = (struct tunable_range){
		.settable = true, .present = value_int(1500), .min = 1280, .max = 65536};
	if (strncmp(s->name, "net.", 4) == 0) {
		out->present = value_int(4 << 20);
		out->max = INT32_MAX;
	}
	return 0;
}

/* Changes of the setting of this name in 40 samples. */
static int changes_of(const char *setting, int seed)
{
	static const struct space_source source = {.probe = probe};
	char text[1024];
	struct spec *spec = NULL;
	struct space *space = NULL;
	struct counted c = {0};
	struct loop_result r;
	struct err e = {0};
	snprintf(text, sizeof(text),
		 "tunesweep: 1\nname: cost\nhosts: {a: {via: local}}\nallow: [disruptive]\n"
		 "test: {engine: simulated, surface: flat, duration: 50ms}\n"
		 "objective: {maximize: throughput}\ntunables:\n"
		 "  - {set: %s, host: a, device: eth0, range: [1500, 9000]}\n"
		 "  - {set: net.ipv4.tcp_rmem, field: max, host: a, range: [1MiB, 64MiB], scale: "
		 "log}\n"
		 "search: {samples: 40, seed: %d}\nproof: {pairs: 0}\n",
		 setting, seed);
	if (spec_parse("cost.yaml", text, strlen(text), &spec, &e) ||
	    space_create(spec, &source, &space, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	struct trial_env env = {.spec = spec,
				.space = space,
				.engine = &engine,
				.engine_state = &c,
				.interrupt_fd = -1,
				.deadline = INFINITY};
	struct loop_options o = {0};
	loop_result_init(&r);
	assert_int_equal(loop_run(&env, &o, &r, &e), 0);
	assert_true(r.has_best && r.samples <= 40);
	/* nothing was given up for it: the best is as near */
	assert_true(r.best_score > 0.93e9);
	loop_result_clear(&r);
	space_destroy(space);
	spec_free(spec);
	return c.changes;
}

static void what_takes_the_link_down_is_changed_less(void **state)
{
	(void)state;
	int dear = 0, cheap = 0;
	for (int seed = 1; seed <= 4; seed++) {
		dear += changes_of("link.mtu", seed);
		cheap += changes_of("link.txqueuelen", seed);
	}
	print_message("changes: %d where each takes 3 s, %d where it takes none\n", dear, cheap);
	assert_true(10 * dear < 9 * cheap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_takes_the_link_down_is_changed_less),
	};
	return cmocka_run_group_tests_name("loop's cost", tests, NULL, NULL);
}
