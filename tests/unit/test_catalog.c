/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The catalogue's columns of privilege: the kernel's lock, and the capabilities of an entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "tunable.h"
#include <cmocka.h>
#include <linux/capability.h>
#include <string.h>

/* What all namespaces share is under the kernel's lock, and nothing else is; who may set something
 * needs the capabilities of what changes along with it, too. */
static void test_columns_of_privilege(void **state)
{
	const uint64_t admin = UINT64_C(1) << CAP_SYS_ADMIN, owner = UINT64_C(1)
								     << CAP_DAC_OVERRIDE;
	size_t n;
	struct setting s;
	const struct tunable *rows = tunable_catalog(&n);
	(void)state;
	for (size_t i = 0; i < n; i++) {
		static const char *const shared[] = {"vm.", "kernel.", "irq.", "msix.", "cpu."};
		bool wide = false;
		for (size_t k = 0; k < ARRAY_SIZE(shared); k++) {
			wide = wide || !strncmp(rows[i].name, shared[k], strlen(shared[k]));
		}
		assert_int_equal(rows[i].kernel_wide, wide);
		assert_true(rows[i].scope == SCOPE_HOST || !rows[i].capabilities);
	}
	assert_int_equal(tunable_resolve("kernel.numa_balancing", "", "", &s, NULL), 0);
	assert_true(tunable_capabilities(&s) == admin);
	assert_int_equal(tunable_resolve("net.ipv4.tcp_rmem", "", "", &s, NULL), 0);
	assert_true(tunable_capabilities(&s) == 0);
	assert_int_equal(tunable_resolve("msix.mode", "", "eth0", &s, NULL), 0);
	assert_true(tunable_capabilities(&s) == (admin | owner));
	assert_int_equal(tunable_resolve("nic.channels.rx", "", "eth0", &s, NULL), 0);
	assert_true(tunable_capabilities(&s) == owner); /* by way of irq.affinity and rps.cpus */
	assert_int_equal(tunable_resolve("irq.affinity", "", "eth0", &s, NULL), 0);
	assert_true(tunable_capabilities(&s) == (owner | UINT64_C(1) << CAP_KILL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_of_privilege),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
