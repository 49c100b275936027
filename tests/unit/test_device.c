/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Devices by index, bus and name, and those that others depend on, against a small tree that is
 * made here.
 */
#include "cleanup.h"
#include "device.h"
#include "guard.h"
#include "setting_fixture.h"
#include <errno.h>
#include <string.h>

static char folder[64];
static struct sysroot root;

static void shell(const char *fmt, const char *arg)
{
	char command[512];
	snprintf(command, sizeof(command), fmt, folder, arg);
	assert_int_equal(system(command), 0);
}

static void put(const char *path, const char *text)
{
	char command[512];
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s%s)\" && echo '%s' >%s%s",
		 folder, path, text, folder, path);
	assert_int_equal(system(command), 0);
}

/* A card eth0 on a bus, a veth, and the root file system on a disk. */
static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test-device-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	root.prefix = folder;
	put("/sys/devices/pci0/0000:00:03.0/net/eth0/ifindex", "5");
	put("/sys/devices/pci0/0000:00:03.0/net/eth0/carrier", "1");
	put("/sys/devices/pci0/0000:00:03.0/sriov_numvfs", "0");
	put("/sys/devices/virtual/net/v0/ifindex", "7");
	put("/sys/devices/virtual/net/v0/carrier", "0");
	put("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0");
	shell("mkdir -p %s/sys/class/net%s", "");
	shell("ln -s ../../devices/pci0/0000:00:03.0/net/eth0 %s/sys/class/net/eth0%s", "");
	shell("ln -s ../../devices/virtual/net/v0 %s/sys/class/net/v0%s", "");
	shell("ln -s ../../../0000:00:03.0 %s/sys/devices/pci0/0000:00:03.0/net/eth0/device%s", "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	shell("rm -rf %s%s", "");
	return 0;
}

static void test_binding(void **state)
{
	(void)state;
	struct device_binding b, none;
	struct err e = {0};
	char name[IF_NAMESIZE];
	int index;
	assert_int_equal(device_bind(&root, "eth0", &b, &e), 0);
	assert_int_equal(b.ifindex, 5);
	assert_string_equal(b.bus, "0000:00:03.0");
	assert_int_equal(device_bind(&root, "v0", &b, &e), 0);
	assert_string_equal(b.bus, "");
	assert_int_equal(device_name(&root, 7, name, &e), 0);
	assert_string_equal(name, "v0");
	assert_int_equal(device_find(&root, &b, &index, &e), 0);
	assert_int_equal(index, 7);
	assert_int_equal(device_bind(&root, "eth9", &none, &e), -ENODEV);
	assert_int_equal(device_name(&root, 99, name, &e), -ENODEV);
	assert_true(device_carries(&root, 5));
	assert_false(device_carries(&root, 7));
	assert_int_equal(device_wait_carrier(&root, 5, 0, &e), 0);
	assert_int_equal(device_wait_carrier(&root, 7, 40, &e), -ENETDOWN);
}

/* Bound anew by its driver, the card has another index; a veth of another index is another one. */
static void test_found_again(void **state)
{
	(void)state;
	struct device_binding card, veth;
	struct err e = {0};
	int index;
	assert_int_equal(device_bind(&root, "eth0", &card, &e), 0);
	assert_int_equal(device_bind(&root, "v0", &veth, &e), 0);
	put("/sys/devices/pci0/0000:00:03.0/net/eth0/ifindex", "12");
	put("/sys/devices/virtual/net/v0/ifindex", "13");
	assert_int_equal(device_find(&root, &card, &index, &e), 0);
	assert_int_equal(index, 12);
	assert_int_equal(device_find(&root, &veth, &index, &e), -ENODEV);
	/* the card's number is another's now */
	put("/sys/devices/virtual/net/v0/ifindex", "5");
	assert_int_equal(device_find(&root, &card, &index, &e), 0);
	assert_int_equal(index, 12);
}

static void assert_spared(const char *device, unsigned word, const char *says)
{
	struct setting s = setting_of("nic.rings.rx", device),
		       safe = setting_of("link.txqueuelen", device);
	struct err e = {0};
	assert_int_equal(guard_check(&root, &s, ALLOW_DISRUPTIVE | ALLOW_UNSAFE, "", &e), -EPERM);
	if (!strstr(e.text, says)) {
		fail_msg("'%s' does not say '%s'", e.text, says);
	}
	assert_int_equal(guard_check(&root, &s, word, "", &e), 0);
	assert_int_equal(guard_check(&root, &safe, 0, "", &e), 0);
}

static void test_guards(void **state)
{
	(void)state;
	struct setting s = setting_of("nic.rings.rx", "eth0"), veth = setting_of("link.mtu", "v0");
	struct setting gone = setting_of("link.mtu", "eth9");
	struct err e = {0};
	assert_int_equal(guard_check(&root, &s, 0, "", &e), 0);
	assert_int_equal(guard_check(&root, &gone, 0, "", &e), 0);
	put("/sys/devices/pci0/0000:00:03.0/sriov_numvfs", "2");
	assert_spared("eth0", ALLOW_VFS, "'allow: [virtual-functions]'");
	put("/sys/devices/pci0/0000:00:03.0/sriov_numvfs", "0");
	put("/sys/devices/pci0/0000:00:03.0/infiniband/mlx5_0/node_type", "1: CA");
	assert_spared("eth0", ALLOW_RDMA, "'allow: [rdma]'");
	assert_int_equal(guard_check(&root, &veth, 0, "", &e), 0);
}

static void test_root_over_the_network(void **state)
{
	(void)state;
	struct setting veth = setting_of("link.mtu", "v0");
	struct err e = {0};
	put("/proc/self/mounts", "rootfs / rootfs rw 0 0\nsrv:/root / nfs4 rw 0 0");
	assert_spared("eth0", ALLOW_ROOT, "'allow: [network-root]'");
	assert_int_equal(guard_check(&root, &veth, 0, "", &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_binding, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_guards, setup, teardown),
		cmocka_unit_test_setup_teardown(test_root_over_the_network, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
