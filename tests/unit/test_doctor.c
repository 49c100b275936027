/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The doctor on a recorded server with everything wrong, on the same one mended, and on a folder
 * with nothing in it; and who else sets what. What only calls can tell comes from tables here.
 */
#include "cleanup.h"
#include "doctor.h"
#include "json_util.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CARD "/sys/devices/pci0000:16/0000:16:02.0/0000:17:00.0"
#define NOW  1790000000 /* September 2026 */

static char folder[64];

static void parents(char *full)
{
	for (char *p = full + strlen(folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(full, 0755);
	}
}

static void put(const char *path, const char *text)
{
	char full[256];
	snprintf(full, sizeof(full), "%s%s", folder, path);
	parents(full);
	auto_fclose FILE *f = fopen(full, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
}

static void link_to(const char *path, const char *target)
{
	char full[256];
	snprintf(full, sizeof(full), "%s%s", folder, path);
	parents(full);
	assert_int_equal(symlink(target, full), 0);
}

/* Two sockets behind interleaved memory, a card for x16 in a slot of x8 that runs at x2. */
static int make_machine(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tunesweep-test-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	put("/proc/stat", "cpu  100 0 100 1000 0 0 0 0 0 0");
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme");
	put("/proc/cmdline", "quiet");
	put("/sys/devices/system/cpu/online", "0-3");
	put("/sys/devices/system/node/online", "0");
	put("/sys/devices/system/node/node0/cpulist", "0-3");
	put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0");
	put("/sys/devices/system/cpu/cpu1/topology/physical_package_id", "0");
	put("/sys/devices/system/cpu/cpu2/topology/physical_package_id", "1");
	put("/sys/devices/system/cpu/cpu3/topology/physical_package_id", "1");
	put("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave");
	put("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0");
	put("/sys/devices/system/cpu/smt/active", "1");
	put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2");
	put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2");
	put("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3");
	put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "900");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1");
	put("/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count", "7");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
	put("/sys/class/dmi/id/bios_date", "03/15/2021");
	put("/sys/class/dmi/id/bios_version", "2.1");
	put("/sys/class/iommu/dmar0/uevent", "");
	link_to("/sys/class/net/eth0",
		"../../devices/pci0000:16/0000:16:02.0/0000:17:00.0/net/eth0");
	link_to(CARD "/net/eth0/device", "../..");
	put(CARD "/uevent", "DRIVER=ice");
	put(CARD "/iommu_group/type", "DMA");
	put(CARD "/numa_node", "0");
	put(CARD "/max_link_speed", "16.0 GT/s PCIe");
	put(CARD "/current_link_speed", "8.0 GT/s PCIe");
	put(CARD "/max_link_width", "16");
	put(CARD "/current_link_width", "2");
	put("/sys/devices/pci0000:16/0000:16:02.0/max_link_speed", "8.0 GT/s PCIe");
	put("/sys/devices/pci0000:16/0000:16:02.0/max_link_width", "8");
	put(CARD "/net/eth0/operstate", "up");
	put(CARD "/net/eth0/carrier", "1");
	put(CARD "/net/eth0/speed", "25000");
	put(CARD "/net/eth0/duplex", "full");
	put(CARD "/net/eth0/statistics/rx_bytes", "1000");
	put(CARD "/net/eth0/statistics/tx_bytes", "1000");
	put(CARD "/net/eth0/statistics/rx_crc_errors", "12");
	put(CARD "/net/eth0/statistics/rx_missed_errors", "40");
	put("/sys/class/net/veth0/operstate", "up"); /* no hardware: not looked at */
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	char command[96];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void bad_nic(const char *device, struct doctor_nic *out)
{
	assert_string_equal(device, "eth0");
	out->speed_max = 100000;
	out->pause_rx = 1;
	out->pause_tx = 0;
	out->fec_uncorrectable = 3;
	out->symbol_errors = 9;
	strcpy(out->firmware, "4.20 0x8001");
	strcpy(out->off[out->n_off++], "tx-tcp-segmentation");
	strcpy(out->off[out->n_off++], "rx-gro");
}

static void good_nic(const char *device, struct doctor_nic *out)
{
	(void)device;
	out->speed_max = 25000;
	out->pause_rx = out->pause_tx = 0;
	out->fec_corrected = out->fec_uncorrectable = out->symbol_errors = 0;
}

static int is_synced(void)
{
	return 1;
}

static int is_not_synced(void)
{
	return 0;
}

static json_t *examine(void (*nic)(const char *, struct doctor_nic *), int (*clock)(void))
{
	struct sysroot root = {folder};
	struct doctor_source s = {
		.root = &root, .watch = 0, .now = NOW, .nic = nic, .clock_synced = clock};
	struct err e = {0};
	json_t *out = NULL;
	if (doctor_examine(&s, NULL, &out, &e)) {
		fail_msg("%s", e.text);
	}
	return out;
}

/* The finding of a check that holds these words; NULL if there is none. */
static json_t *finding(const json_t *out, const char *check, const char *words)
{
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(out, "findings"), i, one)
	{
		if (!strcmp(json_get_text(one, "check", ""), check) &&
		    strstr(json_get_text(one, "found", ""), words)) {
			assert_true(strlen(json_get_text(one, "cost", "")) > 10);
			assert_true(strlen(json_get_text(one, "mend", "")) > 5);
			return one;
		}
	}
	return NULL;
}

static void wants(const json_t *out, const char *level, const char *check, const char *words)
{
	json_t *one = finding(out, check, words);
	if (!one) {
		auto_free char *all = json_dumps(out, JSON_INDENT(1));
		fail_msg("%s says nothing of \"%s\": %s", check, words, all);
	}
	assert_string_equal(json_get_text(one, "level", ""), level);
}

static void everything_wrong(void **state)
{
	(void)state;
	auto_json json_t *out = examine(bad_nic, is_not_synced);
	wants(out, "problem", "cpu.governor",
	      "1 of 2 frequency policies have the governor powersave");
	wants(out, "note", "cpu.boost", "above their nominal frequency");
	wants(out, "note", "cpu.idle_states", "down to C6, from which waking takes 133 us");
	wants(out, "note", "cpu.smt", "two threads (SMT): CPUs 0,2 1,3");
	wants(out, "problem", "cpu.throttling", "7 times");
	wants(out, "problem", "numa.nodes", "2 sockets and only 1 NUMA node");
	wants(out, "problem", "host.clock", "hpet");
	wants(out, "note", "host.clock", "not synchronised");
	wants(out, "note", "host.firmware", "firmware 2.1 is 6 years old");
	wants(out, "problem", "iommu.mode", "translates for eth0 (strict)");
	wants(out, "problem", "pci.link",
	      "PCIe runs at 8 GT/s x2 (16 Gbit/s); the card can do 16 GT/s x16 (252 Gbit/s)");
	wants(out, "problem", "nic.link", "25000 Mbit/s; the card can do 100000 Mbit/s");
	wants(out, "problem", "nic.errors", "rx_crc_errors 12");
	wants(out, "problem", "nic.errors", "rx_missed_errors 40");
	wants(out, "problem", "nic.errors", "3 blocks that FEC could not mend, 9 symbol errors");
	wants(out, "problem", "nic.settings", "tx-tcp-segmentation, rx-gro");
	wants(out, "note", "nic.settings", "pause frames are on (rx)");
	wants(out, "note", "nic.settings", "firmware is 4.20 0x8001");
	assert_string_equal(json_get_text(finding(out, "pci.link", "x2"), "device", ""), "eth0");
	assert_non_null(
		strstr(json_get_text(finding(out, "pci.link", "x2"), "mend", ""), "faster slot"));
	assert_null(finding(out, "host.virtual", "virtual"));
}

static void all_mended(void **state)
{
	(void)state;
	put("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance");
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
	put("/sys/devices/system/cpu/smt/active", "0");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1");
	put("/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count", "0");
	put("/sys/devices/system/node/online", "0-1");
	put("/sys/devices/system/node/node0/cpulist", "0-1");
	put("/sys/devices/system/node/node1/cpulist", "2-3");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
	put("/sys/class/dmi/id/bios_date", "03/15/2026");
	put(CARD "/iommu_group/type", "identity");
	put(CARD "/current_link_speed", "16.0 GT/s PCIe");
	put(CARD "/current_link_width", "16");
	put(CARD "/net/eth0/statistics/rx_crc_errors", "0");
	put(CARD "/net/eth0/statistics/rx_missed_errors", "0");
	auto_json json_t *out = examine(good_nic, is_synced);
	wants(out, "note", "nic.node", "the card is on node 0 (CPUs 0-1)");
	assert_int_equal(json_array_size(json_object_get(out, "findings")), 1);
	assert_true(json_array_size(json_object_get(out, "checked")) >= 17);
}

static void lesser_ills(void **state)
{
	(void)state;
	put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor vme");
	put("/sys/class/dmi/id/sys_vendor", "QEMU");
	put("/sys/class/dmi/id/product_name", "Standard PC");
	put("/sys/devices/system/node/online", "0-1");
	put("/sys/devices/system/node/node0/cpulist", "0-1");
	put("/sys/devices/system/node/node1/cpulist", "2-3");
	put(CARD "/numa_node", "-1");
	put(CARD "/iommu_group/type", "DMA-FQ");
	put(CARD "/current_link_width", "8"); /* 63 Gbit/s: enough for the wire's 25 */
	put(CARD "/net/eth0/duplex", "half");
	auto_json json_t *out = examine(NULL, NULL);
	wants(out, "note", "host.virtual", "QEMU Standard PC");
	wants(out, "note", "nic.node", "does not say on which of the 2 nodes");
	wants(out, "note", "iommu.mode", "lazy");
	wants(out, "note", "pci.link", "8 GT/s x8 (63 Gbit/s)");
	wants(out, "problem", "nic.link", "half duplex");
	assert_null(finding(out, "nic.settings", "firmware"));
	assert_null(finding(out, "host.clock", "not synchronised"));
	put(CARD "/net/eth0/carrier", "0");
	auto_json json_t *dark = examine(NULL, NULL);
	wants(dark, "problem", "nic.link", "no carrier");
}

static void nothing_known(void **state)
{
	(void)state;
	struct sysroot root = {"/nonexistent"};
	struct doctor_source s = {.root = &root};
	struct err e = {0};
	auto_json json_t *out = NULL, *none = NULL;
	assert_int_equal(doctor_examine(&s, NULL, &out, &e), 0);
	assert_int_equal(json_array_size(json_object_get(out, "findings")), 0);
	assert_true(doctor_examine(&s, "eth7", &none, &e) < 0);
	assert_non_null(strstr(e.text, "there is no device eth7"));
}

static bool owner_sets(const json_t *owners, const char *who, const char *name)
{
	json_t *one, *set;
	size_t i, k;
	json_array_foreach((json_t *)owners, i, one)
	{
		json_array_foreach(json_object_get(one, "sets"), k, set)
		{
			if (!strcmp(json_get_text(one, "who", ""), who) &&
			    !strcmp(json_string_value(set), name)) {
				return true;
			}
		}
	}
	return false;
}

/* FIELD: a service that sets the same keys is named. */
static void who_else(void **state)
{
	(void)state;
	struct sysroot root = {folder};
	put("/etc/sysctl.conf",
	    "# net.ipv4.tcp_wmem = 1 2 3\n;net.ipv4.tcp_ecn=1\nkernel.panic = 5");
	put("/etc/sysctl.d/90-big.conf", "  -net/ipv4/tcp_rmem = 4096 131072 67108864\n"
					 "net.core.rmem_max=67108864\nvm.dirty_foo = 1");
	put("/usr/lib/sysctl.d/50-default.conf", "net.ipv4.conf.*.rp_filter = 2");
	put("/etc/sysctl.d/README", "net.ipv4.tcp_sack = 0");
	put("/etc/systemd/network/10-nic.link", "[Match]\nDriver=ice\n[Link]\nMTUBytes=9000\n"
						"RxBufferSize=4096");
	put("/proc/812/comm", "irqbalance");
	put("/proc/900/comm", "tuned");
	put("/proc/901/comm", "tunedx");
	put("/proc/950/comm", "dockerd");
	auto_json json_t *owners = doctor_owners(&root);
	assert_true(owner_sets(owners, "/etc/sysctl.d/90-big.conf", "net.ipv4.tcp_rmem"));
	assert_true(owner_sets(owners, "/etc/sysctl.d/90-big.conf", "net.core.rmem_max"));
	assert_true(owner_sets(owners, "/usr/lib/sysctl.d/50-default.conf",
			       "net.ipv4.conf.*.rp_filter"));
	assert_true(owner_sets(owners, "/etc/systemd/network/10-nic.link", "link.mtu"));
	assert_true(owner_sets(owners, "/etc/systemd/network/10-nic.link", "nic.rings.rx"));
	assert_true(owner_sets(owners, "irqbalance (pid 812)", "irq.affinity"));
	assert_true(owner_sets(owners, "tuned (pid 900)", "net.*"));
	assert_true(owner_sets(owners, "dockerd (pid 950)", "net.ipv4.ip_forward"));
	assert_int_equal(json_array_size(owners), 6); /* no comments, no README, no tunedx */
	auto_json json_t *out = examine(NULL, NULL);
	wants(out, "note", "owners", "irqbalance (pid 812) sets irq.affinity");
	wants(out, "note", "owners", "90-big.conf sets net.ipv4.tcp_rmem, net.core.rmem_max");
}

int main(void)
{
#define WITH_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_machine, remove_machine)
	const struct CMUnitTest tests[] = {
		WITH_MACHINE(everything_wrong), WITH_MACHINE(all_mended),
		WITH_MACHINE(lesser_ills),	cmocka_unit_test(nothing_known),
		WITH_MACHINE(who_else),
	};
	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
