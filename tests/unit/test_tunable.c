/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The catalogue, names, checks and the sysctl back end, against the recorded trees under
 * tests/sysroot: a host, and a network namespace of it.
 */
#include "cleanup.h"
#include "setting_fixture.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], host_prefix[96], netns_prefix[96];
static struct sysroot host, netns;

/* Copied, so that whoever runs the test may write there. */
static int setup(void **state)
{
	(void)state;
	char command[256];
	strcpy(folder, "/tmp/test-tunable-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	snprintf(host_prefix, sizeof(host_prefix), "%s/host", folder);
	snprintf(netns_prefix, sizeof(netns_prefix), "%s/netns", folder);
	host.prefix = host_prefix;
	netns.prefix = netns_prefix;
	snprintf(command, sizeof(command), "cp -r tests/sysroot/host tests/sysroot/netns %s/",
		 folder);
	return system(command);
}

static int teardown(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void assert_refused(const char *name, const char *field, const char *device,
			   const char *says)
{
	struct setting s;
	struct err e = {0};
	if (!tunable_resolve(name, field, device, &s, &e)) {
		fail_msg("'%s' was taken as %s", name, s.name);
	}
	assert_int_equal(e.class, ERR_USAGE);
	if (!strstr(e.text, says)) {
		fail_msg("'%s' does not say '%s'", e.text, says);
	}
}

static void test_catalog_is_sound(void **state)
{
	(void)state;
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	assert_true(n > 60);
	for (size_t i = 0; i < n; i++) {
		const struct tunable *t = &rows[i];
		assert_true(strlen(t->name) < TUNABLE_NAME_MAX);
		assert_non_null(t->help);
		assert_true(isupper((unsigned char)t->help[0]));
		assert_int_equal(t->help[strlen(t->help) - 1], '.');
		assert_true(t->min <= t->max);
		assert_true(t->type == VALUE_TEXT || t->type == VALUE_NONE || t->min < t->max);
		for (size_t f = 0; f < ARRAY_SIZE(t->fields) && t->fields[f]; f++) {
			assert_true(strlen(t->fields[f]) < TUNABLE_FIELD_MAX);
			assert_true(f < 3);
		}
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(t->name, rows[k].name);
		}
		if (!strchr(t->name, '*')) {
			struct setting s = setting_of(t->name, NULL);
			assert_ptr_equal(s.tunable, t);
			assert_string_equal(s.name, t->name);
		}
	}
}

static void test_names(void **state)
{
	(void)state;
	/* sysctl.d(5): the first separator decides, the other one is part of the name. */
	assert_string_equal(setting_of("net/ipv4/tcp_rmem", NULL).name, "net.ipv4.tcp_rmem");
	assert_string_equal(setting_of("net/ipv4/conf/eth0.100/rp_filter", NULL).name,
			    "net/ipv4/conf/eth0.100/rp_filter");
	assert_string_equal(setting_of("net.ipv4.conf.eth0/100.rp_filter", NULL).name,
			    "net/ipv4/conf/eth0.100/rp_filter");
	assert_string_equal(setting_of("net/ipv4/conf/eth0/rp_filter", NULL).name,
			    "net.ipv4.conf.eth0.rp_filter");
	assert_int_equal(setting_of("net/ipv4/conf/eth0.100/rp_filter", NULL).tunable->class,
			 CLASS_UNSAFE);
	assert_int_equal(setting_of("net.ipv4.conf.eth0.rp_filter", NULL).tunable->class,
			 CLASS_UNSAFE);
	assert_int_equal(setting_of("net.ipv4.tcp_nothing", NULL).tunable->class, CLASS_UNLISTED);
	assert_int_equal(setting_of("net.ipv4.conf.eth0.log_martians", NULL).tunable->class,
			 CLASS_UNLISTED);
	assert_int_equal(setting_of("param.wmem", NULL).tunable->scope, SCOPE_RUN);
	assert_string_equal(setting_of("param.a.b-c", NULL).name, "param.a.b-c");
	assert_int_equal(setting_of("socket.message_size", NULL).tunable->scope, SCOPE_RUN);
	assert_string_equal(tunable_near("net.ipv4.tcp_rmen"), "net.ipv4.tcp_rmem");

	assert_refused("net.ipv4.conf.eth0.100.rp_filter", "", "",
		       "'net/ipv4/conf/eth0.100/rp_filter'");
	assert_refused("net.ipv4.neigh.eth0.7.100.base_reachable_time", "", "",
		       "'net/ipv4/neigh/eth0.7.100/base_reachable_time'");
	assert_refused("net/../kernel/modprobe", "", "", "'..'");
	assert_refused("net/ipv4/./tcp_rmem", "", "", "'.'");
	assert_refused("net.ipv4.//.tcp_rmem", "", "", "'..'");
	assert_refused("net..ipv4", "", "", "empty part");
	assert_refused("net.ipv4.", "", "", "empty part");
	assert_refused(".net.ipv4.tcp_rmem", "", "", "empty part");
	assert_refused("/proc/sys/net/ipv4/tcp_rmem", "", "", "is a path");
	assert_refused("net.ipv4.tcp rmem", "", "", "character");
	assert_refused("net.ipv4.tcp\nrmem", "", "", "character");
	assert_refused("", "", "", "empty part");
	assert_refused("kernel.modprobe", "", "", "unknown tunable");
	assert_refused("kernel.numa_balancin", "", "", "did you mean 'kernel.numa_balancing'");
	assert_refused("socket.nodely", "", "", "did you mean 'socket.nodelay'");
	assert_refused("socket.*x", "", "", "may hold letters");
	assert_refused("param.", "", "", "unknown");
	assert_refused("param.a b", "", "", "may hold letters");
	assert_refused("net.ipv4.tcp_rmem", "maximum", "",
		       "net.ipv4.tcp_rmem has no field 'maximum' (allowed: min, default, max)");
	assert_refused("net.ipv4.tcp_rmen", "max", "",
		       "net.ipv4.tcp_rmen is not in the catalogue; did you mean "
		       "'net.ipv4.tcp_rmem'?");
	assert_refused("net.core.somaxconn", "max", "",
		       "net.core.somaxconn has no fields; leave 'field' out");
	assert_refused("net.ipv4.tcp_rmem", "max", "eth0", "net.ipv4.tcp_rmem takes no device");
	char name[300];
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_refused(name, "", "", "too long");
	memcpy(name, "param.", 6);
	assert_refused(name, "", "", "param.");
}

static int check(const char *name, const char *field, struct value v)
{
	struct setting s = setting_of(name, NULL);
	struct err e = {0};
	int r = tunable_check(&s, field, &v, &e);
	assert_true(!r || (e.class == ERR_USAGE && strstr(e.text, name)));
	return r;
}

static void test_checks(void **state)
{
	(void)state;
	struct setting s = setting_of("net.ipv4.tcp_rmem", NULL);
	struct value wrong = value_bool(true);
	struct err e = {0};
	assert_int_equal(tunable_check(&s, "max", &wrong, &e), -EINVAL);
	assert_string_equal(e.text, "net.ipv4.tcp_rmem.max wants an integer, not 'true'");
	assert_int_equal(check("net.ipv4.tcp_rmem", "max", value_int(INT_MAX)), 0);
	/* 2^31 would turn negative in the kernel's int. */
	assert_int_equal(check("net.ipv4.tcp_rmem", "max", value_int(2147483648)), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "max", value_int(0)), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "max", value_real(5)), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "max", value_text("5000")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_int(5000)), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("4096 131072 6291456")), 0);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("4096\t131072\t6291456")), 0);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("4096 131072")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("1 2 3 4")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("010 20 30")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("10 20 3000000000")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "", value_text("10 30 20")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_mem", "max", value_int(5000000000)), 0);
	assert_int_equal(check("net.ipv4.tcp_notsent_lowat", "", value_int(UINT_MAX)), 0);
	assert_int_equal(check("net.ipv4.tcp_notsent_lowat", "", value_int(4294967296)), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_adv_win_scale", "", value_int(-2)), 0);
	assert_int_equal(check("net.ipv4.tcp_moderate_rcvbuf", "", value_bool(false)), 0);
	assert_int_equal(check("net.ipv4.tcp_moderate_rcvbuf", "", value_int(1)), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_congestion_control", "", value_text("bbr")), 0);
	assert_int_equal(check("net.ipv4.tcp_congestion_control", "", value_text("")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_congestion_control", "", value_text("a b")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_congestion_control", "", value_text("a\nb")), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_unheard_of", "", value_int(-5)), 0);
	assert_int_equal(check("net.ipv4.tcp_unheard_of", "", value_text("1 2 3")), 0);
	assert_int_equal(check("net.ipv4.tcp_unheard_of", "", value_text("a\nb")), -EINVAL);
	assert_int_equal(check("param.x", "", value_real(0.5)), 0);
	assert_int_equal(check("param.x", "", (struct value){0}), -EINVAL);
	assert_int_equal(check("net.ipv4.tcp_rmem", "wrong", value_int(5)), -EINVAL);
}

static void test_fields(void **state)
{
	(void)state;
	struct setting rmem = setting_of("net.ipv4.tcp_rmem", NULL);
	struct setting flag = setting_of("net.ipv4.tcp_sack", NULL);
	struct setting other = setting_of("net.ipv4.tcp_unheard_of", NULL);
	struct err e = {0};
	struct value v;
	char text[64] = "4096\t131072\t6291456";
	assert_int_equal(setting_field(&rmem, "default", text, &v, &e), 0);
	assert_true(v.type == VALUE_INT && v.i == 131072);
	assert_int_equal(setting_field(&rmem, "", text, &v, &e), 0);
	assert_string_equal(v.text, "4096 131072 6291456");
	assert_int_equal(setting_field(&rmem, "max", "4096\t131072", &v, &e), -ENODATA);
	assert_int_equal(setting_field(&rmem, "max", "1 2 99999999999999999999", &v, &e), -ERANGE);
	assert_int_equal(setting_field(&rmem, "max", "1 2 x", &v, &e), -ERANGE);
	assert_int_equal(setting_field(&flag, "", "255", &v, &e), 0);
	assert_true(v.type == VALUE_BOOL && v.i == 1);
	assert_int_equal(setting_field(&other, "", "7", &v, &e), 0);
	assert_true(v.type == VALUE_INT && v.i == 7);
	assert_int_equal(setting_field(&other, "", "7 8", &v, &e), 0);
	assert_true(v.type == VALUE_TEXT);
	assert_int_equal(setting_field(&other, "", "word", &v, &e), 0);
	assert_true(v.type == VALUE_TEXT);

	v = value_int(70000);
	assert_int_equal(setting_replace(&rmem, "default", &v, text, sizeof(text), &e), 0);
	assert_string_equal(text, "4096 70000 6291456");
	v = value_int(1);
	assert_int_equal(setting_replace(&rmem, "min", &v, text, sizeof(text), &e), 0);
	assert_string_equal(text, "1 70000 6291456");
	v = value_text("7\t8\t9");
	assert_int_equal(setting_replace(&rmem, "", &v, text, sizeof(text), &e), 0);
	assert_string_equal(text, "7 8 9");
	v = value_bool(true);
	assert_int_equal(setting_replace(&flag, "", &v, text, sizeof(text), &e), 0);
	assert_string_equal(text, "1");
	v = value_int(5);
	assert_int_equal(setting_replace(&rmem, "max", &v, text, sizeof(text), &e), -ENODATA);
	v = (struct value){0};
	assert_int_equal(setting_replace(&flag, "", &v, text, sizeof(text), &e), -EINVAL);
	v = value_text("123456789");
	assert_int_equal(setting_replace(&other, "", &v, text, 5, &e), -ENAMETOOLONG);

	char key[128];
	assert_string_equal(setting_key(&rmem, "max", "receiver", key, sizeof(key)),
			    "net.ipv4.tcp_rmem.max@receiver");
	assert_string_equal(setting_key(&rmem, "", NULL, key, sizeof(key)), "net.ipv4.tcp_rmem");
	assert_true(setting_same(&rmem, &rmem));
	assert_false(setting_same(&rmem, &flag));
}

static struct tunable_range probe(const struct sysroot *root, const char *name, const char *field)
{
	struct tunable_range range;
	struct setting s = setting_of(name, NULL);
	struct err e = {0};
	if (tunable_probe(root, &s, field, &range, &e)) {
		fail_msg("%s", e.text);
	}
	return range;
}

static void test_probe(void **state)
{
	(void)state;
	struct tunable_range r = probe(&host, "net.ipv4.tcp_rmem", "max");
	assert_true(r.settable && r.present.i == 33554432 && r.min == 1 && r.max == INT_MAX);
	r = probe(&host, "net.ipv4.tcp_congestion_control", "");
	assert_true(r.settable);
	assert_int_equal(r.n_choices, 3); /* allowed first, then the rest of the available */
	assert_string_equal(r.choices[0], "reno");
	assert_string_equal(r.choices[2], "cubic");
	r = probe(&host, "net.core.netdev_max_backlog", "");
	assert_true(r.settable);
	r = probe(&host, "net/ipv4/conf/eth0.100/rp_filter", "");
	assert_true(r.settable);
	r = probe(&host, "net.ipv4.conf.eth0.rp_filter", "");
	assert_false(r.settable);
	assert_string_equal(r.why_not, "this kernel has no net.ipv4.conf.eth0.rp_filter");
	r = probe(&host, "socket.message_size", "");
	assert_true(r.settable && r.present.type == VALUE_NONE && r.min == 1);
}

static void test_probe_in_namespace(void **state)
{
	(void)state;
	struct tunable_range r = probe(&netns, "net.core.netdev_max_backlog", "");
	assert_false(r.settable);
	assert_string_equal(r.why_not, "not in this network namespace");
	r = probe(&netns, "net.ipv4.tcp_congestion_control", "");
	assert_true(r.settable);
	assert_int_equal(r.n_choices, 2); /* what is available is not allowed here */
	r = probe(&netns, "kernel.numa_balancing", "");
	assert_true(r.settable);
}

static void test_probe_read_only(void **state)
{
	(void)state;
	char path[256];
	if (!geteuid()) {
		skip(); /* root may write everything in a recorded tree */
	}
	snprintf(path, sizeof(path), "%s/proc/sys/net/core/rmem_max", netns_prefix);
	assert_int_equal(chmod(path, 0444), 0);
	struct tunable_range r = probe(&netns, "net.core.rmem_max", "");
	assert_false(r.settable);
	assert_string_equal(r.why_not, "root is needed");
	assert_true(r.present.i > 0); /* readable all the same */
}

/* What could not be put back must not be changed: the present one is not allowed here. */
static void test_probe_no_way_back(void **state)
{
	(void)state;
	struct setting s = setting_of("net.ipv4.tcp_congestion_control", NULL);
	assert_int_equal(tunable_write(&netns, &s, "cubic", NULL), 0);
	struct tunable_range r = probe(&netns, s.name, "");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "cubic"));
	assert_non_null(strstr(r.why_not, "could not be put back"));
	assert_int_equal(tunable_write(&host, &s, "cubic", NULL), 0);
	assert_true(probe(&host, s.name, "").settable);
}

static void test_probe_strange_content(void **state)
{
	(void)state;
	struct setting s = setting_of("net.core.somaxconn", NULL);
	struct setting rmem = setting_of("net.ipv4.tcp_rmem", NULL);
	assert_int_equal(tunable_write(&host, &s, "word", NULL), 0);
	struct tunable_range r = probe(&host, s.name, "");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "not a number"));
	assert_int_equal(tunable_write(&host, &rmem, "4096 5", NULL), 0);
	r = probe(&host, rmem.name, "max");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "holds no max"));
}

static void test_run_scope_is_not_read(void **state)
{
	(void)state;
	char text[64];
	struct err e = {0};
	struct setting s = setting_of("socket.nodelay", NULL),
		       rmem = setting_of("net.ipv4.tcp_rmem", NULL);
	assert_int_equal(tunable_read(&host, &s, text, sizeof(text), &e), -EOPNOTSUPP);
	assert_int_equal(tunable_write(&host, &s, "1", &e), -EOPNOTSUPP);
	assert_int_equal(tunable_read(&host, &rmem, text, sizeof(text), &e), 0);
	assert_string_equal(text, "4096 131072 33554432");
	assert_int_equal(tunable_read(&host, &rmem, text, 5, &e), -ENAMETOOLONG);
	/* The kernel takes an empty write for success. */
	assert_int_equal(tunable_write(&host, &rmem, " ", &e), -EINVAL);
}

static void test_affected(void **state)
{
	(void)state;
	struct setting along[32], s = setting_of("net.ipv4.ip_forward", NULL);
	size_t n = tunable_affected(&host, &s, along, 32);
	assert_int_equal(n, 8);
	bool dotted = false;
	for (size_t i = 0; i < n; i++) {
		dotted = dotted || !strcmp(along[i].name, "net/ipv4/conf/eth0.100/forwarding");
	}
	assert_true(dotted);
	assert_string_equal(along[n - 1].name, "net.ipv4.conf.all.forwarding");
	assert_int_equal(tunable_affected(&host, &s, along, 3), 3);
	s = setting_of("net.ipv4.tcp_rmem", NULL);
	assert_int_equal(tunable_affected(&host, &s, along, 32), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog_is_sound),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_fields),
		TEST(test_probe),
		TEST(test_probe_in_namespace),
		TEST(test_probe_read_only),
		TEST(test_probe_no_way_back),
		TEST(test_probe_strange_content),
		TEST(test_run_scope_is_not_read),
		TEST(test_affected),
	};
	return cmocka_run_group_tests_name("tunable", tests, NULL, NULL);
}
