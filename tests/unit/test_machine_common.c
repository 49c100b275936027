/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine block of a profile for several hosts: what they have in common, so that none of them
 * is another machine than it says.
 */
#include "cleanup.h"
#include "host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static json_t *machine(const char *kernel, const char *cpu, int nodes, const char *driver)
{
	json_t *j = json_pack("{s:s, s:s, s:i, s:[{s:s, s:s, s:s}, {s:s, s:s}]}", "kernel", kernel,
			      "cpu", cpu, "numa_nodes", nodes, "nics", "device", "eth0", "driver",
			      driver, "pci", "8086:1592", "device", "eth1", "driver", "igb");
	assert_non_null(j);
	return j;
}

static void assert_no_difference(const json_t *block, const json_t *host)
{
	auto_json json_t *words = host_differences(block, host);
	assert_int_equal(json_array_size(words), 0);
}

static void equals_lose_nothing(void **state)
{
	auto_json json_t *a = machine("6.1.0", "Xeon", 2, "ice"),
			 *b = machine("6.1.0", "Xeon", 2, "ice");
	auto_json json_t *block = host_machine(a), *before = json_deep_copy(block);
	(void)state;
	host_keep_common(block, b);
	assert_true(json_equal(block, before));
	assert_int_equal(json_array_size(json_object_get(block, "nics")), 2);
}

static void what_differs_is_left_out(void **state)
{
	auto_json json_t *a = machine("6.1.0", "Xeon", 2, "ice"),
			 *b = machine("6.1.0", "EPYC", 4, "mlx5_core");
	auto_json json_t *block = host_machine(a);
	(void)state;
	host_keep_common(block, b);
	assert_no_difference(block, a);
	assert_no_difference(block, b);
	assert_string_equal(json_string_value(json_object_get(block, "kernel")), "6.1.0");
	assert_null(json_object_get(block, "cpu"));
	assert_null(json_object_get(block, "numa_nodes"));
	json_t *nics = json_object_get(block, "nics");
	assert_int_equal(json_array_size(nics), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(nics, 0), "device")),
			    "eth1");
}

static void a_third_kind_is_still_another(void **state)
{
	auto_json json_t *a = machine("6.1.0", "Xeon", 2, "ice"),
			 *b = machine("6.1.0", "EPYC", 2, "ice"),
			 *c = machine("5.10.0", "EPYC", 2, "ice");
	auto_json json_t *block = host_machine(a);
	(void)state;
	host_keep_common(block, b);
	auto_json json_t *words = host_differences(block, c);
	assert_int_equal(json_array_size(words), 1);
	assert_non_null(strstr(json_string_value(json_array_get(words, 0)), "kernel"));
}

static void what_one_does_not_know_is_not_claimed(void **state)
{
	auto_json json_t *a = machine("6.1.0", "Xeon", 2, "ice"), *b = json_object();
	auto_json json_t *block = host_machine(a);
	(void)state;
	host_keep_common(block, b);
	assert_null(json_object_get(block, "kernel"));
	assert_int_equal(json_array_size(json_object_get(block, "nics")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_lose_nothing),
		cmocka_unit_test(what_differs_is_left_out),
		cmocka_unit_test(a_third_kind_is_still_another),
		cmocka_unit_test(what_one_does_not_know_is_not_claimed),
	};
	return cmocka_run_group_tests_name("machine in common", tests, NULL, NULL);
}
