/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NUMA policies and placements: words to what the kernel takes, and the kernel's account of the
 * pages. It allocates nothing itself. Called by the endpoints' threads and by exec.
 */
#include "numa_place.h"
#include "cleanup.h"
#include "topology.h"
#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1024 };

static int node_parse(const char *word, const char *prefix, struct numa_policy *out,
		      enum numa_kind kind)
{
	size_t n = strlen(prefix);
	if (strncmp(word, prefix, n) != 0 || !word[n] || strspn(word + n, "0123456789") > 3 ||
	    word[n + strspn(word + n, "0123456789")]) {
		return -EINVAL;
	}
	*out = (struct numa_policy){kind, atoi(word + n)};
	return 0;
}

int numa_policy_parse(const char *word, struct numa_policy *out, struct err *e)
{
	static const char *const words[] = {[NUMA_DEFAULT] = "default",
					    [NUMA_LOCAL] = "local",
					    [NUMA_INTERLEAVE] = "interleave"};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(word, words[i])) {
			*out = (struct numa_policy){.kind = (enum numa_kind)i};
			return 0;
		}
	}
	if (!node_parse(word, "bind:", out, NUMA_BIND) ||
	    !node_parse(word, "preferred:", out, NUMA_PREFERRED)) {
		return 0;
	}
	return err_usage(e,
			 "numa.policy cannot be '%.40s' (default, local, interleave, bind:NODE, "
			 "preferred:NODE)",
			 word);
}

static int refused(const struct numa_policy *p, int code, struct err *e)
{
	if (code == EINVAL && (p->kind == NUMA_BIND || p->kind == NUMA_PREFERRED)) {
		return err_set(e, -EINVAL, "numa.policy: this host has no memory on node %d",
			       p->node);
	}
	return err_set(e, -code, "numa.policy: %s", strerror(code));
}

int numa_policy_apply(const struct numa_policy *p, struct err *e)
{
	static const int modes[] = {[NUMA_DEFAULT] = MPOL_DEFAULT,
				    [NUMA_LOCAL] = MPOL_LOCAL,
				    [NUMA_INTERLEAVE] = MPOL_INTERLEAVE,
				    [NUMA_BIND] = MPOL_BIND,
				    [NUMA_PREFERRED] = MPOL_PREFERRED};
	const struct sysroot real = {""};
	const int bits = 8 * (int)sizeof(unsigned long);
	unsigned long mask[NODES_MAX / 64] = {0};
	cpu_set_t nodes;
	CPU_ZERO(&nodes);
	if (p->kind == NUMA_INTERLEAVE) {
		topology_memory_nodes(&real, &nodes);
	} else if (p->kind == NUMA_BIND || p->kind == NUMA_PREFERRED) {
		CPU_SET((unsigned)p->node, &nodes);
	}
	for (int i = 0; i < NODES_MAX; i++) {
		mask[i / bits] |= CPU_ISSET(i, &nodes) ? 1UL << i % bits : 0;
	}
	bool any = CPU_COUNT(&nodes) > 0;
	if (set_mempolicy(modes[p->kind], any ? mask : NULL, any ? NODES_MAX : 0) == 0 ||
	    (errno == ENOSYS && p->kind == NUMA_DEFAULT)) {
		return 0;
	}
	return refused(p, errno, e);
}

static int of_node(const struct sysroot *root, const char *device, const char *word, cpu_set_t *out,
		   struct err *e)
{
	cpu_set_t nodes;
	int own = *device ? topology_device_node(root, device) : -1;
	topology_nodes(root, &nodes);
	if (own < 0 && CPU_COUNT(&nodes) == 1) {
		own = cpus_first(&nodes); /* whatever it is near, it is near this one */
	}
	if (own < 0) {
		return err_set(e, -ENODEV, "numa.cpu: %s does not say which node it is near",
			       *device ? device : "the test's device");
	}
	bool other = !strcmp(word, "other-node");
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &nodes) && (i == own) != other &&
		    !topology_node_cpus(root, i, out, NULL) && CPU_COUNT(out)) {
			return 0;
		}
	}
	return err_set(e, -ENODEV, "numa.cpu: %s has no CPUs here: there is no such node", word);
}

int numa_place_cpus(const struct sysroot *root, const char *device, const char *word,
		    cpu_set_t *out, struct err *e)
{
	cpu_set_t online;
	if (!strcmp(word, "nic-node") || !strcmp(word, "other-node")) {
		return of_node(root, device, word, out, e);
	}
	int r = topology_online(root, &online, e);
	if (r || !strcmp(word, "all")) {
		*out = online;
		return r;
	}
	if (cpus_parse_list(word, out, NULL) || !CPU_COUNT(out)) {
		return err_usage(e,
				 "numa.cpu cannot be '%.40s' (nic-node, other-node, all, or a list "
				 "of CPUs such as 0-3,8)",
				 word);
	}
	return cpus_within(out, &online)
		       ? 0
		       : err_usage(e, "numa.cpu: not all CPUs of '%.40s' are online", word);
}

/* The number of the line whose mapping holds the address: the last one that begins before it. */
static bool holds(const void *address, unsigned long start, unsigned long next)
{
	return (unsigned long)address >= start && (unsigned long)address < next;
}

static void add_pages(const char *line, uint64_t *pages)
{
	for (const char *p = strstr(line, " N"); p; p = strstr(p + 1, " N")) {
		unsigned node;
		unsigned long long count;
		if (sscanf(p, " N%u=%llu", &node, &count) == 2 && node < CPU_SETSIZE) {
			pages[node] += count;
		}
	}
}

/* All of a file of /proc; the caller frees. */
static char *read_all(const struct sysroot *root, const char *path, struct err *e)
{
	for (size_t size = 1 << 16; size <= 1 << 24; size *= 4) {
		char *text = malloc(size);
		int r = text ? sysfile_read(root, path, text, size, e) : -ENOMEM;
		if (!r && strlen(text) < size - 2) {
			return text;
		}
		free(text);
		if (r) {
			return NULL;
		}
	}
	err_set(e, -EFBIG, "%s is too long", path);
	return NULL;
}

int numa_place_pages(const struct sysroot *root, const void *const *addresses, size_t n,
		     uint64_t *pages, struct err *e)
{
	memset(pages, 0, CPU_SETSIZE * sizeof(*pages));
	auto_free char *text = read_all(root, "/proc/self/numa_maps", e);
	if (!text) {
		return e && e->code ? e->code : -ENOMEM;
	}
	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		unsigned long start = strtoul(line, NULL, 16);
		end = strchr(line, '\n');
		unsigned long next = end && end[1] ? strtoul(end + 1, NULL, 16) : ~0UL;
		bool ours = false;
		for (size_t i = 0; i < n && !ours; i++) {
			ours = holds(addresses[i], start, next);
		}
		if (end) {
			*end = 0;
		}
		if (ours) {
			add_pages(line, pages);
		}
	}
	return 0;
}
