/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A TuneD profile: its plug-ins sysctl, net (one section a device) and cpu.
 */
#include "cleanup.h"
#include "export_format.h"
#include <string.h>

/* Options of TuneD's plug-in net, in ethtool's words. */
static const struct {
	const char *prefix, *option;
	const char *const words[12];
} groups[] = {
	{"nic.features.", "features", {NULL}}, /* any */
	{"nic.coalesce.",
	 "coalesce",
	 {"rx_usecs", "rx_frames", "tx_usecs", "tx_frames", "adaptive_rx", "adaptive_tx", NULL}},
	{"nic.rings.", "ring", {"rx", "rx_mini", "rx_jumbo", "tx", NULL}},
	{"nic.channels.", "channels", {"rx", "tx", "other", "combined", NULL}},
	{"nic.pause.", "pause", {"rx", "tx", "autoneg", NULL}},
};

static const struct {
	const char *name, *section, *option;
} singles[] = {
	{"link.mtu", "net", "mtu"},
	{"link.txqueuelen", "net", "txqueuelen"},
	{"cpu.governor", "cpu", "governor"},
	{"cpu.energy_preference", "cpu", "energy_performance_preference"},
};

static const char *word_in_group(const struct export_object *o, size_t g)
{
	const char *rest = export_after(export_setting(o)->name, groups[g].prefix);
	if (!rest || !groups[g].words[0]) {
		return rest;
	}
	for (const char *const *w = groups[g].words; *w; w++) {
		if (strcmp(*w, rest) == 0) {
			return rest;
		}
	}
	return NULL;
}

static const char *refuses(const struct export_object *o)
{
	const struct setting *s = export_setting(o);
	if (s->tunable->backend == BACKEND_SYSCTL) {
		if (strchr(s->name, '/')) {
			return "TuneD takes every dot for a separator";
		}
		return !*o->text || export_is_plain(o->text) ? NULL
							     : "TuneD would read more into it";
	}
	for (size_t i = 0; i < ARRAY_SIZE(singles); i++) {
		if (strcmp(s->name, singles[i].name) == 0) {
			return NULL;
		}
	}
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		if (word_in_group(o, g)) {
			return export_is_plain(s->device) ? NULL : "TuneD cannot name this device";
		}
	}
	return "TuneD's plug-ins have nothing for it";
}

static void write_sysctls(FILE *f, const struct export_job *j)
{
	bool any = false;
	for (size_t i = 0; i < j->n; i++) {
		const struct export_object *o = &j->objects[i];
		const struct setting *s = export_setting(o);
		if (*o->refused || s->tunable->backend != BACKEND_SYSCTL) {
			continue;
		}
		fprintf(f, "%s%s=%s\n", any ? "" : "\n[sysctl]\n", s->name, o->text);
		any = true;
	}
}

static void write_singles(FILE *f, const struct export_job *j, const char *section,
			  const char *device)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct export_object *o = &j->objects[i];
		const struct setting *s = export_setting(o);
		for (size_t k = 0; k < ARRAY_SIZE(singles); k++) {
			if (!*o->refused && strcmp(s->name, singles[k].name) == 0 &&
			    strcmp(section, singles[k].section) == 0 &&
			    strcmp(s->device, device) == 0) {
				fprintf(f, "%s=%s\n", singles[k].option, o->text);
			}
		}
	}
}

/* "ring=rx 4096 tx 4096" */
static void write_group(FILE *f, const struct export_job *j, size_t g, const char *device)
{
	bool any = false;
	for (size_t i = 0; i < j->n; i++) {
		const struct export_object *o = &j->objects[i];
		const char *word = *o->refused ? NULL : word_in_group(o, g);
		if (!word || strcmp(export_setting(o)->device, device) != 0) {
			continue;
		}
		fprintf(f, "%s%s", any ? " " : groups[g].option, any ? "" : "=");
		for (; *word; word++) {
			fputc(*word == '_' && groups[g].words[0] ? '-' : *word, f);
		}
		fprintf(f, " %s", export_switch(o, "on", "off"));
		any = true;
	}
	fputs(any ? "\n" : "", f);
}

/* Every device's section where the first of its settings stands. */
static void write_devices(FILE *f, const struct export_job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const char *device = export_setting(&j->objects[i])->device;
		bool first = *device && !*j->objects[i].refused;
		for (size_t k = 0; first && k < i; k++) {
			first = *j->objects[k].refused ||
				strcmp(export_setting(&j->objects[k])->device, device) != 0;
		}
		if (!first) {
			continue;
		}
		fprintf(f, "\n[net_%s]\ntype=net\ndevices=%s\n", device, device);
		write_singles(f, j, "net", device);
		for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
			write_group(f, j, g, device);
		}
	}
}

static int write_file(FILE *f, const struct export_job *j, struct err *e)
{
	(void)e;
	fprintf(f, "[main]\nsummary=tunesweep profile %s\n", j->name);
	write_sysctls(f, j);
	for (size_t i = 0; i < j->n; i++) {
		if (export_after(export_setting(&j->objects[i])->name, "cpu.") &&
		    !*j->objects[i].refused) {
			fputs("\n[cpu]\n", f);
			write_singles(f, j, "cpu", "");
			break;
		}
	}
	write_devices(f, j);
	return 0;
}

const struct export_format export_tuned = {
	.name = "tuned",
	.suffix = ".conf",
	.where = "Belongs in /etc/tuned/%s/tuned.conf (newer TuneD: /etc/tuned/profiles/).",
	.wants_whole = true,
	.refuses = refuses,
	.write = write_file,
};
