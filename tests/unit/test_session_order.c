/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of the writes of one call, and which of them are looked at again, by the catalogue
 * alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "session_private.h"
#include <cmocka.h>
#include <string.h>

#define CHANGES_MAX 4

static struct tracked tracked[CHANGES_MAX];
static struct change changes[CHANGES_MAX];
static struct plan plan;

static void add(const char *name, const char *device, const char *before, const char *want)
{
	struct change *c = &changes[plan.n];
	struct err e = {0};
	memset(c, 0, sizeof(*c));
	c->t = &tracked[plan.n++];
	if (tunable_resolve(name, "", device, &c->t->setting, &e)) {
		fail_msg("%s", e.text);
	}
	strcpy(c->before, before);
	strcpy(c->after, before);
	strcpy(c->want, want);
}

static int begin(void **state)
{
	(void)state;
	plan = (struct plan){.changes = changes};
	return 0;
}

static const char *name_at(size_t i)
{
	return changes[i].t->setting.name;
}

static void test_what_changes_others_goes_first(void **state)
{
	(void)state;
	add("qdisc.root.limit", "eth0", "0", "500");
	add("nic.rss_queues", "eth0", "8", "4");
	add("qdisc.root", "eth0", "noqueue", "fq");
	add("nic.channels.combined", "eth0", "4", "8");
	session_order(&plan);
	size_t at[4] = {0};
	for (size_t i = 0; i < plan.n; i++) {
		at[0] = !strcmp(name_at(i), "qdisc.root") ? i : at[0];
		at[1] = !strcmp(name_at(i), "qdisc.root.limit") ? i : at[1];
		at[2] = !strcmp(name_at(i), "nic.channels.combined") ? i : at[2];
		at[3] = !strcmp(name_at(i), "nic.rss_queues") ? i : at[3];
	}
	assert_true(at[0] < at[1]);
	assert_true(at[2] < at[3]);
	assert_false(changes[at[0]].looks);
	assert_true(changes[at[1]].looks);
}

/* The RSS table is as wanted now, and will not be when the channels have changed. */
static void test_what_changes_along_is_looked_at(void **state)
{
	(void)state;
	add("nic.channels.combined", "eth0", "4", "8");
	add("nic.rss_queues", "eth0", "4", "4");
	session_order(&plan);
	assert_true(changes[0].write);
	assert_true(changes[1].write);
	assert_true(changes[1].looks);
}

static void test_nothing_is_looked_at_when_nothing_changes(void **state)
{
	(void)state;
	add("nic.channels.combined", "eth0", "8", "8");
	add("nic.rss_queues", "eth0", "4", "4");
	session_order(&plan);
	assert_false(changes[0].write || changes[0].looks);
	assert_false(changes[1].write || changes[1].looks);
}

static void test_another_device_is_another_matter(void **state)
{
	(void)state;
	add("nic.rss_queues", "eth1", "4", "4");
	add("nic.channels.combined", "eth0", "4", "8");
	session_order(&plan);
	assert_string_equal(name_at(0), "nic.rss_queues");
	assert_false(changes[0].write);
}

/* Features need each other both ways: their order is the user's, and both are looked at. */
static void test_features_keep_their_order(void **state)
{
	(void)state;
	add("nic.features.tso", "eth0", "0", "1");
	add("nic.features.sg", "eth0", "0", "1");
	session_order(&plan);
	assert_string_equal(name_at(0), "nic.features.tso");
	assert_true(changes[0].looks && changes[1].looks);
}

static void test_plain_values_cost_no_look(void **state)
{
	(void)state;
	add("net.ipv4.tcp_base_mss", "", "1024", "1200");
	add("net.core.somaxconn", "", "4096", "4096");
	add("net.ipv4.tcp_rmem", "", "4096 131072 6291456", "4096\t131072\t6291456");
	session_order(&plan);
	assert_true(changes[0].write && !changes[0].looks);
	assert_false(changes[1].write);
	assert_false(changes[2].write); /* the same numbers */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_changes_others_goes_first, begin),
		cmocka_unit_test_setup(test_what_changes_along_is_looked_at, begin),
		cmocka_unit_test_setup(test_nothing_is_looked_at_when_nothing_changes, begin),
		cmocka_unit_test_setup(test_another_device_is_another_matter, begin),
		cmocka_unit_test_setup(test_features_keep_their_order, begin),
		cmocka_unit_test_setup(test_plain_values_cost_no_look, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
