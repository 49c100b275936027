/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a process's memory comes from and where it runs: the words of numa.policy and numa.cpu, how
 * they are asked of the kernel, and what the pages really did. It changes the calling thread alone;
 * what the thread makes afterwards inherits it. Used by the endpoints and by exec.
 */
#ifndef TUNESWEEP_NUMA_PLACE_H
#define TUNESWEEP_NUMA_PLACE_H

#include "cpus.h"
#include "sysfile.h"
#include <stdint.h>

enum numa_kind { NUMA_DEFAULT, NUMA_LOCAL, NUMA_INTERLEAVE, NUMA_BIND, NUMA_PREFERRED };

struct numa_policy {
	enum numa_kind kind;
	int node; /* of NUMA_BIND and NUMA_PREFERRED */
};

/* default, local, interleave, bind:N, preferred:N. -EINVAL (ERR_USAGE). */
int numa_policy_parse(const char *word, struct numa_policy *out, struct err *e);

/* For memory that the calling thread touches first from now on. -EINVAL for a node that is not
 * there, -ENOSYS where the kernel knows no policies (default does nothing then). */
int numa_policy_apply(const struct numa_policy *p, struct err *e);

/* The CPUs that a word of numa.cpu stands for: nic-node and other-node by the device ("" if none is
 * known), all, or a CPU list, all of them online. -ENODEV where the machine has no such node. */
int numa_place_cpus(const struct sysroot *root, const char *device, const char *word,
		    cpu_set_t *out, struct err *e);

/* Pages on each node of the mappings that hold these n addresses, from /proc/self/numa_maps; a
 * mapping counts once. pages[CPU_SETSIZE], by node. -errno where the kernel does not tell. */
int numa_place_pages(const struct sysroot *root, const void *const *addresses, size_t n,
		     uint64_t *pages, struct err *e);

#endif
