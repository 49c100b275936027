/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exports of a profile with a device's settings, held against what each consumer reads; what is
 * taken by the consumers themselves is tests/lab/export.sh's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "export_format.h"
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char TEXT[] =
	"tunesweep_profile: 1\n"
	"name: a/b c\n"
	"allow: [unsafe, disruptive]\n"
	"settings:\n"
	"  - {set: net.ipv4.tcp_rmem, field: max, host: rx, value: 16MiB}\n"
	"  - {set: net.ipv4.tcp_wmem, host: rx, value: [4096, 65536, 8388608], optional: true}\n"
	"  - {set: net/ipv4/conf/eth0.100/rp_filter, host: rx, value: 2}\n"
	"  - {set: nic.rings.rx, host: rx, device: eth0, value: 4096, was: 512}\n"
	"  - {set: nic.rings.tx, host: rx, device: eth0, value: 2048, was: 512}\n"
	"  - {set: nic.coalesce.adaptive_rx, host: rx, device: eth0, value: off, was: on}\n"
	"  - {set: nic.coalesce.rx_usecs, host: rx, device: eth0, value: 3us, was: 50us}\n"
	"  - {set: nic.features.gro, host: rx, device: eth0, value: off, was: on}\n"
	"  - {set: link.mtu, host: rx, device: eth0, value: 9000, was: 1500}\n"
	"  - {set: nic.channels.combined, host: rx, device: eth1, value: 4}\n"
	"application:\n"
	"  - {set: socket.message_size, value: 1MiB}\n";

struct outcome {
	char *text;
	json_t *left, *filled;
};

static int present(void *ctx, const struct setting *s, char *text, size_t size)
{
	(void)ctx;
	(void)s;
	return snprintf(text, size, "4096 131072 6291456") > 0 ? 0 : -1;
}

static void load(struct profile *p)
{
	struct err e = {0};
	char path[] = "/tmp/test-export-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, TEXT, sizeof(TEXT) - 1), sizeof(TEXT) - 1);
	close(fd);
	if (profile_load(path, p, &e)) {
		fail_msg("%s", e.text);
	}
	unlink(path);
}

static void export_as(const char *format, const char *device, export_present *asked,
		      struct outcome *o)
{
	struct profile p;
	struct err e = {0};
	size_t size;
	load(&p);
	struct export_request r = {.profile = &p,
				   .host = "rx",
				   .device = device,
				   .bus = device ? "0000:03:00.0" : "",
				   .present = asked};
	const struct export_format *f = export_find(format);
	assert_non_null(f);
	o->left = json_array();
	o->filled = json_array();
	FILE *out = open_memstream(&o->text, &size);
	assert_int_equal(export_write(f, &r, out, o->left, o->filled, &e), 0);
	fclose(out);
	profile_clear(&p);
}

static void outcome_clear(struct outcome *o)
{
	free(o->text);
	json_decref(o->left);
	json_decref(o->filled);
}

static void has(const struct outcome *o, const char *text)
{
	if (!strstr(o->text, text)) {
		fail_msg("no '%s' in:\n%s", text, o->text);
	}
}

static void has_not(const struct outcome *o, const char *text)
{
	if (strstr(o->text, text)) {
		fail_msg("'%s' in:\n%s", text, o->text);
	}
}

static void left_names(const struct outcome *o, const char *name)
{
	size_t i;
	json_t *line;
	json_array_foreach(o->left, i, line)
	{
		if (strncmp(json_string_value(line), name, strlen(name)) == 0) {
			return;
		}
	}
	fail_msg("nothing is said of %s", name);
}

static void test_sysctl(void **state)
{
	(void)state;
	struct outcome o;
	export_as("sysctl", NULL, present, &o);
	has(&o, "\nnet.ipv4.tcp_rmem = 4096 131072 16777216\n");
	has(&o, "\n-net.ipv4.tcp_wmem = 4096 65536 8388608\n");
	has(&o, "\nnet/ipv4/conf/eth0.100/rp_filter = 2\n");
	has(&o, "/etc/sysctl.d/90-tunesweep-a_b_c.conf");
	assert_int_equal(json_array_size(o.filled), 1);
	left_names(&o, "nic.rings.rx on eth0");
	left_names(&o, "socket.message_size");
	outcome_clear(&o);
	/* half a triple is never written */
	export_as("sysctl", NULL, NULL, &o);
	has_not(&o, "\nnet.ipv4.tcp_rmem =");
	left_names(&o, "net.ipv4.tcp_rmem.max");
	outcome_clear(&o);
}

static void test_tuned(void **state)
{
	(void)state;
	struct outcome o;
	export_as("tuned", NULL, present, &o);
	has(&o, "\n[sysctl]\nnet.ipv4.tcp_rmem=4096 131072 16777216\n"
		"net.ipv4.tcp_wmem=4096 65536 8388608\n");
	has(&o, "\n[net_eth0]\ntype=net\ndevices=eth0\nmtu=9000\n");
	has(&o, "\nring=rx 4096 tx 2048\n");
	has(&o, "\ncoalesce=adaptive-rx off rx-usecs 3\n");
	has(&o, "\nfeatures=gro off\n");
	has(&o, "\n[net_eth1]\ntype=net\ndevices=eth1\nchannels=combined 4\n");
	left_names(&o, "net/ipv4/conf/eth0.100/rp_filter"); /* it would take the dot apart */
	outcome_clear(&o);
}

static void test_link(void **state)
{
	(void)state;
	struct outcome o;
	assert_true(export_by_device(export_find("link")));
	export_as("link", "eth0", present, &o);
	has(&o, "[Match]\nPath=pci-0000:03:00.0\n");
	has(&o, "\nNamePolicy=keep kernel database onboard slot path\n"); /* else it is renamed */
	has(&o, "\nRxBufferSize=4096\nTxBufferSize=2048\n");
	has(&o, "\nUseAdaptiveRxCoalesce=no\nRxCoalesceSec=3us\n");
	has(&o, "\nGenericReceiveOffload=no\n");
	has(&o, "\nMTUBytes=9000\n");
	has_not(&o, "CombinedChannels"); /* of eth1 */
	left_names(&o, "net.ipv4.tcp_rmem");
	outcome_clear(&o);
}

static void test_udev(void **state)
{
	(void)state;
	struct outcome o;
	export_as("udev", NULL, present, &o);
	has(&o, "KERNEL==\"eth0\", ATTR{mtu}=\"9000\"\n");
	has(&o, "KERNEL==\"eth0\", RUN+=\"/bin/sh -c 'ethtool -G eth0 rx 4096'\"\n");
	has(&o, "'ethtool -C eth0 adaptive-rx off'");
	has(&o, "KERNEL==\"eth0.100\", SYSCTL{net/ipv4/conf/eth0.100/rp_filter}=\"2\"\n");
	left_names(&o, "net.ipv4.tcp_rmem");
	outcome_clear(&o);
}

static void test_shell(void **state)
{
	(void)state;
	struct outcome o;
	export_as("shell", NULL, NULL, &o);
	has(&o, "\tput '/proc/sys/net/ipv4/tcp_rmem' \"$(field \"$(cat "
		"'/proc/sys/net/ipv4/tcp_rmem')\" 3 16777216)\" || return 1\n");
	has(&o, "'/proc/sys/net/ipv4/tcp_wmem' '4096 65536 8388608' optional || return 1\n");
	has(&o, "\t\tethtool -G eth0 rx 4096 || return 1\n");
	has(&o, ") ethtool -G eth0 rx 512 ;;\n");
	has(&o, ") ethtool -K eth0 gro on ;;\n");
	left_names(&o, "nic.channels.combined on eth1"); /* nobody says what it was */
	outcome_clear(&o);
}

static void test_dropin(void **state)
{
	(void)state;
	struct outcome o;
	export_as("systemd-dropin", NULL, present, &o);
	has(&o, "\n[Service]\n# The program itself asks for it: socket.message_size = 1MiB\n");
	left_names(&o, "net.ipv4.tcp_rmem");
	outcome_clear(&o);
}

static void test_ansible(void **state)
{
	(void)state;
	struct outcome o;
	export_as("ansible", NULL, present, &o);
	has(&o, "\n---\n- name: \"tunesweep a_b_c: sysctls\"\n");
	has(&o, "\n      net.ipv4.tcp_rmem = 4096 131072 16777216\n");
	has(&o, "\n    dest: /etc/udev/rules.d/90-tunesweep-a_b_c.rules\n");
	has(&o, "ATTR{mtu}=\"9000\"\n");
	has(&o, "\n  when: tunesweep_sysctl is changed\n");
	outcome_clear(&o);
}

static void test_formats(void **state)
{
	(void)state;
	size_t n = 0;
	for (const char *const *name = export_formats(); *name; name++, n++) {
		assert_non_null(export_find(*name));
	}
	assert_int_equal(n, 7);
	assert_null(export_find("sysctls"));
}

static void call_is(const char *name, struct value v, const char *wanted)
{
	struct profile_setting s = {.assignment = {.value = v}};
	struct export_object o = {.parts = {&s}, .n_parts = 1};
	char call[256] = "";
	const char *why;
	assert_int_equal(tunable_resolve(name, "", "eth0", &s.assignment.setting, NULL), 0);
	assert_int_equal(export_call(&o, call, sizeof(call), &why), wanted ? 0 : -EOPNOTSUPP);
	assert_string_equal(call, wanted ? wanted : call);
	assert_true(wanted || why);
}

/* tc and ip have words of their own, which no namespace here has the kinds for. */
static void test_calls(void **state)
{
	(void)state;
	call_is("qdisc.root", value_text("fq"), "qdisc eth0 fq");
	call_is("qdisc.root", value_text("mq"), NULL);
	call_is("qdisc.root.maxrate", value_int(1000000),
		"qdisc_part eth0 'maxrate 1000000bit' ''");
	call_is("qdisc.root.maxrate", value_int(0), NULL);
	call_is("qdisc.root.ecn", value_bool(false), "qdisc_part eth0 'noecn' ''");
	call_is("qdisc.root.split_gso", value_bool(true), "qdisc_part eth0 'split-gso' ''");
	call_is("qdisc.root.buckets_log", value_int(10), "qdisc_part eth0 'buckets 1024' ''");
	call_is("qdisc.root.target", value_int(5000), "qdisc_part eth0 'target 5000us' ''");
	call_is("route.rto_min", value_int(1500), "route eth0 rto_min '2ms'");
	call_is("route.rto_min", value_int(0), "route eth0 rto_min ''");
	call_is("route.congctl", value_text("default"), "route eth0 congctl ''");
	call_is("route.features", value_text("ecn"), "route eth0 features 'ecn'");
	call_is("route.congctl", value_text("x';reboot;'"), NULL);
	call_is("rps.cpus", value_text("0,33"), "steer eth0 rx rps_cpus 2,00000001");
	call_is("xps.cpus", value_text("none"), "steer eth0 tx xps_cpus 0");
	call_is("xps.cpus", value_text("spread"), NULL);
	call_is("irq.affinity", value_text("2-3"), "irqs eth0 2 3");
	call_is("msix.mode", value_text("msi"), NULL);
	call_is("rps.flow_entries", value_int(1000),
		"for f in /sys/class/net/eth0/queues/rx-*/rps_flow_cnt; do put \"$f\" 1024 || "
		"return 1; "
		"done");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats), cmocka_unit_test(test_sysctl),
		cmocka_unit_test(test_calls),	cmocka_unit_test(test_tuned),
		cmocka_unit_test(test_link),	cmocka_unit_test(test_udev),
		cmocka_unit_test(test_shell),	cmocka_unit_test(test_dropin),
		cmocka_unit_test(test_ansible),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
