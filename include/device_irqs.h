/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interrupts of one network device: which they are, of which queue, on which CPUs they may come
 * and have come. Only those in the device's own msi_irqs (for virtio that of the PCI device above),
 * or its one legacy interrupt; never another device's. Reads only. Used by the back ends irq and
 * msix, and by the agent for what came where.
 */
#ifndef TUNESWEEP_DEVICE_IRQS_H
#define TUNESWEEP_DEVICE_IRQS_H

#include "cpus.h"
#include "sysfile.h"

#define DEVICE_IRQS_MAX 512

enum irq_mode { IRQ_INTX, IRQ_MSI, IRQ_MSIX };

struct device_irq {
	int irq;
	int queue; /* -1: of none (configuration, events, errors) */
	enum irq_mode mode;
	char name[64]; /* of its handler; "" if it is not requested now */
};

/* Sorted by number; how many, or -errno: -ENODEV without hardware. A device that is down has
 * vectors without handlers. */
int device_irqs_list(const struct sysroot *root, const char *device, struct device_irq *out,
		     size_t max, struct err *e);

/* Queue number by the handler's name: "eth0-TxRx-3", "virtio1-input.0", "mlx5_comp7@pci:...". */
int device_irq_queue(const char *name, const char *device);

int device_irq_effective(const struct sysroot *root, int irq, cpu_set_t *out, struct err *e);
/* Interrupts that have come to each CPU since the boot; counts[CPU_SETSIZE]. */
int device_irq_counts(const struct sysroot *root, int irq, uint64_t *counts, struct err *e);

const char *irq_mode_name(enum irq_mode mode);

#endif
