/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a device's interrupts came between two moments: an affinity that was written is no proof of
 * one that took effect, so the kernel's own counts per CPU are compared. Used by the agent around
 * each trial.
 */
#ifndef TUNESWEEP_IRQ_WATCH_H
#define TUNESWEEP_IRQ_WATCH_H

#include "sysfile.h"
#include <jansson.h>
#include <net/if.h>

struct irq_watch;

/* Counts of this device's queues now; NULL if it has none. */
struct irq_watch *irq_watch_create(const struct sysroot *root, const char *device);
void irq_watch_destroy(struct irq_watch *w);

/* Since then: {"cpus": {"CPU": n}, "effective": "2-3", "astray": n, "astray_cpus": {"CPU": n}}.
 * effective: CPUs of the effective affinities now; astray: interrupts on CPUs that the affinity in
 * force does not name, all of them and those of each CPU. */
json_t *irq_watch_json(const struct sysroot *root, const struct irq_watch *w);

#endif
