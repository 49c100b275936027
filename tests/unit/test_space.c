/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spaces against a table that stands for the hosts: ranges and choices asked, fields that keep
 * their order, what is refused, and for random spaces that encoding and decoding undo each other.
 */
#include "cleanup.h"
#include "space.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct answer { /* what the fake host says */
	const char *name, *field;
	bool settable;
	int64_t present, min, max;
	const char *word; /* a text: present value; its choices are cubic, reno, bbr */
};

static const struct answer answers[] = {
	{"net.ipv4.tcp_rmem", "min", true, 4096, 1, INT32_MAX, NULL},
	{"net.ipv4.tcp_rmem", "default", true, 131072, 1, INT32_MAX, NULL},
	{"net.ipv4.tcp_rmem", "max", true, 6291456, 1, INT32_MAX, NULL},
	{"net.ipv4.tcp_congestion_control", "", true, 0, 0, 0, "cubic"},
	{"net.core.somaxconn", "", true, 4096, 0, 65535, NULL},
	{"net.core.netdev_max_backlog", "", false, 0, 0, 0, NULL},
	{"net.ipv4.tcp_slow_start_after_idle", "", true, 1, 0, 1, NULL},
};

static int fake_probe(void *ctx, int host, const struct setting *s, const char *field,
		      struct tunable_range *out, struct err *e)
{
	(void)ctx;
	(void)host;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		const struct answer *a = &answers[i];
		if (strcmp(a->name, s->name) || strcmp(a->field, field)) {
			continue;
		}
		*out = (struct tunable_range){.settable = a->settable,
					      .present = value_int(a->present),
					      .min = a->min,
					      .max = a->max};
		strcpy(out->why_not, "not in this network namespace");
		if (a->word) {
			out->present = value_text(a->word);
			out->n_choices = 3;
			strcpy(out->choices[0], "cubic");
			strcpy(out->choices[1], "reno");
			strcpy(out->choices[2], "bbr");
		} else if (s->tunable->type == VALUE_BOOL) {
			out->present = value_bool(a->present != 0);
		}
		return 0;
	}
	return err_set(e, -ENOENT, "the fake host does not know %s", s->name);
}

static const struct space_source fake = {.probe = fake_probe};

static struct spec *parse(const char *text)
{
	struct spec *s = NULL;
	struct err e;
	if (spec_parse("s.yaml", text, strlen(text), &s, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

#define HOSTS                                                                                      \
	"tunesweep: 1\nhosts: {a: {via: lab}, b: {via: lab}}\ntest: {engine: builtin}\n"           \
	"tunables:\n"
#define PARAMS "tunesweep: 1\ntest: {engine: simulated, surface: flat}\ntunables:\n"

static struct space *make(struct spec *spec, json_t **notes)
{
	struct space *s = NULL;
	struct err e;
	if (space_create(spec, &fake, &s, notes, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

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

static void values_go_out_and_come_back(void **state)
{
	(void)state;
	struct spec *spec = parse(
		HOSTS "  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [1MiB, 64MiB]}\n"
		      "  - {set: net.ipv4.tcp_slow_start_after_idle, host: a}\n");
	struct space *s = make(spec, NULL);
	struct configuration c, d;
	struct err e;
	double u[2] = {0.3, 0.9};
	space_decode(s, u, &c);
	auto_json json_t *j = space_values(s, &c);
	assert_true(json_is_integer(json_object_get(j, "net.ipv4.tcp_rmem.max@b")));
	assert_true(json_is_true(json_object_get(j, "net.ipv4.tcp_slow_start_after_idle@a")));
	assert_int_equal(space_values_parse(s, j, &d, &e), 0);
	assert_true(configuration_equal(&c, &d));
	json_object_set_new(j, "net.ipv4.tcp_rmem.max@b", json_string("big"));
	assert_int_equal(space_values_parse(s, j, &d, &e), -EINVAL);
	json_object_set_new(j, "net.ipv4.tcp_rmem.max@b", json_integer(1 << 20));
	json_object_set_new(j, "other", json_integer(1));
	assert_int_equal(space_values_parse(s, j, &d, &e), -EINVAL);
	json_object_del(j, "other");
	json_object_del(j, "net.ipv4.tcp_slow_start_after_idle@a");
	assert_int_equal(space_values_parse(s, j, &d, &e), -EINVAL);
	space_destroy(s);
	spec_free(spec);
}

/* One random parameter as YAML. */
static void random_param(struct stats_rng *r, int i, char *buf, size_t size)
{
	double lo = exp(12 * stats_rng_uniform(r)), hi = lo * exp(8 * stats_rng_uniform(r));
	switch ((int)(6 * stats_rng_uniform(r))) {
	case 0:
		snprintf(buf, size, "  - {set: param.p%d, choices: [a, b, c, d, e]}\n", i);
		break;
	case 1:
		snprintf(buf, size, "  - {set: param.p%d, choices: [off, on]}\n", i);
		break;
	case 2:
		snprintf(buf, size, "  - {set: param.p%d, range: [%.0f, %.0f], scale: log}\n", i,
			 lo, hi);
		break;
	case 3:
		snprintf(buf, size, "  - {set: param.p%d, range: [-%.0f, %.0f]}\n", i, lo, hi);
		break;
	case 4:
		snprintf(buf, size,
			 "  - {set: param.p%d, range: [%.7f, %.7f], scale: log, type: float}\n", i,
			 lo / 1000, hi / 1000);
		break;
	default:
		snprintf(buf, size, "  - {set: param.p%d, range: [-%.5f, %.5f], type: float}\n", i,
			 lo, hi);
	}
}

static void round_trip(const struct space *s, struct stats_rng *rng)
{
	double u[SPEC_TUNABLES_MAX], canonical[SPEC_TUNABLES_MAX], again[SPEC_TUNABLES_MAX];
	struct configuration c, d;
	for (size_t i = 0; i < s->n; i++) {
		u[i] = 1.2 * stats_rng_uniform(rng) - 0.1; /* also beyond the cube */
	}
	space_decode(s, u, &c);
	space_encode(s, &c, canonical);
	space_decode(s, canonical, &d);
	space_encode(s, &d, again);
	assert_true(configuration_equal(&c, &d));
	assert_memory_equal(canonical, again, s->n * sizeof(double));
	for (size_t i = 0; i < s->n; i++) {
		assert_true(canonical[i] >= 0 && canonical[i] <= 1);
	}
}

static void encoding_and_decoding_undo_each_other(void **state)
{
	(void)state;
	struct stats_rng rng;
	stats_rng_seed(&rng, 11);
	for (int k = 0; k < 60; k++) {
		char text[8192] = PARAMS;
		int n = k == 0 ? 60 : 1 + (int)(12 * stats_rng_uniform(&rng));
		for (int i = 0; i < n; i++) {
			size_t used = strlen(text);
			random_param(&rng, i, text + used, sizeof(text) - used);
		}
		struct spec *spec = parse(text);
		struct space *s = make(spec, NULL);
		for (int i = 0; i < 300; i++) {
			round_trip(s, &rng);
		}
		space_destroy(s);
		spec_free(spec);
	}
}

static void coupled_fields_undo_each_other_too(void **state)
{
	(void)state;
	static const char *const shapes[] = {
		"  - {set: net.ipv4.tcp_rmem, field: FIELD, host: b, range: [4KiB, 16MiB], scale: "
		"log}\n",
		"  - {set: net.ipv4.tcp_rmem, field: FIELD, host: b, range: [4KiB, 16MiB]}\n",
	};
	static const char *const fields[] = {"max", "min", "default"};
	struct stats_rng rng;
	stats_rng_seed(&rng, 12);
	for (unsigned k = 0; k < 8; k++) {
		char text[2048] = HOSTS;
		for (unsigned i = 0; i < 3; i++) {
			const char *shape = shapes[k >> i & 1], *at = strstr(shape, "FIELD");
			size_t used = strlen(text);
			snprintf(text + used, sizeof(text) - used, "%.*s%s%s", (int)(at - shape),
				 shape, fields[i], at + 5);
		}
		struct spec *spec = parse(text);
		struct space *s = make(spec, NULL);
		for (int i = 0; i < 3000; i++) {
			round_trip(s, &rng);
		}
		space_destroy(s);
		spec_free(spec);
	}
}

/* What a search is told of levels holds: a cell is one configuration. */
static void a_cell_is_one_configuration(void **state)
{
	(void)state;
	struct spec *spec = parse(
		HOSTS "  - {set: net.ipv4.tcp_rmem, field: default, host: b, range: [16KiB, 4MiB], "
		      "scale: log}\n"
		      "  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [1MiB, 64MiB], "
		      "scale: log}\n"
		      "  - {set: net.ipv4.tcp_congestion_control, host: a, choices: available}\n");
	struct space *s = make(spec, NULL);
	struct search_dim dims[3];
	struct stats_rng rng;
	space_describe(s, dims);
	stats_rng_seed(&rng, 13);
	for (int k = 0; k < 5000; k++) {
		double u[3], v[3];
		struct configuration c, d;
		for (int i = 0; i < 3; i++) {
			int cell = (int)(stats_rng_uniform(&rng) * dims[i].levels);
			u[i] = (cell + 0.999 * stats_rng_uniform(&rng)) / dims[i].levels;
			v[i] = (cell + 0.5) / dims[i].levels;
		}
		space_decode(s, u, &c);
		space_decode(s, v, &d);
		assert_true(configuration_equal(&c, &d));
	}
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
		cmocka_unit_test(values_go_out_and_come_back),
		cmocka_unit_test(encoding_and_decoding_undo_each_other),
		cmocka_unit_test(coupled_fields_undo_each_other_too),
		cmocka_unit_test(a_cell_is_one_configuration),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
