/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A device's interrupts, found through its own folder in /sys and never by a pattern over all of
 * them. It sets nothing. Called by the back ends irq and msix and by the agent.
 */
#include "device_irqs.h"
#include "cleanup.h"
#include "topology.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *irq_mode_name(enum irq_mode mode)
{
	static const char *const names[] = {
		[IRQ_INTX] = "intx", [IRQ_MSI] = "msi", [IRQ_MSIX] = "msix"};
	return names[mode];
}

int device_irq_queue(const char *name, const char *device)
{
	static const char *const others[] = {"config",	"async", "event", "misc", "cmd",   "ctrl",
					     "control", "mbx",	 "admin", "aeq",  "error", "other"};
	char word[64];
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "@"), name);
	for (char *p = word; *p; p++) {
		*p = (char)tolower((unsigned char)*p);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (strstr(word, others[i])) {
			return -1;
		}
	}
	size_t end = strlen(word), start = end;
	while (start > 0 && isdigit((unsigned char)word[start - 1])) {
		start--;
	}
	/* "eth0" alone is the device, not its queue 0. */
	if (start == end || !strcmp(name, device) || !strpbrk(word, "-._:")) {
		return -1;
	}
	return atoi(word + start);
}

/* The first of the handlers: no queue's vector is shared. */
static void handler_of(const struct sysroot *root, int irq, char *out, size_t size)
{
	char path[64], text[256];
	snprintf(path, sizeof(path), "/sys/kernel/irq/%d/actions", irq);
	if (sysfile_read(root, path, text, sizeof(text), NULL)) {
		*text = 0;
	}
	snprintf(out, size, "%.*s", (int)strcspn(text, ",\n"), text);
}

static enum irq_mode mode_of(const struct sysroot *root, const char *folder, const char *irq)
{
	char path[PATH_MAX + 96], text[32];
	snprintf(path, sizeof(path), "%s/%s", folder, irq);
	return !sysfile_read(root, path, text, sizeof(text), NULL) && !strcmp(text, "msi")
		       ? IRQ_MSI
		       : IRQ_MSIX;
}

/* A device with one interrupt for all has its queues on it. */
static void single_queue(struct device_irq *irqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (irqs[i].queue >= 0) {
			return;
		}
	}
	for (size_t i = 0; i < n; i++) {
		bool one = n == 1 || irqs[i].mode != IRQ_MSIX;
		irqs[i].queue = one && *irqs[i].name ? 0 : -1;
	}
}

static int legacy(const struct sysroot *root, const char *folder, struct device_irq *out)
{
	char path[PATH_MAX + 16], text[32];
	snprintf(path, sizeof(path), "%s/irq", folder);
	if (sysfile_read(root, path, text, sizeof(text), NULL) || atoi(text) <= 0) {
		return 0;
	}
	*out = (struct device_irq){.irq = atoi(text), .queue = 0, .mode = IRQ_INTX};
	handler_of(root, out->irq, out->name, sizeof(out->name));
	return 1;
}

static int by_number(const void *a, const void *b)
{
	const struct device_irq *x = a, *y = b;
	return x->irq - y->irq;
}

int device_irqs_list(const struct sysroot *root, const char *device, struct device_irq *out,
		     size_t max, struct err *e)
{
	char folder[PATH_MAX], msi[PATH_MAX + 16];
	auto_free char(*names)[64] = calloc(DEVICE_IRQS_MAX, sizeof(*names));
	if (!names) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int r = topology_device(root, device, folder, e);
	if (r) {
		return r;
	}
	snprintf(msi, sizeof(msi), "%s/msi_irqs", folder);
	int n = sysfile_list(root, msi, names, DEVICE_IRQS_MAX);
	if (n <= 0) {
		return max ? legacy(root, folder, out) : 0;
	}
	n = (size_t)n < max ? n : (int)max;
	for (int i = 0; i < n; i++) {
		out[i].irq = atoi(names[i]);
		out[i].mode = mode_of(root, msi, names[i]);
		handler_of(root, out[i].irq, out[i].name, sizeof(out[i].name));
		out[i].queue = device_irq_queue(out[i].name, device);
	}
	qsort(out, (size_t)n, sizeof(*out), by_number);
	single_queue(out, (size_t)n);
	return n;
}

int device_irq_effective(const struct sysroot *root, int irq, cpu_set_t *out, struct err *e)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/irq/%d/effective_affinity_list", irq);
	int r = sysfile_read(root, path, text, sizeof(text), e);
	return r ? r : cpus_parse_list(text, out, e);
}

int device_irq_counts(const struct sysroot *root, int irq, uint64_t *counts, struct err *e)
{
	char path[64], text[12 * CPU_SETSIZE];
	memset(counts, 0, CPU_SETSIZE * sizeof(*counts));
	snprintf(path, sizeof(path), "/sys/kernel/irq/%d/per_cpu_count", irq);
	int r = sysfile_read(root, path, text, sizeof(text), e);
	size_t cpu = 0;
	for (char *p = text; !r && *p && cpu < CPU_SETSIZE; p += *p == ',') {
		char *end;
		counts[cpu++] = strtoull(p, &end, 10);
		if (end == p) {
			return err_set(e, -EBADMSG, "%s is not a list of numbers", path);
		}
		p = end;
	}
	return r;
}
