/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which CPUs each part of a device works on: interrupts or queues by name, as one text
 * "24=0-3 25=1" (sorted as the device has them; "-" for no CPU), and the policies that fill it.
 * Opens nothing but what the machine says of its CPUs. Used by the back ends irq, rps and xps.
 */
#ifndef TUNESWEEP_CPU_MAP_H
#define TUNESWEEP_CPU_MAP_H

#include "cpus.h"
#include "sysfile.h"
#include "value.h"

#define CPU_MAP_MAX 512

struct cpu_map_part {
	char name[16];
	int queue; /* parts of the same queue (its RX and its TX) get the same CPUs */
	cpu_set_t cpus;
};

struct cpu_map {
	size_t n;
	struct cpu_map_part *parts; /* [CPU_MAP_MAX] */
};

int cpu_map_init(struct cpu_map *m, struct err *e);
void cpu_map_clear(struct cpu_map *m);
struct cpu_map_part *cpu_map_add(struct cpu_map *m, const char *name, int queue);

int cpu_map_format(const struct cpu_map *m, char *text, size_t size, struct err *e);
/* Names and their CPUs; every queue is 0. */
int cpu_map_parse(const char *text, struct cpu_map *m, struct err *e);

/* How a policy hands out its CPUs. */
enum cpu_map_way {
	ONE_EACH, /* one CPU for a queue, in turn: an interrupt comes to one CPU at a time */
	SHARES,	  /* all of them divided among the queues, so that each CPU has one */
};

/*
 * spread: over all CPUs that are online, those near the device first, a core's first thread before
 * its siblings. local-node: over those near the device. one: all on the first near the device.
 * none: no CPU. Else a CPU list, handed out in the same way (ONE_EACH) or given whole to each
 * (SHARES). -EINVAL (ERR_USAGE) for other words and for CPUs that are not online.
 */
int cpu_map_policy(const struct sysroot *root, const char *device, const char *word,
		   enum cpu_map_way way, struct cpu_map *m, struct err *e);

/* The word whose policy gives this map, or a CPU list that all parts have in common; false if there
 * is none. */
bool cpu_map_word(const struct sysroot *root, const char *device, enum cpu_map_way way,
		  const struct cpu_map *m, struct value *out);

#define auto_cpu_map __attribute__((cleanup(cpu_map_clear)))

#endif
