/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel counts beside the sockets and may say where data was lost or held up: the
 * interface that carries the test, IP, UDP and TCP, and the CPUs' input queues. Read from /proc,
 * which wants no privilege; what this kernel does not count is absent. Called by read.c.
 */
#include "cleanup.h"
#include "cpu_meter.h"
#include "stream_private.h"
#include "sysfile.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define LINE_MAX_BYTES 8192

static const char *const wanted[] = {
	"IpReasmFails",
	"IpFragFails",
	"IpInDiscards",
	"IpOutDiscards",
	"UdpInErrors",
	"UdpRcvbufErrors",
	"UdpSndbufErrors",
	"UdpNoPorts",
	"TcpRetransSegs",
	"TcpOutSegs",
	"TcpInErrs",
	"TcpExtTCPTimeouts",
	"TcpExtPruneCalled",
	"TcpExtRcvPruned",
	"TcpExtTCPRcvCollapsed",
	"TcpExtTCPBacklogDrop",
	"TcpExtTCPRcvQDrop",
	"TcpExtTCPZeroWindowDrop",
	"TcpExtTCPToZeroWindowAdv",
	"TcpExtTCPWantZeroWindowAdv",
	"TcpExtTCPLossProbes",
};

static FILE *text_open(const struct sysroot *root, const char *path)
{
	int fd = sysfile_open(root, path, NULL);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!f && fd >= 0) {
		close(fd);
	}
	return f;
}

static void set_number(json_t *o, const char *name, double v)
{
	json_object_set_new(o, name, json_real(v));
}

static void take_if_wanted(json_t *out, const char *group, const char *name, const char *value)
{
	char full[64];
	snprintf(full, sizeof(full), "%s%s", group, name);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (strcmp(full, wanted[i]) == 0) {
			set_number(out, full, strtod(value, NULL));
		}
	}
}

/* /proc/net/snmp and netstat: a line of names, then a line of values, both with the group's name
 * in front. */
static void pairs_read(const struct sysroot *root, const char *path, json_t *out)
{
	char names[LINE_MAX_BYTES], values[LINE_MAX_BYTES];
	auto_fclose FILE *f = text_open(root, path);
	while (f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		char *at_names, *at_values;
		char *group = strtok_r(names, ": \n", &at_names);
		if (!group || !strtok_r(values, ": \n", &at_values)) {
			continue;
		}
		for (;;) {
			char *name = strtok_r(NULL, " \n", &at_names);
			char *value = strtok_r(NULL, " \n", &at_values);
			if (!name || !value) {
				break;
			}
			take_if_wanted(out, group, name, value);
		}
	}
}

/* Lists of more CPUs would not fit into a line of the protocol. */
static void list_add(json_t *list, json_int_t n)
{
	if (json_array_size(list) < CPU_METER_CPUS_MAX) {
		json_array_append_new(list, json_integer(n));
	}
}

/* A line a CPU, hexadecimal: packets, drops, how often its time was up. */
static void softnet_read(const struct sysroot *root, bool per_cpu, json_t *out)
{
	char line[512];
	double drops = 0, squeezed = 0;
	auto_json json_t *packets = json_array();
	auto_fclose FILE *f = text_open(root, "/proc/net/softnet_stat");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned n, d, s;
		if (sscanf(line, "%x %x %x", &n, &d, &s) == 3) {
			list_add(packets, n);
			drops += d;
			squeezed += s;
		}
	}
	set_number(out, "softnet_drops", drops);
	set_number(out, "softnet_squeezed", squeezed);
	if (per_cpu) {
		json_object_set(out, "softnet_packets", packets);
	}
}

/* Ticks of each CPU in softirq and taken away by the hypervisor: sampled, good for the share of a
 * CPU that is known to be full. */
static void stat_read(const struct sysroot *root, json_t *out)
{
	char line[512];
	json_t *softirq = json_array(), *steal = json_array();
	double ms = 1000 / (double)sysconf(_SC_CLK_TCK);
	auto_fclose FILE *f = text_open(root, "/proc/stat");
	while (f && fgets(line, sizeof(line), f) && strncmp(line, "cpu", 3) == 0) {
		double v[8] = {0};
		if (line[3] == ' ') {
			continue;
		}
		sscanf(line, "%*s %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3],
		       &v[4], &v[5], &v[6], &v[7]);
		list_add(softirq, (json_int_t)((v[5] + v[6]) * ms));
		list_add(steal, (json_int_t)(v[7] * ms));
	}
	json_object_set_new(out, "softirq_ms", softirq);
	json_object_set_new(out, "steal_ms", steal);
}

static bool same_host(const struct sockaddr *a, const struct stream_address *b)
{
	if (!a || a->sa_family != b->addr.ss_family) {
		return false;
	}
	if (a->sa_family == AF_INET) {
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)&b->addr)->sin_addr.s_addr;
	}
	return a->sa_family == AF_INET6 &&
	       memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
		      &((const struct sockaddr_in6 *)&b->addr)->sin6_addr, 16) == 0;
}

/* The interface that has the socket's own address. */
bool host_device(int fd, char name[IF_NAMESIZE])
{
	struct stream_address own = {.len = sizeof(own.addr)};
	struct ifaddrs *all;
	bool found = false;
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&own.addr, &own.len) < 0 ||
	    getifaddrs(&all) < 0) {
		return false;
	}
	for (struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		found = same_host(i->ifa_addr, &own);
		if (found) {
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
		}
	}
	freeifaddrs(all);
	return found;
}

static void device_read(const struct sysroot *root, const char *name, json_t *out)
{
	char line[512];
	if (!*name) {
		return;
	}
	auto_fclose FILE *f = text_open(root, "/proc/net/dev");
	json_object_set_new(out, "device", json_string(name));
	while (f && fgets(line, sizeof(line), f)) {
		char *p = line + strspn(line, " ");
		double v[16];
		if (strncmp(p, name, strlen(name)) != 0 || p[strlen(name)] != ':') {
			continue;
		}
		p += strlen(name) + 1;
		for (int i = 0; i < 16; i++) {
			v[i] = strtod(p, &p);
		}
		set_number(out, "rx_bytes", v[0]);
		set_number(out, "rx_packets", v[1]);
		set_number(out, "rx_drops", v[3] + v[4]);
		set_number(out, "tx_bytes", v[8]);
		set_number(out, "tx_packets", v[9]);
		set_number(out, "tx_drops", v[11]);
	}
}

json_t *host_counters(const struct sysroot *root, const char *device, bool per_cpu)
{
	json_t *out = json_object();
	device_read(root, device, out);
	pairs_read(root, "/proc/net/snmp", out);
	pairs_read(root, "/proc/net/netstat", out);
	softnet_read(root, per_cpu, out);
	if (per_cpu) {
		stat_read(root, out);
	}
	return out;
}
