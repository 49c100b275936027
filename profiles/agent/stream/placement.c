/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the endpoints' threads run and their memory lies: the request's "numa" understood, and
 * asked of the kernel by each thread before it touches its buffers; and what became of it, read at
 * the ends of the window. Called by options.c, flow.c and endpoint.c.
 */
#include "cleanup.h"
#include "flow_private.h"
#include "topology.h"
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

/* The interface on the way to an address, or that which has it, if it is this host's own: a
 * datagram socket that is connected has asked the routes and sent nothing. */
static void device_of(const char *address, char device[IF_NAMESIZE])
{
	struct sockaddr_storage to = {.ss_family = AF_INET};
	struct sockaddr_in *four = (struct sockaddr_in *)&to;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&to;
	socklen_t len = sizeof(*four);
	device[0] = 0;
	four->sin_port = htons(9);
	if (inet_pton(AF_INET, address, &four->sin_addr) != 1) {
		len = sizeof(*six);
		to.ss_family = AF_INET6;
		if (inet_pton(AF_INET6, address, &six->sin6_addr) != 1) {
			return;
		}
	}
	auto_close int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, len)) {
		host_device(fd, device);
	}
}

int placement_parse(const json_t *numa, const char *address, struct stream_placement *out,
		    struct err *e)
{
	static const struct sysroot real = {""};
	char device[IF_NAMESIZE];
	const char *policy = NULL, *cpu = NULL;
	json_error_t why;
	*out = (struct stream_placement){.asked = numa != NULL};
	if (!numa) {
		return 0;
	}
	if (json_unpack_ex((json_t *)numa, &why, JSON_STRICT, "{s?:s, s?:s}", "policy", &policy,
			   "cpu", &cpu)) {
		return err_usage(e, "stream: \"numa\": %s", why.text);
	}
	int r = policy ? numa_policy_parse(policy, &out->policy, e) : 0;
	if (r || !cpu) {
		return r;
	}
	device_of(address, device);
	out->has_cpus = true;
	return numa_place_cpus(&real, device, cpu, &out->cpus, e);
}

int placement_apply(const struct stream_placement *p)
{
	if (!p->asked) {
		return 0;
	}
	if (p->has_cpus && sched_setaffinity(0, sizeof(p->cpus), &p->cpus)) {
		return errno == EINVAL ? FLOW_NO_CPU : errno;
	}
	return -numa_policy_apply(&p->policy, NULL);
}

/* 1: some are, 0: none is, -1: the machine does not say. */
static int is_near(const struct sysroot *root, int node, const uint64_t cpus[2])
{
	cpu_set_t set;
	bool near = false;
	if (topology_node_cpus(root, node, &set, NULL)) {
		return -1;
	}
	for (int cpu = 0; cpu < 128; cpu++) {
		near |= CPU_ISSET(cpu, &set) && (cpus[cpu / 64] >> cpu % 64 & 1);
	}
	return near;
}

/* CPUs are noted as far as there are bits. */
static bool are_all_noted(const struct sysroot *root)
{
	cpu_set_t online;
	bool beyond = topology_online(root, &online, NULL) != 0;
	for (int cpu = 128; cpu < CPU_SETSIZE; cpu++) {
		beyond |= CPU_ISSET(cpu, &online);
	}
	return !beyond;
}

double placement_remote(const struct sysroot *root, const uint64_t pages[CPU_SETSIZE],
			const uint64_t cpus[2])
{
	double all = 0, remote = 0;
	if (!(cpus[0] | cpus[1]) || !are_all_noted(root)) {
		return NAN;
	}
	for (int node = 0; node < CPU_SETSIZE; node++) {
		int near = pages[node] ? is_near(root, node, cpus) : 1;
		if (near < 0) {
			return NAN;
		}
		all += (double)pages[node];
		remote += near ? 0 : (double)pages[node];
	}
	return all > 0 ? remote / all : NAN;
}

json_t *placement_json(const struct sysroot *root, const struct stream_placement *p,
		       const void *const *memory, size_t n, const uint64_t cpus[2])
{
	cpu_set_t nodes;
	uint64_t pages[CPU_SETSIZE] = {0};
	char list[1024] = "";
	double remote = NAN;
	topology_memory_nodes(root, &nodes);
	if (!p->asked && CPU_COUNT(&nodes) < 2) {
		return json_null();
	}
	json_t *on = json_object();
	bool told = !numa_place_pages(root, memory, n, pages, NULL);
	for (int i = 0; told && i < CPU_SETSIZE; i++) {
		char node[16];
		snprintf(node, sizeof(node), "%d", i);
		if (pages[i]) {
			json_object_set_new(on, node, json_integer((json_int_t)pages[i]));
		}
	}
	if (told && CPU_COUNT(&nodes) > 1) {
		remote = placement_remote(root, pages, cpus);
	}
	cpus_format_list(&p->cpus, list, sizeof(list));
	return json_pack("{s:s?, s:o, s:o}", "cpus", p->has_cpus ? list : NULL, "pages", on,
			 "remote", isfinite(remote) ? json_real(remote) : json_null());
}
