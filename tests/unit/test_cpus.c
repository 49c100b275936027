/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of CPUs: lists and masks of any length are compared as sets, and what is
 * neither is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cpus.h"
#include <cmocka.h>
#include <errno.h>
#include <string.h>

static cpu_set_t list(const char *text)
{
	struct err e = {0};
	cpu_set_t set;
	assert_int_equal(cpus_parse_list(text, &set, &e), 0);
	return set;
}

static cpu_set_t mask(const char *text)
{
	struct err e = {0};
	cpu_set_t set;
	assert_int_equal(cpus_parse_mask(text, &set, &e), 0);
	return set;
}

static void assert_same(cpu_set_t a, cpu_set_t b)
{
	assert_true(CPU_EQUAL(&a, &b));
}

static void test_spellings(void **state)
{
	(void)state;
	assert_same(list("0-3"), list("3,2,1,0"));
	assert_same(list("0-3"), mask("f"));
	assert_same(list("0-3"), mask("00000000,00000000,0000000F"));
	assert_same(list("32"), mask("1,00000000"));
	assert_same(list("64-127"), mask("ffffffff,ffffffff,00000000,00000000"));
	assert_same(list(""), mask("0"));
	assert_int_equal(cpus_first(&(cpu_set_t){0}), -1);
}

static void test_refused(void **state)
{
	static const char *const lists[] = {"a",  "1-",	 "-1",	"3-1",	"1,,2",
					    "1,", "0x1", "1 2", "1024", "99999999999999999999"};
	struct err e = {0};
	cpu_set_t set;
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		assert_int_equal(cpus_parse_list(lists[i], &set, &e), -EINVAL);
		assert_int_equal(e.class, ERR_USAGE);
	}
	assert_int_equal(cpus_parse_mask("g", &set, &e), -EINVAL);
	assert_int_equal(cpus_parse_mask("f ", &set, &e), -EINVAL);
}

static void test_format(void **state)
{
	char text[512];
	cpu_set_t set = list("0,2-5,127");
	(void)state;
	assert_int_equal(cpus_format_list(&set, text, sizeof(text)), 0);
	assert_string_equal(text, "0,2-5,127");
	assert_int_equal(cpus_format_mask(&set, text, sizeof(text)), 0);
	assert_string_equal(text, "80000000,00000000,00000000,0000003d");
	assert_int_equal(cpus_format_list(&set, text, 5), -ENAMETOOLONG);
	assert_int_equal(cpus_format_mask(&set, text, 12), -ENAMETOOLONG);
	CPU_ZERO(&set);
	assert_int_equal(cpus_format_list(&set, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(cpus_format_mask(&set, text, sizeof(text)), 0);
	assert_string_equal(text, "0");
}

/* Every set comes back from both spellings. */
static void test_there_and_back(void **state)
{
	uint64_t x = 88172645463325252u;
	(void)state;
	for (int round = 0; round < 200; round++) {
		char text[8192];
		cpu_set_t set;
		CPU_ZERO(&set);
		for (int i = 0; i < CPU_SETSIZE; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			if (x % 8 < (uint64_t)round % 8) {
				CPU_SET(i, &set);
			}
		}
		assert_int_equal(cpus_format_list(&set, text, sizeof(text)), 0);
		assert_same(list(text), set);
		assert_int_equal(cpus_format_mask(&set, text, sizeof(text)), 0);
		assert_same(mask(text), set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_there_and_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
