/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numa.policy and numa.cpu: their words, the CPUs that they stand for on a recorded machine, the
 * kernel's account of the pages, and both together at an endpoint. Two nodes that are real are the
 * virtual machine's affair (tests/vm).
 */
#include "numa_place.h"
#include "stream_fixture.h"
#include "sysroot_fixture.h"
#include "topology.h"
#include <math.h>

static void test_policies(void **state)
{
	static const struct {
		const char *word;
		enum numa_kind kind;
		int node;
	} good[] = {{"default", NUMA_DEFAULT, 0},	{"local", NUMA_LOCAL, 0},
		    {"interleave", NUMA_INTERLEAVE, 0}, {"bind:0", NUMA_BIND, 0},
		    {"bind:13", NUMA_BIND, 13},		{"preferred:1", NUMA_PREFERRED, 1}};
	static const char *const bad[] = {
		"",	   "bind",    "bind:",	   "bind:-1",	  "bind:x",
		"bind:1x", "Default", "bind:9999", "interleave:0"};
	struct numa_policy p;
	struct err e = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(numa_policy_parse(good[i].word, &p, &e), 0);
		assert_int_equal(p.kind, good[i].kind);
		assert_int_equal(p.node, good[i].node);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(numa_policy_parse(bad[i], &p, &e), -EINVAL);
		assert_int_equal(e.class, ERR_USAGE);
	}
}

static const char *cpus(const struct sysroot *root, const char *device, const char *word)
{
	static char list[256];
	cpu_set_t set;
	struct err e = {0};
	int r = numa_place_cpus(root, device, word, &set, &e);
	if (r) {
		snprintf(list, sizeof(list), "%.255s", e.text);
		return list;
	}
	assert_int_equal(cpus_format_list(&set, list, sizeof(list)), 0);
	return list;
}

static void test_cpus(void **state)
{
	(void)state;
	struct sysroot root = sysroot_make("server");
	assert_string_equal(cpus(&root, "ens2f0", "nic-node"), "16-31,80-95");
	assert_string_equal(cpus(&root, "ens2f0", "other-node"), "0-15,64-79");
	assert_string_equal(cpus(&root, "ens9", "nic-node"), "32-47,96-111");
	assert_string_equal(cpus(&root, "ens2f0", "all"), "0-127");
	assert_string_equal(cpus(&root, "", "3,1"), "1,3");
	assert_non_null(strstr(cpus(&root, "ens10", "nic-node"), "does not say which node"));
	assert_non_null(strstr(cpus(&root, "", "nic-node"), "does not say which node"));
	assert_non_null(strstr(cpus(&root, "", "126-130"), "online"));
	assert_non_null(strstr(cpus(&root, "", "near"), "nic-node, other-node, all"));
	sysroot_teardown(state);
	root = sysroot_make("guest");
	assert_string_equal(cpus(&root, "enp1s0", "nic-node"), "2-3");
	assert_string_equal(cpus(&root, "enp1s0", "other-node"), "0-1");
	sysroot_teardown(state);
	/* One node that nobody speaks of: everything is near it, and there is no other. */
	root = sysroot_make("laptop");
	assert_string_equal(cpus(&root, "eth0", "nic-node"), "0-3");
	assert_non_null(strstr(cpus(&root, "eth0", "other-node"), "no such node"));
}

/* The mapping that holds the address, once, whatever lies around it. */
static void test_pages(void **state)
{
	static uint64_t pages[CPU_SETSIZE];
	const void *const at[] = {(void *)0x7f0000001000, (void *)0x7f0000002000,
				  (void *)0x7f0000900010};
	struct err e = {0};
	(void)state;
	struct sysroot root = sysroot_make("guest");
	sysroot_put("/proc/self/numa_maps",
		    "55d000000000 default file=/usr/bin/x mapped=3 N0=3 kernelpagesize_kB=4\n"
		    "7f0000000000 interleave:0-1 anon=1024 dirty=1024 N0=512 N1=511 "
		    "kernelpagesize_kB=4\n"
		    "7f0000400000 default anon=7 dirty=7 N1=7 kernelpagesize_kB=4\n"
		    "7f0000900000 bind:1 anon=2 dirty=2 N1=2 kernelpagesize_kB=4\n"
		    "7ffc00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4");
	assert_int_equal(numa_place_pages(&root, at, 3, pages, &e), 0);
	assert_int_equal(pages[0], 512);
	assert_int_equal(pages[1], 513);
	assert_int_equal(numa_place_pages(&root, at, 0, pages, &e), 0);
	assert_int_equal(pages[0] + pages[1], 0);
	sysroot_drop("/proc/self/numa_maps");
	assert_int_equal(numa_place_pages(&root, at, 1, pages, &e), -ENOENT);
}

/* A server with 64 CPUs and their siblings, 16 and 16 a node: what is far from where a thread ran.
 */
static void test_remote(void **state)
{
	struct sysroot root = sysroot_make("server");
	uint64_t pages[CPU_SETSIZE] = {[0] = 30, [1] = 10}, none[CPU_SETSIZE] = {0};
	const uint64_t first[2] = {1 << 3, 0}, second[2] = {1 << 16, 0}, sibling[2] = {0, 1 << 17},
		       both[2] = {1 << 3 | 1 << 16, 0}, third[2] = {1ULL << 33, 0},
		       nowhere[2] = {0, 0};
	(void)state;
	assert_true(placement_remote(&root, pages, first) == 0.25);
	assert_true(placement_remote(&root, pages, second) == 0.75);
	assert_true(placement_remote(&root, pages, sibling) == 0.75);
	assert_true(placement_remote(&root, pages, both) == 0);
	assert_true(placement_remote(&root, pages, third) == 1);
	assert_true(isnan(placement_remote(&root, pages, nowhere)));
	assert_true(isnan(placement_remote(&root, none, first)));
	/* CPUs beyond those that are noted: nobody knows whether a thread was there */
	sysroot_put("/sys/devices/system/cpu/online", "0-255");
	assert_true(isnan(placement_remote(&root, pages, first)));
	sysroot_put("/sys/devices/system/cpu/online", "0-127");
	sysroot_drop("/sys/devices/system/node/node1/cpulist");
	assert_true(isnan(placement_remote(&root, pages, first)));
}

/* Both ends on CPU 0, their memory by a policy, and the pages where the kernel says. */
static void test_endpoint(void **state)
{
	struct peer a, b;
	(void)state;
	if (access("/proc/self/numa_maps", R_OK)) {
		skip();
	}
	peer_start(&a, -1);
	peer_start(&b, a.fd);
	json_t *l = opening("listen", "127.0.0.1", 0), *c;
	set(l, "numa", json_pack("{s:s, s:s}", "policy", "interleave", "cpu", "0"));
	c = opening("connect", "127.0.0.1", listen_at(&b, l));
	set(c, "numa", json_pack("{s:s}", "policy", "preferred:0"));
	must(&a, c);
	must(&b, plain("start"));
	must(&a, plain("start"));
	wait_for_bytes(&b, 1 << 20);
	auto_json json_t *r = read_of(&b);
	const json_t *placement = json_object_get(r, "placement");
	double pages = 0;
	const char *node;
	json_t *n;
	json_object_foreach(json_object_get(placement, "pages"), node, n)
	{
		pages += json_number_value(n);
	}
	assert_string_equal(json_string_value(json_object_get(placement, "cpus")), "0");
	assert_true(pages >= 128 / 4); /* the buffer of a call */
	json_t *ran = json_object_get(json_object_get(r, "threads"), "cpus");
	assert_int_equal(json_array_size(ran), 1);
	assert_int_equal(json_integer_value(json_array_get(ran, 0)), 0);
	auto_json json_t *s = read_of(&a);
	assert_true(json_is_null(json_object_get(json_object_get(s, "placement"), "cpus")));
	both_stop(&a, &b);
	peer_end(&a);
	peer_end(&b);
}

static void test_endpoint_refuses(void **state)
{
	static const char *const bad[] = {"{\"policy\": \"bind:x\"}", "{\"cpu\": \"9999\"}",
					  "{\"nodes\": \"0\"}", "{\"policy\": 1}", "[]"};
	struct peer p;
	(void)state;
	peer_start(&p, -1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = {0};
		json_t *l = opening("listen", "127.0.0.1", 0);
		set(l, "numa", json_loads(bad[i], 0, NULL));
		assert_null(ask(&p, l, &e));
		assert_int_equal(e.class, ERR_USAGE);
	}
	peer_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies),
		cmocka_unit_test_teardown(test_cpus, sysroot_teardown),
		cmocka_unit_test_teardown(test_pages, sysroot_teardown),
		cmocka_unit_test_teardown(test_remote, sysroot_teardown),
		cmocka_unit_test(test_endpoint),
		cmocka_unit_test(test_endpoint_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
