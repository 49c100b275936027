/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exports of what is no sysctl and no setting of a NIC's own: the governor of all CPUs, what a link
 * is given by a command, and what a program is given by systemd.
 */
#include "cleanup.h"
#include "export.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char machine[] =
	"tunesweep_profile: 1\nname: p\nsettings:\n"
	"  - {set: cpu.governor, value: performance}\n"
	"  - {set: link.gso_max_size, device: eth0, value: 65536, was: 32768}\n"
	"  - {set: link.gso_max_segs, device: eth0, value: 64}\n";

/* The file in this format; the caller's. left gets what it cannot express. */
static char *exported(const char *format, const char *profile, json_t *left)
{
	char path[] = "/tmp/test-export-XXXXXX";
	struct profile p;
	struct err e = {0};
	char *text = NULL;
	size_t size;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, profile, strlen(profile)), strlen(profile));
	close(fd);
	if (profile_load(path, &p, &e)) {
		fail_msg("%s", e.text);
	}
	unlink(path);
	auto_json json_t *filled = json_array();
	struct export_request r = {.profile = &p, .host = "", .bus = ""};
	FILE *out = open_memstream(&text, &size);
	if (export_write(export_find(format), &r, out, left, filled, &e)) {
		fail_msg("%s", e.text);
	}
	fclose(out);
	profile_clear(&p);
	return text;
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words)) {
		fail_msg("no '%s' in:\n%s", words, text);
	}
}

static void udev_sets_each_cpu(void **state)
{
	auto_json json_t *left = json_array();
	(void)state;
	auto_free char *text = exported("udev", machine, left);
	assert_has(text, "\nACTION==\"add\", SUBSYSTEM==\"cpu\", "
			 "ATTR{cpufreq/scaling_governor}=\"performance\"\n");
	assert_has(text, "KERNEL==\"eth0\", RUN+=\"/bin/sh -c 'ip link set dev eth0 gso_max_size "
			 "65536'\"\n");
}

static void tuned_has_its_plugin(void **state)
{
	auto_json json_t *left = json_array();
	(void)state;
	auto_free char *text = exported("tuned", machine, left);
	assert_has(text, "\n[cpu]\ngovernor=performance\n");
	assert_int_equal(json_array_size(left), 2);
	assert_has(json_string_value(json_array_get(left, 0)), "link.gso_max_size on eth0");
}

/* A script has a way back, or leaves the setting out. */
static void a_script_goes_over_all_cpus_and_back(void **state)
{
	auto_json json_t *left = json_array();
	(void)state;
	auto_free char *text = exported("shell", machine, left);
	assert_has(text, "for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do");
	assert_has(text, "put \"$f\" 'performance' optional || return 1");
	assert_has(text, "ip link set dev eth0 gso_max_size 32768");
	assert_null(strstr(text, "gso_max_segs 64"));
	assert_int_equal(json_array_size(left), 1);
	assert_has(json_string_value(json_array_get(left, 0)), "there is no way back");
}

static void assert_service(const char *name, const char *value, const char *lines)
{
	char profile[256];
	auto_json json_t *left = json_array();
	snprintf(profile, sizeof(profile),
		 "tunesweep_profile: 1\nname: p\nsettings: []\n"
		 "application:\n  - {set: %s, value: %s}\n",
		 name, value);
	auto_free char *text = exported("systemd-dropin", profile, left);
	assert_has(text, "\n[Service]\n");
	assert_string_equal(strstr(text, "\n[Service]\n") + strlen("\n[Service]\n"), lines);
}

static void a_service_gets_systemds_words(void **state)
{
	(void)state;
	assert_service("numa.policy", "default", "NUMAPolicy=default\n");
	assert_service("numa.policy", "local", "NUMAPolicy=local\n");
	assert_service("numa.policy", "interleave", "NUMAPolicy=interleave\nNUMAMask=all\n");
	assert_service("numa.policy", "'bind:1'", "NUMAPolicy=bind\nNUMAMask=1\n");
	assert_service("numa.policy", "'preferred:0'", "NUMAPolicy=preferred\nNUMAMask=0\n");
	assert_service("numa.cpu", "'0-3,8'", "CPUAffinity=0-3,8\n");
	assert_service("numa.cpu", "nic-node",
		       "# CPUAffinity=: write the CPUs that 'nic-node' means on that machine\n");
	assert_service("socket.message_size", "1MiB",
		       "# The program itself asks for it: socket.message_size = 1MiB\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(udev_sets_each_cpu),
		cmocka_unit_test(tuned_has_its_plugin),
		cmocka_unit_test(a_script_goes_over_all_cpus_and_back),
		cmocka_unit_test(a_service_gets_systemds_words),
	};
	return cmocka_run_group_tests_name("export words", tests, NULL, NULL);
}
