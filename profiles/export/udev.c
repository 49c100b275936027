/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * udev rules for what belongs to a device: its files, its own sysctls, and commands of ethtool and
 * ip for the rest. A device that is renamed gets them with the event of its new name.
 */
#include "cleanup.h"
#include "export_format.h"
#include <string.h>

/* The device in "net.ipv4.conf.DEVICE.key" or with slashes; "" if it is no key of a device. */
static void sysctl_device(const struct setting *s, char *device, size_t size)
{
	static const char *const heads[] = {"net.ipv4.conf.",  "net/ipv4/conf/",  "net.ipv6.conf.",
					    "net/ipv6/conf/",  "net.ipv4.neigh.", "net/ipv4/neigh/",
					    "net.ipv6.neigh.", "net/ipv6/neigh/"};
	*device = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const char *rest = export_after(s->name, heads[i]);
		if (!rest) {
			continue;
		}
		snprintf(device, size, "%.*s", (int)strcspn(rest, heads[i][3] == '.' ? "." : "/"),
			 rest);
	}
	if (strcmp(device, "all") == 0 || strcmp(device, "default") == 0) {
		*device = '\0';
	}
}

static const char *refuses(const struct export_object *o)
{
	const struct setting *s = export_setting(o);
	struct export_way way;
	char device[64];
	sysctl_device(s, device, sizeof(device));
	if (s->tunable->backend == BACKEND_SYSCTL && !*device) {
		return "no setting of a device (--format sysctl)";
	}
	if (export_way(o, &way) < 0) {
		return "neither a file nor a command sets it alone (tunesweep apply)";
	}
	bool path = way.kind == WAY_COMMAND || strchr(way.path, '*') || export_is_plain(way.path);
	bool plain = path && (way.kind == WAY_COMMAND || !*way.text || export_is_plain(way.text));
	return plain ? NULL : "udev would read more into it";
}

static void write_rule(FILE *f, const struct export_object *o)
{
	const struct setting *s = export_setting(o);
	struct export_way way;
	char device[64];
	if (export_way(o, &way) < 0) {
		return;
	}
	if (strchr(way.path, '*')) { /* "/sys/devices/system/cpu/cpu" and "/cpufreq/..." */
		fprintf(f, "ACTION==\"add\", SUBSYSTEM==\"cpu\", ATTR{%s}=\"%s\"\n",
			strchr(way.path, '*') + 2, way.text);
		return;
	}
	sysctl_device(s, device, sizeof(device));
	fprintf(f, "ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"%s\", ",
		*device ? device : s->device);
	if (*device) {
		fprintf(f, "SYSCTL{%s}=\"%s\"\n", way.path + strlen("/proc/sys/"), way.text);
	} else if (way.kind == WAY_FILE) {
		fprintf(f, "ATTR{%s}=\"%s\"\n",
			way.path + strlen("/sys/class/net/") + strlen(s->device) + 1, way.text);
	} else {
		fprintf(f, "RUN+=\"/bin/sh -c '%s'\"\n", way.command);
	}
}

static int write_file(FILE *f, const struct export_job *j, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < j->n; i++) {
		if (!*j->objects[i].refused) {
			write_rule(f, &j->objects[i]);
		}
	}
	return 0;
}

const struct export_format export_udev = {
	.name = "udev",
	.suffix = ".rules",
	.where =
		"Belongs in /etc/udev/rules.d/90-tunesweep-%s.rules; then udevadm control --reload "
		"and udevadm trigger --action=add --subsystem-match=net.",
	.wants_whole = true,
	.refuses = refuses,
	.write = write_file,
};
