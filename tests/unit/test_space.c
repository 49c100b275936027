/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spaces against a table that stands for the hosts: ranges and choices asked, fields that keep
 * their order, what is refused.
 */
#include "space_fixture.h"
#include "stats.h"
#include <math.h>

static void refused(const char *tunable, enum err_class class, const char *part)
{
	char text[1024];
	struct space *s = NULL;
	struct err e = {.code = 0};
	snprintf(text, sizeof(text), HOSTS "%s", tunable);
	struct spec *spec = parse(text);
	assert_true(space_create(spec, &fake, &s, NULL, &e) < 0);
	assert_int_equal(e.class, class);
	if (!strstr(e.text, part) || strncmp(e.text, "s.yaml:5:", 9) != 0) {
		fail_msg("'%s' is not in '%s', or the place is not", part, e.text);
	}
	spec_free(spec);
}

static void what_the_host_cannot_is_refused_with_the_place(void **state)
{
	(void)state;
	refused("  - {set: net.core.netdev_max_backlog, host: b, range: [1, 2]}\n", ERR_SYSTEM,
		"host b: not in this network namespace");
	refused("  - {set: net.core.somaxconn, host: b, range: [1, 100000]}\n", ERR_USAGE,
		"takes 0 to 65535");
	refused("  - {set: net.core.somaxconn, host: b, range: auto, scale: log}\n", ERR_USAGE,
		"a log scale begins above 0");
	refused("  - {set: net.ipv4.tcp_congestion_control, host: a, choices: [cubic, bbr2]}\n",
		ERR_SYSTEM, "a has no 'bbr2' (it has cubic, reno, bbr)");
	refused("  - {set: net.ipv4.tcp_rmem, field: default, host: b, range: [8MiB, 9MiB]}\n",
		ERR_USAGE, "another field ends at 6291456");
}

static void the_host_is_asked_for_what_is_left_open(void **state)
{
	(void)state;
	json_t *notes = NULL;
	struct spec *spec = parse(
		HOSTS "  - {set: net.ipv4.tcp_congestion_control, host: a, choices: available}\n"
		      "  - {set: net.core.somaxconn, host: b, range: auto}\n"
		      "  - {set: net.core.netdev_max_backlog, host: b, range: [1, 9], optional: "
		      "true}\n"
		      "  - {set: net.ipv4.tcp_slow_start_after_idle, host: a}\n"
		      "  - {set: socket.send_buffer, choices: [0, 1MiB]}\n"
		      "  - {set: socket.message_size, range: [16KiB, 1MiB], scale: log}\n");
	struct space *s = make(spec, &notes);
	assert_int_equal(s->n, 5);
	assert_string_equal(s->dims[0].key, "net.ipv4.tcp_congestion_control@a");
	assert_int_equal(s->dims[0].n_choices, 3);
	assert_true(s->dims[1].lo == 0 && s->dims[1].hi == 65535);
	assert_int_equal(s->dims[1].levels, 65536);
	assert_int_equal(json_array_size(notes), 1);
	assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "is left out"));
	struct configuration c;
	assert_true(space_baseline(s, &c));
	assert_string_equal(c.v[0].text, "cubic");
	assert_int_equal(c.v[1].i, 4096);
	assert_int_equal(c.v[2].type, VALUE_BOOL);
	assert_int_equal(c.v[3].i, 0);
	assert_int_equal(c.v[4].i, 131072);
	auto_free char *text = space_text(s);
	assert_non_null(strstr(text, "socket.message_size  16KiB .. 1MiB log (97 values), now "));
	assert_non_null(strstr(text, "@a  cubic | reno | bbr, now cubic\n"));
	json_decref(notes);
	space_destroy(s);
	spec_free(spec);
}

/* Default and max of one sysctl: whatever the point, min <= default <= max, and all that is
 * allowed is reached. */
static void fields_keep_their_order(void **state)
{
	(void)state;
	struct spec *spec = parse(
		HOSTS
		"  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [1MiB, 64MiB], "
		"scale: log}\n"
		"  - {set: net.ipv4.tcp_rmem, field: default, host: b, range: [1KiB, 128MiB], "
		"scale: log}\n");
	json_t *notes = NULL;
	struct space *s = make(spec, &notes);
	assert_int_equal(s->dims[0].above, 1);
	assert_int_equal(s->dims[1].below, 0);
	assert_true(s->dims[1].lo == 4096); /* the present min */
	assert_true(s->dims[1].hi == 64 << 20);
	assert_int_equal(json_array_size(notes), 2); /* cut below, cut above */
	struct stats_rng rng;
	stats_rng_seed(&rng, 5);
	bool equal = false, top = false;
	for (int i = 0; i < 20000; i++) {
		double u[2] = {stats_rng_uniform(&rng), stats_rng_uniform(&rng)};
		struct configuration c;
		space_decode(s, u, &c);
		assert_true(c.v[1].i >= 4096 && c.v[1].i <= c.v[0].i);
		assert_true(c.v[0].i >= 1 << 20 && c.v[0].i <= 64 << 20);
		equal = equal || c.v[0].i == c.v[1].i;
		top = top || c.v[1].i == 64 << 20;
	}
	assert_true(equal && top);
	json_decref(notes);
	space_destroy(s);
	spec_free(spec);
}

static void a_field_that_is_not_searched_bounds_the_other(void **state)
{
	(void)state;
	struct spec *spec = parse(
		HOSTS "  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [4KiB, 64MiB]}\n");
	struct space *s = make(spec, NULL);
	assert_true(s->dims[0].lo == 131072); /* the present default */
	assert_int_equal(s->dims[0].above, -1);
	space_destroy(s);
	spec_free(spec);
	spec = parse(HOSTS
		     "  - {set: net.ipv4.tcp_rmem, field: default, host: b, range: [4KiB, 64MiB]}\n"
		     "  - {set: net.ipv4.tcp_rmem, field: max, host: b, choices: [1MiB, 8MiB]}\n");
	s = make(spec, NULL);
	assert_true(s->dims[0].hi == 1 << 20); /* the least of the choices */
	space_destroy(s);
	spec_free(spec);
}

static void ends_and_steps_are_exact(void **state)
{
	(void)state;
	struct spec *spec = parse(PARAMS
				  "  - {set: param.log, range: [3000, 100001], scale: log}\n"
				  "  - {set: param.step, range: [10, 35], step: 10}\n"
				  "  - {set: param.logstep, range: [4096, 65536], scale: log, "
				  "step: 4096}\n"
				  "  - {set: param.real, range: [0.1, 0.7], step: 0.1}\n"
				  "  - {set: param.small, range: [1, 8], scale: log}\n"
				  "  - {set: param.wide, range: [0, 1000000000000]}\n"
				  "  - {set: param.free, range: [-1.5, 2.5]}\n");
	struct space *s = make(spec, NULL);
	struct configuration lo, hi;
	double zeros[7] = {0}, ones[7] = {1, 1, 1, 1, 1, 1, 1};
	space_decode(s, zeros, &lo);
	space_decode(s, ones, &hi);
	assert_true(lo.v[0].i == 3000 && hi.v[0].i == 100001);
	assert_int_equal(s->dims[1].levels, 4); /* 10 20 30 35 */
	assert_true(lo.v[1].i == 10 && hi.v[1].i == 35);
	assert_int_equal(dimension_nearest(&s->dims[1], 33), 3);
	for (size_t k = 0; k < s->dims[2].levels; k++) {
		assert_int_equal((int64_t)dimension_value(&s->dims[2], k) % 4096, 0);
	}
	assert_int_equal(s->dims[2].levels, 16);
	assert_int_equal(s->dims[3].levels, 7);
	assert_true(hi.v[3].r == 0.7);
	assert_int_equal(s->dims[4].levels, 8); /* no integer twice */
	assert_true(hi.v[5].i == 1000000000000 && s->dims[5].levels < 2000000);
	assert_int_equal(s->dims[6].levels, 0);
	assert_true(lo.v[6].r == -1.5 && hi.v[6].r == 2.5);
	assert_true(isinf(space_size(s)));
	space_destroy(s);
	spec_free(spec);
}

static void one_point_is_a_space(void **state)
{
	(void)state;
	struct spec *spec = parse(PARAMS "  - {set: param.a, range: [7, 7]}\n"
					 "  - {set: param.b, choices: [x]}\n"
					 "  - {set: param.c, range: [2.5, 2.5], scale: log}\n");
	struct space *s = make(spec, NULL);
	struct configuration c;
	double u[3] = {0.9, 0.1, NAN}, back[3];
	space_decode(s, u, &c);
	assert_true(c.v[0].i == 7 && c.v[2].r == 2.5);
	assert_string_equal(c.v[1].text, "x");
	space_encode(s, &c, back);
	assert_true(back[0] == 0.5 && back[1] == 0.5 && back[2] == 0.5);
	assert_true(space_size(s) == 1);
	assert_false(space_baseline(s, &c));
	struct search_dim dims[3];
	space_describe(s, dims);
	assert_true(dims[0].levels == 1 && isnan(dims[0].start) && dims[1].category);
	space_destroy(s);
	spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_host_cannot_is_refused_with_the_place),
		cmocka_unit_test(the_host_is_asked_for_what_is_left_open),
		cmocka_unit_test(fields_keep_their_order),
		cmocka_unit_test(a_field_that_is_not_searched_bounds_the_other),
		cmocka_unit_test(ends_and_steps_are_exact),
		cmocka_unit_test(one_point_is_a_space),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
