/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a setting is set by means that every machine has: a file below /proc/sys or /sys, or a
 * command of ethtool or ip. Used by the formats that are scripts or carry some.
 */
#include "export_format.h"
#include "name_private.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct setting *export_setting(const struct export_object *o)
{
	return &o->parts[0]->assignment.setting;
}

bool export_is_plain(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_.,:/+= -")];
}

const char *export_after(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

static const char *as_word(const struct value *v, const char *on, const char *off, char *buf,
			   size_t size)
{
	if (v->type == VALUE_BOOL) {
		return v->i ? on : off;
	}
	if (v->type == VALUE_TEXT) {
		return v->text;
	}
	snprintf(buf, size, "%" PRId64, v->i);
	return buf;
}

const char *export_switch(const struct export_object *o, const char *on, const char *off)
{
	const struct value *v = &o->parts[0]->assignment.value;
	return v->type == VALUE_BOOL ? (v->i ? on : off) : o->text;
}

static int as_file(struct export_way *way, const struct export_object *o, const char *path)
{
	way->kind = WAY_FILE;
	snprintf(way->path, sizeof(way->path), "%s", path);
	snprintf(way->text, sizeof(way->text), "%s", o->text);
	return 0;
}

/* The same command with the new value and, if it is known, with the old one. */
static int as_command(struct export_way *way, const struct export_object *o, const char *format,
		      const char *device, const char *name)
{
	const struct profile_setting *s = o->parts[0];
	char word[32], old[32];
	way->kind = WAY_COMMAND;
	snprintf(way->command, sizeof(way->command), format, device, name,
		 as_word(&s->assignment.value, "on", "off", word, sizeof(word)));
	if (s->was.type != VALUE_NONE) {
		snprintf(way->undo, sizeof(way->undo), format, device, name,
			 as_word(&s->was, "on", "off", old, sizeof(old)));
	}
	return export_is_plain(way->command) && (!*way->undo || export_is_plain(way->undo))
		       ? 0
		       : -EOPNOTSUPP;
}

static int link_way(struct export_way *way, const struct export_object *o, const char *name)
{
	static const struct {
		const char *name, *file, *command;
	} ways[] = {
		{"mtu", "mtu", NULL},
		{"txqueuelen", "tx_queue_len", NULL},
		{"gro_flush_timeout", "gro_flush_timeout", NULL},
		{"napi_defer_hard_irqs", "napi_defer_hard_irqs", NULL},
		{"threaded", "threaded", NULL},
		{"ipoib_mode", "mode", NULL},
		{"gso_max_size", NULL, "ip link set dev %s %s %s"},
		{"gso_max_segs", NULL, "ip link set dev %s %s %s"},
		{"gro_max_size", NULL, "ip link set dev %s %s %s"},
	};
	const char *device = export_setting(o)->device;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char path[160];
		if (strcmp(ways[i].name, name) != 0) {
			continue;
		}
		if (ways[i].command) {
			return as_command(way, o, ways[i].command, device, name);
		}
		snprintf(path, sizeof(path), "/sys/class/net/%s/%s", device, ways[i].file);
		return as_file(way, o, path);
	}
	return -EOPNOTSUPP;
}

/* ethtool's words have hyphens where the catalogue has underscores, but for the kernel's own names
 * of features and the driver's of flags. */
static int nic_way(struct export_way *way, const struct export_object *o)
{
	static const struct {
		const char *prefix, *command;
		bool own_names;
	} ways[] = {
		{"nic.rings.", "ethtool -G %s %s %s", false},
		{"nic.channels.", "ethtool -L %s %s %s", false},
		{"nic.coalesce.", "ethtool -C %s %s %s", false},
		{"nic.pause.", "ethtool -A %s %s %s", false},
		{"nic.features.", "ethtool -K %s %s %s", true},
		{"nic.flags.", "ethtool --set-priv-flags %s %s %s", true},
	};
	const struct setting *s = export_setting(o);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const char *rest = export_after(s->name, ways[i].prefix);
		char word[64];
		if (!rest) {
			continue;
		}
		snprintf(word, sizeof(word), "%s", rest);
		for (char *p = word; !ways[i].own_names && *p; p++) {
			*p = *p == '_' ? '-' : *p;
		}
		return as_command(way, o, ways[i].command, s->device, word);
	}
	if (strcmp(s->name, "nic.rss_queues") == 0) {
		return as_command(way, o, "ethtool -X %s %s %s", s->device, "equal");
	}
	return -EOPNOTSUPP;
}

int export_way(const struct export_object *o, struct export_way *way)
{
	const struct setting *s = export_setting(o);
	const char *link = export_after(s->name, "link.");
	char path[192];
	memset(way, 0, sizeof(*way));
	if (s->tunable->backend == BACKEND_SYSCTL) {
		return name_path(s->name, path, sizeof(path)) ? -EOPNOTSUPP : as_file(way, o, path);
	}
	if (strcmp(s->name, "cpu.governor") == 0) {
		return as_file(way, o, "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
	}
	if (strcmp(s->name, "cpu.energy_preference") == 0) {
		return as_file(
			way, o,
			"/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference");
	}
	return link ? link_way(way, o, link) : nic_way(way, o);
}
