/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between points and configurations: for random spaces encoding and decoding undo each other, and
 * values come back from JSON.
 */
#include "space_fixture.h"
#include "stats.h"
#include <math.h>

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
		cmocka_unit_test(values_go_out_and_come_back),
		cmocka_unit_test(encoding_and_decoding_undo_each_other),
		cmocka_unit_test(coupled_fields_undo_each_other_too),
		cmocka_unit_test(a_cell_is_one_configuration),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
