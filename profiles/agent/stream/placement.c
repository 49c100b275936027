/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the endpoints' threads run and their memory lies: the request's "numa" understood, and
 * asked of the kernel by each thread before it touches its buffers. What became of it is read at
 * the end of the window (endpoint.c). Called by options.c and flow.c.
 */
#include "cleanup.h"
#include "flow_private.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

static bool same_address(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	if (!a || a->sa_family != b->ss_family) {
		return false;
	}
	if (a->sa_family == AF_INET) {
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	}
	return a->sa_family == AF_INET6 &&
	       !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
		       &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
}

/* This host's own address on the way to another one, or that one itself if it is its own: a
 * datagram socket that is connected has asked the routes and sent nothing. */
static int local_address(const char *address, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
	socklen_t len = sizeof(*four);
	memset(out, 0, sizeof(*out));
	four->sin_family = AF_INET;
	four->sin_port = htons(9);
	if (inet_pton(AF_INET, address, &four->sin_addr) != 1) {
		six->sin6_family = AF_INET6;
		len = sizeof(*six);
		if (inet_pton(AF_INET6, address, &six->sin6_addr) != 1) {
			return -EINVAL;
		}
	}
	auto_close int fd = socket(out->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)out, len)) {
		return -errno;
	}
	len = sizeof(*out);
	return getsockname(fd, (struct sockaddr *)out, &len) ? -errno : 0;
}

static void device_of(const char *address, char device[IF_NAMESIZE])
{
	struct sockaddr_storage own;
	struct ifaddrs *all = NULL;
	device[0] = 0;
	if (local_address(address, &own) || getifaddrs(&all)) {
		return;
	}
	for (const struct ifaddrs *i = all; i && !device[0]; i = i->ifa_next) {
		if (same_address(i->ifa_addr, &own)) {
			snprintf(device, IF_NAMESIZE, "%s", i->ifa_name);
		}
	}
	freeifaddrs(all);
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
