/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * irq.affinity, rps.cpus, xps.cpus and rps.flow_entries on recorded machines: which interrupts and
 * queues belong to a device, what each policy makes of them, what is written, and what puts it
 * back.
 */
#include "cpu_map.h"
#include "device_irqs.h"
#include "irq_watch.h"
#include "setting_fixture.h"
#include "sysroot_fixture.h"
#include "topology.h"
#include "tunable.h"

static struct sysroot root;

static const char *planned(const char *name, const char *device, const char *word)
{
	static char text[SETTING_TEXT_MAX];
	struct err e = {0};
	struct setting s = setting_of(name, device);
	snprintf(text, sizeof(text), "%s", word);
	if (tunable_plan(&root, &s, text, sizeof(text), &e)) {
		fail_msg("%s", e.text);
	}
	return text;
}

static int write_text(const char *name, const char *device, const char *text, struct err *e)
{
	struct setting s = setting_of(name, device);
	return tunable_write(&root, &s, text, e);
}

static void set(const char *name, const char *device, const char *word)
{
	char text[SETTING_TEXT_MAX];
	struct err e = {0};
	snprintf(text, sizeof(text), "%s", planned(name, device, word));
	if (write_text(name, device, text, &e)) {
		fail_msg("%s", e.text);
	}
	assert_string_equal(setting_present(&root, name, device), text);
}

static const char *word_of(const char *name, const char *device)
{
	static struct value v;
	struct setting s = setting_of(name, device);
	assert_true(tunable_word(&root, &s, setting_present(&root, name, device), &v));
	return v.text;
}

static struct tunable_range probed(const char *name, const char *device)
{
	struct tunable_range r;
	struct err e = {0};
	struct setting s = setting_of(name, device);
	assert_int_equal(tunable_probe(&root, &s, "", &r, &e), 0);
	return r;
}

static void test_names_of_vectors(void **state)
{
	static const struct {
		const char *name, *device;
		int queue;
	} cases[] = {
		{"eth0-TxRx-3", "eth0", 3},
		{"ice-ens2f0-TxRx-31", "ens2f0", 31},
		{"virtio1-input.0", "eth1", 0},
		{"virtio1-output.12", "eth1", 12},
		{"virtio1-config", "eth1", -1},
		{"mlx5_comp7@pci:0000:41:00.0", "eth0", 7},
		{"mlx5_async0@pci:0000:41:00.0", "eth0", -1},
		{"eth0-rx-0", "eth0", 0},
		{"eth0-tx-1", "eth0", 1},
		{"eth0", "eth0", -1},
		{"enp0s2", "enp0s2", -1},
		{"eth0-event-4", "eth0", -1},
		{"eth0-rxtx-2", "eth0", 2},
		{"i40e-0000:41:00.0:misc", "eth0", -1},
		{"", "eth0", -1},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(device_irq_queue(cases[i].name, cases[i].device), cases[i].queue);
	}
}

/* 27: of this device alone, not of the one whose name begins alike. */
static void test_whose_interrupts(void **state)
{
	struct device_irq irqs[DEVICE_IRQS_MAX];
	struct err e = {0};
	(void)state;
	root = sysroot_make("server");
	assert_int_equal(device_irqs_list(&root, "ens2f0", irqs, DEVICE_IRQS_MAX, &e), 33);
	assert_int_equal(irqs[0].queue, -1);
	assert_int_equal(irqs[32].irq, 232);
	assert_int_equal(irqs[32].queue, 31);
	assert_int_equal(device_irqs_list(&root, "ens2f1", irqs, DEVICE_IRQS_MAX, &e), 5);
	assert_int_equal(device_irqs_list(&root, "dummy0", irqs, DEVICE_IRQS_MAX, &e), -ENODEV);
	assert_int_equal(device_irqs_list(&root, "ens2f", irqs, DEVICE_IRQS_MAX, &e), -ENODEV);
	assert_non_null(strstr(e.text, "no device ens2f"));
	set("irq.affinity", "ens2f0", "one");
	assert_string_equal(sysroot_got("/proc/irq/200/smp_affinity_list"), "0-127");
	assert_string_equal(sysroot_got("/proc/irq/201/smp_affinity_list"), "16");
	assert_string_equal(sysroot_got("/proc/irq/300/smp_affinity_list"), "0-127");
}

static void test_policies(void **state)
{
	(void)state;
	root = sysroot_make("server");
	/* Node 1 is CPUs 16-31 and their siblings 80-95; then the rest of the machine. */
	set("irq.affinity", "ens2f0", "spread");
	assert_string_equal(sysroot_got("/proc/irq/201/smp_affinity_list"), "16");
	assert_string_equal(sysroot_got("/proc/irq/216/smp_affinity_list"), "31");
	assert_string_equal(sysroot_got("/proc/irq/217/smp_affinity_list"), "80");
	assert_string_equal(word_of("irq.affinity", "ens2f0"), "spread");
	set("irq.affinity", "ens2f0", "3,7");
	assert_string_equal(sysroot_got("/proc/irq/201/smp_affinity_list"), "3");
	assert_string_equal(sysroot_got("/proc/irq/202/smp_affinity_list"), "7");
	assert_string_equal(sysroot_got("/proc/irq/203/smp_affinity_list"), "3");
	assert_string_equal(sysroot_got("/proc/irq/232/smp_affinity_list"), "7");
	set("irq.affinity", "ens2f0", "100");
	assert_string_equal(word_of("irq.affinity", "ens2f0"), "100");
	/* RX and TX of one queue on one CPU; the vector of no queue is left. */
	set("irq.affinity", "ens2f1", "spread");
	assert_string_equal(setting_present(&root, "irq.affinity", "ens2f1"),
			    "q0=16 q1=17 q0b=16 q1b=17");
	assert_string_equal(sysroot_got("/proc/irq/304/smp_affinity_list"), "0-127");
}

/* More queues than CPUs near the device: in turn. */
static void test_more_queues_than_cpus(void **state)
{
	(void)state;
	root = sysroot_make("server");
	sysroot_put("/sys/devices/system/node/node1/cpulist", "16-19");
	set("irq.affinity", "ens2f0", "local-node");
	assert_string_equal(sysroot_got("/proc/irq/204/smp_affinity_list"), "19");
	assert_string_equal(sysroot_got("/proc/irq/205/smp_affinity_list"), "16");
	assert_string_equal(word_of("irq.affinity", "ens2f0"), "local-node");
}

static void test_back(void **state)
{
	char old[SETTING_TEXT_MAX];
	struct err e = {0};
	(void)state;
	root = sysroot_make("server");
	sysroot_put("/proc/irq/210/smp_affinity_list", "5,9-11");
	snprintf(old, sizeof(old), "%s", setting_present(&root, "irq.affinity", "ens2f0"));
	assert_string_equal(word_of("irq.affinity", "ens2f0"), TUNABLE_AS_FOUND);
	set("irq.affinity", "ens2f0", "spread");
	assert_int_equal(write_text("irq.affinity", "ens2f0", old, &e), 0);
	assert_string_equal(setting_present(&root, "irq.affinity", "ens2f0"), old);
	assert_string_equal(sysroot_got("/proc/irq/210/smp_affinity_list"), "5,9-11");
}

/* A driver that makes its vectors anew gives them other numbers: the old text still fits. */
static void test_back_after_new_numbers(void **state)
{
	char old[SETTING_TEXT_MAX], link[128];
	struct err e = {0};
	(void)state;
	root = sysroot_make("guest");
	snprintf(old, sizeof(old), "%s", setting_present(&root, "irq.affinity", "enp3s0"));
	assert_string_equal(old, "q0=0-3 q0b=0-3");
	for (int i = 40; i <= 42; i++) {
		snprintf(link, sizeof(link), "/sys/devices/pci0000:00/0000:00:04.0/msi_irqs/%d", i);
		sysroot_drop(link);
		snprintf(link, sizeof(link), "/sys/devices/pci0000:00/0000:00:04.0/msi_irqs/%d",
			 i + 20);
		sysroot_put(link, "msix");
		snprintf(link, sizeof(link), "/proc/irq/%d/smp_affinity_list", i + 20);
		sysroot_put(link, "1");
	}
	sysroot_put("/sys/kernel/irq/60/actions", "enp3s0-rx-0");
	sysroot_put("/sys/kernel/irq/61/actions", "enp3s0-tx-0");
	sysroot_put("/sys/kernel/irq/62/actions", "enp3s0");
	assert_int_equal(write_text("irq.affinity", "enp3s0", old, &e), 0);
	assert_string_equal(sysroot_got("/proc/irq/61/smp_affinity_list"), "0-3");
	assert_string_equal(sysroot_got("/proc/irq/62/smp_affinity_list"), "1");
}

/* Which CPUs are one core is told whole, or so far as there is room. */
static void test_cores_with_two_threads(void **state)
{
	char text[2048], few[16];
	(void)state;
	root = sysroot_make("server");
	assert_int_equal(topology_shared_cores(&root, text, sizeof(text)), 64);
	assert_true(strncmp(text, "0,64 1,65 2,66 ", 15) == 0);
	assert_non_null(strstr(text, " 63,127"));
	assert_int_equal(topology_shared_cores(&root, few, sizeof(few)), 64);
	assert_string_equal(few, "0,64 1,65 ...");
	root = sysroot_make("guest");
	assert_int_equal(topology_shared_cores(&root, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

/* Vectors, node and msi_bus of virtio are one level up. */
static void test_virtio(void **state)
{
	struct device_irq irqs[8];
	uint64_t counts[CPU_SETSIZE];
	cpu_set_t effective;
	struct err e = {0};
	(void)state;
	root = sysroot_make("guest");
	assert_int_equal(topology_device_node(&root, "enp1s0"), 1);
	assert_int_equal(device_irqs_list(&root, "enp1s0", irqs, 8, &e), 5);
	set("irq.affinity", "enp1s0", "spread");
	assert_string_equal(setting_present(&root, "irq.affinity", "enp1s0"),
			    "q0=2 q0b=2 q1=3 q1b=3");
	assert_string_equal(sysroot_got("/proc/irq/30/smp_affinity_list"), "0-3");
	assert_int_equal(device_irq_counts(&root, 31, counts, &e), 0);
	assert_int_equal(counts[0], 17);
	assert_int_equal(counts[2], 5);
	assert_int_equal(device_irq_effective(&root, 31, &effective, &e), 0);
	assert_int_equal(cpus_first(&effective), 2);
}

/* 28: what came where is read from the counts, and what the affinity does not name is told. */
static void test_where_they_came(void **state)
{
	(void)state;
	root = sysroot_make("guest");
	for (int i = 32; i <= 34; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/sys/kernel/irq/%d/per_cpu_count", i);
		sysroot_put(path, "0,0,0,0");
	}
	set("irq.affinity", "enp1s0", "2");
	struct irq_watch *w = irq_watch_create(&root, "enp1s0");
	assert_non_null(w);
	sysroot_put("/sys/kernel/irq/31/per_cpu_count", "20,0,105,0");
	sysroot_put("/sys/kernel/irq/34/per_cpu_count", "0,0,7,0");
	auto_json json_t *j = irq_watch_json(&root, w);
	irq_watch_destroy(w);
	json_t *came = json_object_get(j, "cpus");
	assert_int_equal(json_object_size(came), 2);
	assert_int_equal(json_integer_value(json_object_get(came, "0")), 3);
	assert_int_equal(json_integer_value(json_object_get(came, "2")), 107);
	assert_int_equal(json_integer_value(json_object_get(j, "astray")), 3);
	json_t *strays = json_object_get(j, "astray_cpus");
	assert_int_equal(json_object_size(strays), 1);
	assert_int_equal(json_integer_value(json_object_get(strays, "0")), 3);
	assert_string_equal(json_string_value(json_object_get(j, "effective")), "2");
	assert_null(irq_watch_create(&root, "lo"));
}

static void test_legacy_and_msi(void **state)
{
	struct device_irq irqs[4];
	struct err e = {0};
	(void)state;
	root = sysroot_make("guest");
	assert_int_equal(device_irqs_list(&root, "enp2s0", irqs, 4, &e), 1);
	assert_int_equal(irqs[0].mode, IRQ_INTX);
	set("irq.affinity", "enp2s0", "1");
	assert_string_equal(sysroot_got("/proc/irq/11/smp_affinity_list"), "1");
	sysroot_teardown(state);
	root = sysroot_make("laptop");
	assert_int_equal(device_irqs_list(&root, "eth0", irqs, 4, &e), 1);
	assert_int_equal(irqs[0].mode, IRQ_MSI);
	set("irq.affinity", "eth0", "2");
	assert_string_equal(sysroot_got("/proc/irq/128/smp_affinity_list"), "2");
}

/* 26: known before anything is set, in one sentence. */
static void test_managed(void **state)
{
	(void)state;
	root = sysroot_make("server");
	struct tunable_range r = probed("irq.affinity", "ens9");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "managed"));
	r = probed("irq.affinity", "ens2f0");
	assert_true(r.settable);
	assert_int_equal(r.n_choices, 3);
	r = probed("irq.affinity", "ens10");
	assert_false(r.settable);
	assert_non_null(strstr(r.why_not, "is it up?"));
	assert_false(probed("irq.affinity", "dummy0").settable);
}

static void test_refused_words(void **state)
{
	static const char *const words[] = {"everywhere", "0-", "128", "120-130", ""};
	struct err e = {0};
	(void)state;
	root = sysroot_make("server");
	struct setting s = setting_of("irq.affinity", "ens2f0");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char text[64];
		snprintf(text, sizeof(text), "%s", words[i]);
		assert_int_equal(tunable_plan(&root, &s, text, sizeof(text), &e), -EINVAL);
	}
}

static void test_rps(void **state)
{
	(void)state;
	root = sysroot_make("server");
	assert_string_equal(word_of("rps.cpus", "ens2f0"), "none");
	set("rps.cpus", "ens2f0", "spread");
	/* 128 CPUs over 32 queues: four each, every CPU once. */
	cpu_set_t all, queue, twice;
	CPU_ZERO(&all);
	for (int i = 0; i < 32; i++) {
		char path[96];
		struct err e = {0};
		snprintf(path, sizeof(path), "/sys/class/net/ens2f0/queues/rx-%d/rps_cpus", i);
		assert_int_equal(cpus_parse_mask(sysroot_got(path), &queue, &e), 0);
		assert_int_equal(CPU_COUNT(&queue), 4);
		CPU_AND(&twice, &all, &queue);
		assert_int_equal(CPU_COUNT(&twice), 0);
		CPU_OR(&all, &all, &queue);
	}
	assert_int_equal(CPU_COUNT(&all), 128);
	set("rps.cpus", "ens2f0", "0-1");
	assert_string_equal(sysroot_got("/sys/class/net/ens2f0/queues/rx-31/rps_cpus"), "3");
	assert_string_equal(word_of("rps.cpus", "ens2f0"), "0-1");
	assert_string_equal(setting_present(&root, "rps.cpus", "ens2f1"), "rx-0=0-7 rx-1=8-15");
	set("rps.cpus", "ens2f1", "none");
	assert_string_equal(sysroot_got("/sys/class/net/ens2f1/queues/rx-1/rps_cpus"), "0");
	assert_false(probed("xps.cpus", "dummy0").settable);
	set("xps.cpus", "ens2f0", "local-node");
	assert_string_equal(sysroot_got("/sys/class/net/ens2f0/queues/tx-0/xps_cpus"), "10000");
}

static void test_flow_entries(void **state)
{
	struct err e = {0};
	(void)state;
	root = sysroot_make("guest");
	assert_string_equal(setting_present(&root, "rps.flow_entries", "enp1s0"), "1024 2048");
	assert_int_equal(write_text("rps.flow_entries", "enp1s0", "4096", &e), 0);
	assert_string_equal(setting_present(&root, "rps.flow_entries", "enp1s0"), "4096");
	assert_int_equal(write_text("rps.flow_entries", "enp1s0", "1024 2048", &e), 0);
	assert_string_equal(sysroot_got("/sys/class/net/enp1s0/queues/rx-1/rps_flow_cnt"), "2048");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_vectors),
		cmocka_unit_test_teardown(test_whose_interrupts, sysroot_teardown),
		cmocka_unit_test_teardown(test_policies, sysroot_teardown),
		cmocka_unit_test_teardown(test_more_queues_than_cpus, sysroot_teardown),
		cmocka_unit_test_teardown(test_back, sysroot_teardown),
		cmocka_unit_test_teardown(test_back_after_new_numbers, sysroot_teardown),
		cmocka_unit_test_teardown(test_cores_with_two_threads, sysroot_teardown),
		cmocka_unit_test_teardown(test_virtio, sysroot_teardown),
		cmocka_unit_test_teardown(test_legacy_and_msi, sysroot_teardown),
		cmocka_unit_test_teardown(test_where_they_came, sysroot_teardown),
		cmocka_unit_test_teardown(test_managed, sysroot_teardown),
		cmocka_unit_test_teardown(test_refused_words, sysroot_teardown),
		cmocka_unit_test_teardown(test_rps, sysroot_teardown),
		cmocka_unit_test_teardown(test_flow_entries, sysroot_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
