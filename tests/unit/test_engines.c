/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Engines by name: each is found under its own, and a word that is none is answered with the
 * nearest and with all.
 */
#include "engine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"builtin", "netperf", "iperf3", "command", "simulated"};

static void each_is_found(void **state)
{
	struct err e = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct engine_ops *ops = engine_find(names[i], &e);
		assert_non_null(ops);
		assert_string_equal(ops->name, names[i]);
		assert_true(ops->create && ops->start && ops->poll && ops->stop && ops->destroy);
	}
}

static void another_word_is_answered(void **state)
{
	struct err e = {0};
	(void)state;
	assert_null(engine_find("iperf", &e));
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "did you mean 'iperf3'?"));
	assert_null(engine_find("xyzzy", &e));
	assert_null(strstr(e.text, "did you mean"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_non_null(strstr(e.text, names[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found),
		cmocka_unit_test(another_word_is_answered),
	};
	return cmocka_run_group_tests_name("engines", tests, NULL, NULL);
}
