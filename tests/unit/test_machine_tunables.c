/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu.governor, cpu.energy_preference, cpu.latency, irq.irqbalance, msix.* and link.ipoib_mode on
 * recorded machines: what they read, what they offer, what they write, and what a session makes of
 * a text that no word stands for.
 */
#include "session.h"
#include "setting_fixture.h"
#include "sysroot_fixture.h"
#include "tunable.h"
#include <fcntl.h>

static struct sysroot root;

static struct tunable_range probed(const char *name, const char *device)
{
	struct tunable_range r;
	struct err e = {0};
	struct setting s = setting_of(name, device);
	assert_int_equal(tunable_probe(&root, &s, "", &r, &e), 0);
	return r;
}

static void put(const char *name, const char *device, const char *text)
{
	struct err e = {0};
	struct setting s = setting_of(name, device);
	if (tunable_write(&root, &s, text, &e)) {
		fail_msg("%s", e.text);
	}
}

static void test_governor(void **state)
{
	(void)state;
	root = sysroot_make("laptop");
	struct tunable_range r = probed("cpu.governor", "");
	assert_true(r.settable);
	assert_string_equal(r.present.text, "powersave");
	assert_int_equal(r.n_choices, 2);
	put("cpu.governor", "", "performance");
	assert_string_equal(setting_present(&root, "cpu.governor", ""), "performance");
	assert_string_equal(sysroot_got("/sys/devices/system/cpu/cpufreq/policy3/scaling_governor"),
			    "performance");
	sysroot_teardown(state);
	root = sysroot_make("guest");
	r = probed("cpu.governor", "");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "virtual machine"));
}

/* Each policy gets its own word back. */
static void test_unlike_policies(void **state)
{
	char old[SETTING_TEXT_MAX];
	(void)state;
	root = sysroot_make("laptop");
	assert_string_equal(probed("cpu.energy_preference", "").present.text, TUNABLE_AS_FOUND);
	snprintf(old, sizeof(old), "%s", setting_present(&root, "cpu.energy_preference", ""));
	assert_non_null(strstr(old, "policy3=power"));
	put("cpu.energy_preference", "", "performance");
	assert_string_equal(setting_present(&root, "cpu.energy_preference", ""), "performance");
	put("cpu.energy_preference", "", old);
	assert_string_equal(setting_present(&root, "cpu.energy_preference", ""), old);
}

/* The descriptor is the setting: one at the most, closed by the kernel's own word for none. */
static int descriptors(void)
{
	int n = 0;
	char link[64], target[256], wanted[256];
	snprintf(wanted, sizeof(wanted), "%s/dev/cpu_dma_latency", sysroot_folder);
	for (int fd = 0; fd < 256; fd++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ssize_t size = readlink(link, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = 0;
		n += !strcmp(target, wanted);
	}
	return n;
}

static void test_latency(void **state)
{
	int32_t us = 2000000000;
	char path[128];
	(void)state;
	root = sysroot_make("laptop");
	assert_false(probed("cpu.latency", "").settable);
	snprintf(path, sizeof(path), "%s/dev", sysroot_folder);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/dev/cpu_dma_latency", sysroot_folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(&us, sizeof(us), 1, f), 1);
	fclose(f);
	assert_true(probed("cpu.latency", "").settable);
	assert_string_equal(setting_present(&root, "cpu.latency", ""), "2000000000");
	put("cpu.latency", "", "50");
	assert_int_equal(descriptors(), 1);
	put("cpu.latency", "", "20");
	assert_int_equal(descriptors(), 1);
	assert_string_equal(setting_present(&root, "cpu.latency", ""), "20");
	put("cpu.latency", "", "2000000000");
	assert_int_equal(descriptors(), 0);
}

/* Found by its whole name; a process of a recorded tree gets no signal. */
static void test_irqbalance(void **state)
{
	(void)state;
	root = sysroot_make("server");
	assert_string_equal(setting_present(&root, "irq.irqbalance", ""), "running");
	assert_true(probed("irq.irqbalance", "").settable);
	sysroot_put("/proc/4711/stat", "4711 (irqbalance) T 1 4711 4711 0 -1 4194560");
	assert_string_equal(setting_present(&root, "irq.irqbalance", ""), "paused");
	sysroot_put("/proc/4711/comm", "irqbalance2");
	assert_string_equal(probed("irq.irqbalance", "").present.text, "absent");
	assert_false(probed("irq.irqbalance", "").settable);
}

static void test_msix(void **state)
{
	(void)state;
	root = sysroot_make("guest");
	assert_string_equal(setting_present(&root, "msix.vectors", "enp1s0"), "5");
	assert_string_equal(setting_present(&root, "msix.vectors", "enp2s0"), "0");
	assert_non_null(strstr(probed("msix.vectors", "enp1s0").why_not, "nic.channels"));
	assert_string_equal(setting_present(&root, "msix.mode", "enp3s0"),
			    "msix bus=0000:00:04.0 driver=e1000e");
	assert_string_equal(setting_present(&root, "msix.mode", "enp1s0"),
			    "msix bus=0000:21:01.0 driver=virtio-pci");
	struct tunable_range r = probed("msix.mode", "enp3s0");
	assert_true(r.settable);
	assert_string_equal(r.present.text, "msix");
	assert_false(probed("msix.mode", "enp2s0").settable);
	assert_string_equal(setting_present(&root, "msix.mode", "enp9s0"), "absent");
}

static void test_ipoib(void **state)
{
	(void)state;
	root = sysroot_make("server");
	struct tunable_range r = probed("link.ipoib_mode", "ib0");
	assert_true(r.settable);
	assert_string_equal(r.present.text, "datagram");
	put("link.ipoib_mode", "ib0", "connected");
	assert_string_equal(sysroot_got("/sys/class/net/ib0/mode"), "connected");
	r = probed("link.ipoib_mode", "ens2f0");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "InfiniBand"));
}

static struct session *opened(struct session_place *place, char *run)
{
	struct session *s = NULL;
	struct err e = {0};
	snprintf(run, 96, "%s/run", sysroot_folder);
	*place = (struct session_place){.root = root, .run_dir = run};
	if (session_open(place, "sweep", "t", &s, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

static struct value set(struct session *s, const char *device, const char *word)
{
	struct assignment a = {.setting = setting_of("irq.affinity", device),
			       .value = value_text(word)};
	struct value effective;
	struct err e = {0};
	if (session_set(s, &a, 1, &effective, &e)) {
		fail_msg("%s", e.text);
	}
	return effective;
}

/* What was found is no policy: it has a word too, can be set again, and comes back; what someone
 * else moves meanwhile is seen. */
static void test_session_words(void **state)
{
	struct session_place place;
	char run[96];
	struct err e = {0};
	auto_json json_t *drifted = NULL, *none = NULL;
	(void)state;
	root = sysroot_make("server");
	sysroot_put("/proc/irq/210/smp_affinity_list", "5,9-11");
	struct session *s = opened(&place, run);
	assert_string_equal(set(s, "ens2f0", "spread").text, "spread");
	assert_string_equal(sysroot_got("/proc/irq/210/smp_affinity_list"), "25");
	assert_string_equal(set(s, "ens2f0", "as-found").text, "as-found");
	assert_string_equal(sysroot_got("/proc/irq/210/smp_affinity_list"), "5,9-11");
	assert_string_equal(set(s, "ens2f0", "7").text, "7");
	assert_int_equal(session_drifted(s, &none, &e), 0);
	assert_int_equal(json_array_size(none), 0);
	sysroot_put("/proc/irq/211/smp_affinity_list", "0");
	assert_int_equal(session_drifted(s, &drifted, &e), 0);
	assert_int_equal(json_array_size(drifted), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(drifted, 0), "set")),
			    "irq.affinity");
	sysroot_put("/proc/irq/211/smp_affinity_list", "7");
	struct session_report report;
	assert_int_equal(session_rollback(s, false, &report, &e), 0);
	session_report_clear(&report);
	assert_string_equal(sysroot_got("/proc/irq/210/smp_affinity_list"), "5,9-11");
	assert_string_equal(sysroot_got("/proc/irq/232/smp_affinity_list"), "0-127");
	session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_governor, sysroot_teardown),
		cmocka_unit_test_teardown(test_unlike_policies, sysroot_teardown),
		cmocka_unit_test_teardown(test_latency, sysroot_teardown),
		cmocka_unit_test_teardown(test_irqbalance, sysroot_teardown),
		cmocka_unit_test_teardown(test_msix, sysroot_teardown),
		cmocka_unit_test_teardown(test_ipoib, sysroot_teardown),
		cmocka_unit_test_teardown(test_session_words, sysroot_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
