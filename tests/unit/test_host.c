/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fingerprint of a recorded machine (written to a temporary folder), of one that lacks nearly
 * everything, and of this one; and what differs between two.
 */
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[64];

static void put(const char *path, const char *text)
{
	char full[256];
	snprintf(full, sizeof(full), "%s%s", folder, path);
	for (char *slash = strchr(full + strlen(folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	auto_fclose FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
}

static int make_machine(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tunesweep-test-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put("/proc/sys/kernel/random/boot_id", "2c6f57f1-0000-4000-8000-000000000001\n");
	put("/proc/cmdline", "quiet mitigations=auto\n");
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some(R) CPU  @ 3 GHz\n"
			     "microcode\t: 0x2006e05\nflags\t\t: fpu hypervisor vme\n\n"
			     "processor\t: 1\nmodel name\t: Another\n");
	put("/sys/devices/system/cpu/online", "0-3,8,10-11\n");
	put("/sys/devices/system/node/online", "0-1\n");
	put("/sys/class/dmi/id/sys_vendor", "ACME\n");
	put("/sys/class/dmi/id/product_name", "Server 9\n");
	put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
	put("/sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n");
	put("/sys/class/net/lo/mtu", "65536\n");
	put("/sys/class/net/veth1/mtu", "1500\n");
	put("/sys/class/net/veth1/addr_assign_type", "3\n");
	put("/sys/class/net/eth0/mtu", "9000\n");
	put("/sys/class/net/eth0/speed", "25000\n");
	put("/sys/class/net/eth0/addr_assign_type", "0\n");
	put("/sys/class/net/eth0/device/numa_node", "1\n");
	put("/sys/class/net/eth0/device/uevent",
	    "DRIVER=ice\nPCI_CLASS=20000\nPCI_ID=8086:159B\nPCI_SLOT_NAME=0000:17:00.0\n");
	put("/sys/class/net/eth1/speed", "-1\n");
	put("/sys/class/net/eth1/device/uevent", "DRIVER=virtio_net\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	char command[96];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static json_t *fingerprint(const char *prefix)
{
	struct sysroot root = {prefix};
	struct err e = {0};
	json_t *o = NULL;
	if (host_fingerprint(&root, &o, &e)) {
		fail_msg("%s", e.text);
	}
	return o;
}

static void recorded_machine(void **state)
{
	(void)state;
	auto_json json_t *o = fingerprint(folder);
	json_t *nics = json_object_get(o, "nics"), *eth0 = json_array_get(nics, 0);
	json_t *mitigations = json_object_get(o, "mitigations");
	assert_string_equal(json_get_text(o, "kernel", ""), "6.1.0-18-amd64");
	assert_string_equal(json_get_text(o, "cpu", ""), "Some(R) CPU  @ 3 GHz");
	assert_string_equal(json_get_text(o, "microcode", ""), "0x2006e05");
	assert_string_equal(json_get_text(o, "cmdline", ""), "quiet mitigations=auto");
	assert_string_equal(json_get_text(o, "product", ""), "ACME Server 9");
	assert_string_equal(json_get_text(o, "hypervisor", ""), "yes");
	assert_true(json_get_number(o, "cpus") == 7);
	assert_true(json_get_number(o, "numa_nodes") == 2);
	assert_int_equal(json_array_size(mitigations), 1);
	assert_string_equal(json_string_value(json_array_get(mitigations, 0)),
			    "meltdown: Mitigation: PTI");
	assert_int_equal(json_array_size(nics), 3); /* sorted, without lo */
	assert_string_equal(json_get_text(eth0, "device", ""), "eth0");
	assert_string_equal(json_get_text(eth0, "driver", ""), "ice");
	assert_string_equal(json_get_text(eth0, "pci", ""), "8086:159b");
	assert_string_equal(json_get_text(eth0, "address_type", ""), "permanent");
	assert_true(json_get_number(eth0, "speed") == 25000);
	assert_true(json_get_number(eth0, "mtu") == 9000);
	assert_true(json_get_number(eth0, "numa_node") == 1);
	assert_true(json_is_null(json_object_get(json_array_get(nics, 1), "speed")));
	assert_true(json_is_null(json_object_get(json_array_get(nics, 1), "pci")));
	assert_string_equal(json_get_text(json_array_get(nics, 2), "address_type", ""), "set");
}

static void machine_block(void **state)
{
	(void)state;
	auto_json json_t *o = fingerprint(folder), *machine = host_machine(o);
	auto_json json_t *wanted = json_pack(
		"{s:s, s:s, s:i, s:[{s:s, s:s, s:s}, {s:s, s:s}]}", "kernel", "6.1.0-18-amd64",
		"cpu", "Some(R) CPU  @ 3 GHz", "numa_nodes", 2, "nics", "device", "eth0", "driver",
		"ice", "pci", "8086:159b", "device", "eth1", "driver", "virtio_net");
	assert_true(json_equal(machine, wanted));
	auto_json json_t *none = host_differences(machine, o);
	assert_int_equal(json_array_size(none), 0);
}

static void differences_in_words(void **state)
{
	(void)state;
	auto_json json_t *here = fingerprint(folder), *profile = host_machine(here);
	json_t *nics = json_object_get(profile, "nics");
	json_object_set_new(profile, "kernel", json_string("5.10.0"));
	json_object_set_new(profile, "numa_nodes", json_string("2")); /* by hand */
	json_object_set_new(json_array_get(nics, 0), "driver", json_string("mlx5_core"));
	json_object_set_new(json_array_get(nics, 0), "firmware", json_string("1.2"));
	json_object_set_new(json_array_get(nics, 1), "device", json_string("eth7"));
	auto_json json_t *d = host_differences(profile, here);
	assert_int_equal(json_array_size(d), 3);
	assert_string_equal(json_string_value(json_array_get(d, 0)),
			    "kernel: 5.10.0 in the profile, 6.1.0-18-amd64 here");
	assert_string_equal(json_string_value(json_array_get(d, 1)),
			    "eth0 driver: mlx5_core in the profile, ice here");
	assert_string_equal(json_string_value(json_array_get(d, 2)),
			    "eth7: no such network device here");
	assert_false(host_kernel_is_update(profile, here));
	json_object_set_new(profile, "kernel", json_string("6.1.0-25-amd64"));
	assert_true(host_kernel_is_update(profile, here));
	json_object_set_new(profile, "kernel", json_string("6.10.1"));
	assert_false(host_kernel_is_update(profile, here));
	json_object_set_new(profile, "kernel", json_string("6.1.0-18-amd64"));
	assert_false(host_kernel_is_update(profile, here));
	json_object_set_new(profile, "kernel", json_string("six"));
	assert_false(host_kernel_is_update(profile, here));
	assert_false(host_kernel_is_update(NULL, here));
	auto_json json_t *nothing = host_differences(NULL, here);
	assert_int_equal(json_array_size(nothing), 0);
}

static void bare_machine(void **state)
{
	(void)state;
	char bare[] = "/tmp/tunesweep-test-XXXXXX";
	struct sysroot root = {bare};
	struct err e = {0};
	json_t *none = NULL;
	assert_non_null(mkdtemp(bare));
	assert_true(host_fingerprint(&root, &none, &e) < 0);
	assert_null(none);
	assert_non_null(strstr(e.text, "fingerprint"));
	strcpy(folder, bare);
	put("/proc/sys/kernel/osrelease", "6.1.0\n");
	auto_json json_t *o = fingerprint(bare);
	assert_true(json_is_null(json_object_get(o, "cpu")));
	assert_true(json_is_null(json_object_get(o, "cpus")));
	assert_true(json_is_null(json_object_get(o, "hypervisor")));
	assert_int_equal(json_array_size(json_object_get(o, "nics")), 0);
	remove_machine(NULL);
}

static void this_machine(void **state)
{
	(void)state;
	auto_json json_t *o = fingerprint("");
	auto_free char *text = json_dumps(o, 0);
	assert_non_null(text);
	assert_true(json_get_number(o, "cpus") >= 1);
	assert_true(json_get_number(o, "numa_nodes") >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recorded_machine, make_machine, remove_machine),
		cmocka_unit_test_setup_teardown(machine_block, make_machine, remove_machine),
		cmocka_unit_test_setup_teardown(differences_in_words, make_machine, remove_machine),
		cmocka_unit_test(bare_machine),
		cmocka_unit_test(this_machine),
	};
	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
