/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations as they are kept by the thousand: they come back whole, and are found by hash. */
#include "hash_index.h"
#include "packed.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct configuration of(struct value a, struct value b)
{
	struct configuration c = {.n = 2};
	c.v[0] = a;
	c.v[1] = b;
	return c;
}

static void values_come_back(void **state)
{
	(void)state;
	struct packed_texts texts = {0};
	struct configuration back, c = {.n = 6};
	c.v[0] = value_int(-(INT64_C(1) << 62));
	c.v[1] = value_real(0.1);
	c.v[2] = value_bool(true);
	c.v[3] = value_text("4096\t16384  65536");
	c.v[4] = (struct value){0};
	c.v[5] = value_text("");
	struct packed *p = packed_values(&texts, &c);
	assert_non_null(p);
	packed_unpack(p, &back);
	assert_int_equal(6, back.n);
	for (size_t i = 0; i < c.n; i++) {
		assert_int_equal(c.v[i].type, back.v[i].type);
		assert_int_equal(c.v[i].i, back.v[i].i);
		assert_true(c.v[i].r == back.v[i].r);
		assert_string_equal(c.v[i].text, back.v[i].text);
	}
	free(p);
	packed_texts_clear(&texts);
}

/* Each pair of values: packed ones are equal where plain ones are, and then have one hash. */
static void equal_ones_are_equal_and_have_one_hash(void **state)
{
	(void)state;
	const struct value v[] = {
		value_int(1),
		value_int(2),
		value_bool(true),
		value_real(1),
		value_real(0.0),
		value_real(-0.0),
		value_real(NAN),
		value_text("1"),
		value_text("one"),
		value_text(" one"),
		value_text("01"),
		value_text("one two"),
		value_text(""),
		value_text("4 16"),
		value_text("4\t16"),
		value_text("4 17"),
		{0},
		value_text("4  16 "),
		value_text("416"),
	};
	enum { N = sizeof(v) / sizeof(v[0]) };
	struct packed_texts texts = {0};
	int equal = 0;
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < N; k++) {
			struct configuration a = of(value_int(7), v[i]), b = of(value_int(7), v[k]);
			struct packed *p = packed_values(&texts, &a);
			assert_non_null(p);
			assert_int_equal(configuration_equal(&a, &b), packed_equal(p, &b));
			assert_int_equal(configuration_hash(&a), packed_hash(p));
			if (configuration_equal(&a, &b)) {
				equal++;
				assert_int_equal(configuration_hash(&b), packed_hash(p));
			}
			free(p);
		}
	}
	assert_true(equal > N); /* some are equal and yet not the same */
	packed_texts_clear(&texts);
}

static void a_text_is_kept_once(void **state)
{
	(void)state;
	struct packed_texts texts = {0};
	const char *first[300];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 300; i++) {
			char text[16];
			snprintf(text, sizeof(text), "0-%d", i);
			const char *kept = packed_text(&texts, text);
			assert_string_equal(text, kept);
			assert_true(round == 0 || kept == first[i]);
			first[i] = kept;
		}
	}
	packed_texts_clear(&texts);
}

static size_t hash_of(const void *items, size_t i)
{
	const size_t *hash = items;
	return hash[i];
}

/* Every item is among those that are offered for its hash, however many have the same. */
static void each_is_offered_for_its_hash(void **state)
{
	(void)state;
	enum { N = 1000 };
	static size_t hash[N];
	struct hash_index x = {0};
	size_t at = 3;
	assert_true(hash_index_next(&x, &at) == SIZE_MAX);
	for (size_t i = 0; i < N; i++) {
		hash[i] = i % 3 ? hash_mix(1, i) : 12345 + i % 9;
		assert_int_equal(0, hash_index_add(&x, hash_of, hash));
	}
	for (size_t i = 0; i < N; i++) {
		size_t k, n = 0;
		at = hash[i];
		while ((k = hash_index_next(&x, &at)) != i) {
			assert_true(k < N && ++n < N);
		}
	}
	hash_index_clear(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back),
		cmocka_unit_test(equal_ones_are_equal_and_have_one_hash),
		cmocka_unit_test(a_text_is_kept_once),
		cmocka_unit_test(each_is_offered_for_its_hash),
	};
	return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
