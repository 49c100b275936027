/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fingerprint of a host: kernel, command line, CPU, microcode, NUMA nodes, NICs (driver, PCI id,
 * speed, MTU), boot id, mitigations. Read below a root prefix; used for profiles' machine block,
 * the store and warnings about another machine.
 */
#ifndef TUNESWEEP_HOST_H
#define TUNESWEEP_HOST_H

#include "err.h"
#include "sysfile.h"
#include <jansson.h>
#include <stdbool.h>

/*
 * {"kernel", "boot_id", "cmdline", "cpu", "microcode", "cpus", "numa_nodes", "hypervisor" (its
 * vendor, "yes", or null), "product", "mitigations": ["meltdown: Mitigation: PTI", ...] (what is
 * not "Not affected"), "nics": [{"device", "driver", "pci" ("8086:1592"), "firmware", "speed"
 * (Mbit/s), "mtu", "numa_node", "address_type" (permanent, random, stolen, set)}]}, sorted; the
 * loopback is left out. What cannot be read is null (firmware: always, it is asked of the driver).
 * Fails only without memory or where neither /proc nor /sys is there.
 */
int host_fingerprint(const struct sysroot *root, json_t **out, struct err *e);

/* The machine block of a profile out of a fingerprint: {"kernel", "cpu", "numa_nodes", "nics":
 * [{"device", "driver", "firmware", "pci"}]}, without what is not known and without virtual
 * devices. A new object. */
json_t *host_machine(const json_t *fingerprint);

/* Leaves of a machine block what another machine has, too. */
void host_keep_common(json_t *machine, const json_t *fingerprint);

/* What differs, in words, one difference an array element; empty if it is the same kind. Either
 * may be a machine block or a fingerprint. */
json_t *host_differences(const json_t *profile_machine, const json_t *here);

/* Do their kernels differ within one series (6.1.0-18 and 6.1.0-25)? That is an update of the same
 * machine, and the first of its differences. */
bool host_kernel_is_update(const json_t *profile_machine, const json_t *here);

/* host_labels.c: adds to a run's labels what is known of its hosts, {name: fingerprint}, a text
 * each: "kernel", "driver", "firmware", "machine". hosts may be null, and is only read. */
void host_labels(json_t *labels, json_t *hosts);

#endif
