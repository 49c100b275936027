/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interrupts of one device's queues between two moments, from the kernel's counts. It moves
 * none. Called by the agent.
 */
#include "irq_watch.h"
#include "cleanup.h"
#include "device_irqs.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct irq_watch {
	char device[IF_NAMESIZE];
	size_t n;
	struct {
		int irq;
		uint64_t counts[CPU_SETSIZE];
	} of[];
};

struct irq_watch *irq_watch_create(const struct sysroot *root, const char *device)
{
	auto_free struct device_irq *irqs = calloc(DEVICE_IRQS_MAX, sizeof(*irqs));
	int n = irqs ? device_irqs_list(root, device, irqs, DEVICE_IRQS_MAX, NULL) : 0;
	struct irq_watch *w = n > 0 ? calloc(1, sizeof(*w) + (size_t)n * sizeof(w->of[0])) : NULL;
	if (!w) {
		return NULL;
	}
	snprintf(w->device, sizeof(w->device), "%s", device);
	for (int i = 0; i < n; i++) {
		bool known = irqs[i].queue >= 0 &&
			     !device_irq_counts(root, irqs[i].irq, w->of[w->n].counts, NULL);
		w->of[w->n].irq = irqs[i].irq;
		w->n += known;
	}
	return w;
}

void irq_watch_destroy(struct irq_watch *w)
{
	free(w);
}

static void add_one(const struct sysroot *root, const struct irq_watch *w, size_t k, uint64_t *came,
		    uint64_t *astray, cpu_set_t *effective)
{
	auto_free uint64_t *now = calloc(CPU_SETSIZE, sizeof(*now));
	char path[64], list[4096];
	cpu_set_t allowed, one;
	if (!now || device_irq_counts(root, w->of[k].irq, now, NULL)) {
		return;
	}
	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", w->of[k].irq);
	bool known = !sysfile_read(root, path, list, sizeof(list), NULL) &&
		     !cpus_parse_list(list, &allowed, NULL);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		uint64_t n = now[i] - w->of[k].counts[i];
		came[i] += n;
		astray[i] += known && !CPU_ISSET(i, &allowed) ? n : 0;
	}
	if (!device_irq_effective(root, w->of[k].irq, &one, NULL)) {
		CPU_OR(effective, effective, &one);
	}
}

/* Of each CPU that has any; their sum. */
static json_t *counts_json(const uint64_t counts[CPU_SETSIZE], uint64_t *sum)
{
	json_t *cpus = json_object();
	for (int i = 0; i < CPU_SETSIZE; i++) {
		char cpu[16];
		snprintf(cpu, sizeof(cpu), "%d", i);
		if (counts[i]) {
			json_object_set_new(cpus, cpu, json_integer((json_int_t)counts[i]));
		}
		*sum += counts[i];
	}
	return cpus;
}

json_t *irq_watch_json(const struct sysroot *root, const struct irq_watch *w)
{
	auto_free uint64_t *came = calloc(2 * CPU_SETSIZE, sizeof(*came));
	uint64_t *astray = came ? came + CPU_SETSIZE : NULL, n_came = 0, n_astray = 0;
	char list[4096] = "";
	cpu_set_t effective;
	CPU_ZERO(&effective);
	if (!came) {
		return json_object();
	}
	for (size_t k = 0; k < w->n; k++) {
		add_one(root, w, k, came, astray, &effective);
	}
	cpus_format_list(&effective, list, sizeof(list));
	json_t *strays = counts_json(astray, &n_astray);
	return json_pack("{s:o, s:s, s:I, s:o}", "cpus", counts_json(came, &n_came), "effective",
			 list, "astray", (json_int_t)n_astray, "astray_cpus", strays);
}
