/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPUs, cores, nodes and where a device is, read from /sys. It sets nothing. Called by the back
 * ends that place interrupts and queues, and by the endpoints.
 */
#include "topology.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_FOLDER  "/sys/devices/system/cpu"
#define NODE_FOLDER "/sys/devices/system/node"

static int read_list(const struct sysroot *root, const char *path, cpu_set_t *out, struct err *e)
{
	char text[4096];
	int r = sysfile_read(root, path, text, sizeof(text), e);
	return r ? r : cpus_parse_list(text, out, e);
}

int topology_online(const struct sysroot *root, cpu_set_t *out, struct err *e)
{
	return read_list(root, CPU_FOLDER "/online", out, e);
}

void topology_nodes(const struct sysroot *root, cpu_set_t *out)
{
	if (read_list(root, NODE_FOLDER "/online", out, NULL)) {
		CPU_ZERO(out);
		CPU_SET(0, out);
	}
}

void topology_memory_nodes(const struct sysroot *root, cpu_set_t *out)
{
	if (read_list(root, NODE_FOLDER "/has_memory", out, NULL)) {
		topology_nodes(root, out);
	}
}

int topology_node_cpus(const struct sysroot *root, int node, cpu_set_t *out, struct err *e)
{
	char path[128];
	cpu_set_t online;
	int r = topology_online(root, &online, e);
	if (r) {
		return r;
	}
	snprintf(path, sizeof(path), NODE_FOLDER "/node%d/cpulist", node);
	if (!sysfile_exists(root, NODE_FOLDER "/online") && node == 0) {
		*out = online;
		return 0;
	}
	r = read_list(root, path, out, e);
	CPU_AND(out, out, &online);
	return r;
}

void topology_siblings(const struct sysroot *root, int cpu, cpu_set_t *out)
{
	char path[128];
	snprintf(path, sizeof(path), CPU_FOLDER "/cpu%d/topology/thread_siblings_list", cpu);
	if (read_list(root, path, out, NULL)) {
		CPU_ZERO(out);
		CPU_SET(cpu, out);
	}
}

size_t topology_shared_cores(const struct sysroot *root, char *text, size_t size)
{
	static const char more[] = " ...";
	cpu_set_t online, core;
	size_t used = 0, n = 0;
	bool room = true;
	*text = 0;
	if (topology_online(root, &online, NULL)) {
		return 0;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		char list[128];
		topology_siblings(root, cpu, &core);
		CPU_AND(&core, &core, &online);
		if (cpus_first(&core) != cpu || CPU_COUNT(&core) < 2 ||
		    cpus_format_list(&core, list, sizeof(list))) {
			continue;
		}
		room = room && used + strlen(list) + 1 + sizeof(more) <= size;
		used += room ? (size_t)sprintf(text + used, "%s%s", n ? " " : "", list) : 0;
		n++;
	}
	if (!room) {
		strcpy(text + used, more);
	}
	return n;
}

size_t topology_cores_first(const struct sysroot *root, const cpu_set_t *set,
			    int order[CPU_SETSIZE])
{
	cpu_set_t left = *set;
	size_t n = 0;
	while (CPU_COUNT(&left)) {
		cpu_set_t round = left;
		for (int i = cpus_first(&round); i >= 0; i = cpus_first(&round)) {
			cpu_set_t core;
			topology_siblings(root, i, &core);
			CPU_CLR(i, &left);
			CPU_CLR(i, &round);
			order[n++] = i;
			for (int k = 0; k < CPU_SETSIZE; k++) { /* the core has had its turn */
				if (CPU_ISSET(k, &core)) {
					CPU_CLR(k, &round);
				}
			}
		}
	}
	return n;
}

int topology_device(const struct sysroot *root, const char *device, char *path, struct err *e)
{
	char link[128];
	snprintf(link, sizeof(link), "/sys/class/net/%s", device);
	if (!sysfile_exists(root, link)) {
		return err_set(e, -ENODEV, "there is no device %s", device);
	}
	snprintf(link, sizeof(link), "/sys/class/net/%s/device", device);
	if (sysfile_resolve(root, link, path, PATH_MAX)) {
		return err_set(e, -ENODEV, "%s is on no bus: it has no hardware of its own",
			       device);
	}
	char *last = strrchr(path, '/');
	if (last && !strncmp(last, "/virtio", 7)) {
		*last = 0;
	}
	return 0;
}

int topology_device_node(const struct sysroot *root, const char *device)
{
	char path[PATH_MAX], file[PATH_MAX + 16], text[32];
	if (topology_device(root, device, path, NULL)) {
		return -1;
	}
	snprintf(file, sizeof(file), "%s/numa_node", path);
	return sysfile_read(root, file, text, sizeof(text), NULL) ? -1 : atoi(text);
}

int topology_local_cpus(const struct sysroot *root, const char *device, cpu_set_t *out,
			struct err *e)
{
	int node = topology_device_node(root, device);
	int r = node < 0 ? -ENODEV : topology_node_cpus(root, node, out, NULL);
	return r || !CPU_COUNT(out) ? topology_online(root, out, e) : 0;
}
