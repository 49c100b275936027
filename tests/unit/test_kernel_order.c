/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Release order of kernels: whole lists that must stand as they are, each pair tried both ways.
 */
#include "cleanup.h"
#include "kernel_order.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_ascending(const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(kernel_compare(list[i], list[i]), 0);
		for (size_t j = i + 1; j < n; j++) {
			if (kernel_compare(list[i], list[j]) >= 0) {
				fail_msg("%s is not before %s", list[i], list[j]);
			}
			if (kernel_compare(list[j], list[i]) <= 0) {
				fail_msg("%s is not after %s", list[j], list[i]);
			}
		}
	}
}

static void published_timeline(void **state)
{
	(void)state;
	static const char *const list[] = {
		"2.6.9-11.ELsmp",  "2.6.11",	 "2.6.12-rc1", "2.6.12-rc2", "2.6.12-rc3",
		"2.6.12-rc4",	   "2.6.12-rc5", "2.6.12-rc6", "2.6.12",     "2.6.12.5",
		"2.6.12.5-lustre", "2.6.13-rc3", "2.6.13.2",   "2.6.14-rc3", "2.6.14-rc4",
		"2.6.15",	   "2.6.16-rc5"};
	assert_ascending(list, ARRAY_SIZE(list));
}

static void of_today(void **state)
{
	(void)state;
	static const char *const list[] = {"2.4.0-test9",
					   "2.4.0-test10",
					   "2.4.0-pre1",
					   "2.4.0",
					   "2.4.9",
					   "2.4.10",
					   "5.10.0-8-amd64",
					   "5.10.0-28-amd64",
					   "5.15.0-91-generic",
					   "5.15.0-1055-azure",
					   "6.0.19",
					   "6.1-rc1",
					   "6.1.0-rc2",
					   "6.1.0-rc10",
					   "6.1.0-rc10+",
					   "6.1.0-rc10-next-20221201",
					   "6.1",
					   "6.1.0-18-amd64",
					   "6.1.2",
					   "6.1.10",
					   "6.1.10-custom",
					   "6.1.11",
					   "6.17.0",
					   "6.17.0-00007-gabcdef",
					   "6.17.0-00123-g012345",
					   "6.18.0-rc1",
					   "6.18.0"};
	assert_ascending(list, ARRAY_SIZE(list));
}

static void the_four_steps(void **state)
{
	(void)state;
	static const char *const list[] = {"2.6.12-rc6", "2.6.12", "2.6.12.1", "2.6.12.10",
					   "2.6.12-lustre"};
	assert_ascending(list, ARRAY_SIZE(list));
}

static void other_versions(void **state)
{
	(void)state;
	static const char *const drivers[] = {"svn3513", "svn3627", "svn12000"};
	static const char *const firmware[] = {"4.7.0", "4.10.0", "4.10.12"};
	static const char *const odd[] = {
		"", "0", "00012345678901234567890", "99945678901234567890", "-", "unknown"};
	assert_ascending(drivers, ARRAY_SIZE(drivers));
	assert_ascending(firmware, ARRAY_SIZE(firmware));
	assert_ascending(odd, 2);
	assert_true(kernel_compare(odd[2], odd[3]) < 0);
	assert_true(kernel_compare(odd[4], odd[5]) != 0);
	assert_true(kernel_compare("6.1", "6.1.0") != 0);
	assert_true(kernel_compare("6.1", "6.1.0") * kernel_compare("6.1.0", "6.1") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_timeline),
		cmocka_unit_test(of_today),
		cmocka_unit_test(the_four_steps),
		cmocka_unit_test(other_versions),
	};
	return cmocka_run_group_tests_name("kernel_order", tests, NULL, NULL);
}
