/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where things are in the machine: its CPUs, SMT siblings and NUMA nodes, and the node of a network
 * device, all from /sys below the root prefix. Reads only. Used by the back ends that place
 * interrupts and queues, and by the endpoints for numa.cpu.
 */
#ifndef TUNESWEEP_TOPOLOGY_H
#define TUNESWEEP_TOPOLOGY_H

#include "cpus.h"
#include "sysfile.h"
#include <limits.h>

/* CPUs that are online; -errno if the machine does not say. */
int topology_online(const struct sysroot *root, cpu_set_t *out, struct err *e);

/* Nodes that are online; node 0 alone where the kernel knows no nodes. */
void topology_nodes(const struct sysroot *root, cpu_set_t *out);
/* Those with memory. */
void topology_memory_nodes(const struct sysroot *root, cpu_set_t *out);
/* Online CPUs of a node; the empty set for a node with memory alone, or none. */
int topology_node_cpus(const struct sysroot *root, int node, cpu_set_t *out, struct err *e);

/* All threads of that CPU's core, itself included. */
void topology_siblings(const struct sysroot *root, int cpu, cpu_set_t *out);

/* Cores of online CPUs with more than one thread, "0,64 1,65"; "..." at the end where there is no
 * room for all. "" where each CPU is a core of its own. Returns how many cores. */
size_t topology_shared_cores(const struct sysroot *root, char *text, size_t size);

/* Of set: those that are the first thread of their core, then their siblings. Returns how many. */
size_t topology_cores_first(const struct sysroot *root, const cpu_set_t *set,
			    int order[CPU_SETSIZE]);

/* The device's folder on its bus, as /sys/devices/..., of size PATH_MAX: for virtio that of the PCI
 * device above. -ENODEV for one without (veth, lo). */
int topology_device(const struct sysroot *root, const char *device, char *path, struct err *e);
/* Its node; -1 where the firmware or the bus does not say. */
int topology_device_node(const struct sysroot *root, const char *device);

/* CPUs near the device: its node's, else all that are online. */
int topology_local_cpus(const struct sysroot *root, const char *device, cpu_set_t *out,
			struct err *e);

#endif
