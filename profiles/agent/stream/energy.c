/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The energy that processors and memory have used, by RAPL's counters below /sys/class/powercap
 * (Documentation/power/powercap): packages and their DRAM, summed. Cores and graphics are parts of
 * a package, the platform (psys) contains them all. Opened by host_meters.c, read by read.c.
 */
#include "cleanup.h"
#include "host_meters.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDER	  "/sys/class/powercap"
#define NAMES_MAX 128

enum kind { NEITHER, PACKAGE, MEMORY, PLATFORM };

/* By the zone's own name; "intel-rapl:" only, as others (intel-rapl-mmio) are the same again. */
static enum kind kind_of(const struct sysroot *root, const char *zone)
{
	char path[160], name[64];
	if (strncmp(zone, "intel-rapl:", 11) != 0) {
		return NEITHER;
	}
	snprintf(path, sizeof(path), FOLDER "/%s/name", zone);
	if (sysfile_read(root, path, name, sizeof(name), NULL) < 0) {
		return NEITHER;
	}
	return strncmp(name, "package", 7) == 0 ? PACKAGE
	       : strcmp(name, "dram") == 0	? MEMORY
	       : strcmp(name, "psys") == 0	? PLATFORM
						: NEITHER;
}

static int zone_open(const struct sysroot *root, const char *name, struct energy_zone *out,
		     struct err *e)
{
	char path[160], range[32];
	snprintf(path, sizeof(path), FOLDER "/%s/max_energy_range_uj", name);
	int r = sysfile_read(root, path, range, sizeof(range), e);
	if (r < 0) {
		return r;
	}
	out->range = strtod(range, NULL);
	snprintf(path, sizeof(path), FOLDER "/%s/energy_uj", name);
	out->fd = sysfile_open(root, path, e);
	return out->fd < 0 ? out->fd : 0;
}

int energy_open(const struct sysroot *root, struct energy_zone zone[ENERGY_ZONES_MAX], char *why,
		size_t size)
{
	struct err e = {0};
	auto_free char(*names)[64] = calloc(NAMES_MAX, sizeof(*names));
	int n = names ? sysfile_list(root, FOLDER, names, NAMES_MAX) : 0, used = 0;
	int packages = 0, r = 0;
	for (int i = 0; i < n; i++) {
		packages += kind_of(root, names[i]) == PACKAGE;
	}
	for (int i = 0; i < n && r == 0 && used < ENERGY_ZONES_MAX; i++) {
		enum kind kind = kind_of(root, names[i]);
		if (packages ? kind == PACKAGE || kind == MEMORY : kind == PLATFORM) {
			r = zone_open(root, names[i], &zone[used], &e);
			used += r == 0;
		}
	}
	if (r < 0) { /* a part is no sum */
		while (used > 0) {
			close(zone[--used].fd);
		}
	}
	snprintf(why, size, "%s", used > 0 ? "" : r < 0 ? e.text : "this machine has no RAPL");
	return used;
}

static double counter_read(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0) {
		return NAN;
	}
	text[n] = '\0';
	return strtod(text, NULL);
}

double energy_read(struct energy *e, const struct host_meters *m)
{
	double now[ENERGY_ZONES_MAX];
	for (int i = 0; i < m->n_energy; i++) {
		now[i] = counter_read(m->energy[i].fd);
		if (!isfinite(now[i])) {
			return NAN;
		}
	}
	for (int i = 0; i < m->n_energy; i++) {
		double used = e->started ? now[i] - e->last[i] : 0;
		e->joules += (used < 0 ? used + m->energy[i].range : used) * 1e-6;
		e->last[i] = now[i];
	}
	e->started = true;
	return m->n_energy > 0 ? e->joules : NAN;
}
