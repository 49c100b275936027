/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a host says of itself when the controller greets it: kernel, CPUs, devices, an address,
 * which network namespace. Facts only; comparing them is results/host.c's. Called by the agent.
 */
#include "agent_private.h"
#include "cleanup.h"
#include "netns.h"
#include "sysfile.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <string.h>
#include <sys/utsname.h>

#define NICS_MAX      64
#define ADDRESSES_MAX 64

/* Text of a small file, "" if it cannot be read. */
static const char *text_of(const struct sysroot *root, const char *path, char *buf, size_t size)
{
	buf[0] = 0;
	if (sysfile_read(root, path, buf, size, NULL) < 0) {
		buf[0] = 0;
	}
	return buf;
}

static bool same_index(const struct sysroot *root, const char *device, unsigned index)
{
	char path[128], text[32];
	snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", device);
	return strtoul(text_of(root, path, text, sizeof(text)), NULL, 10) == index;
}

static int foreign_sysfs(const char *device, struct err *e)
{
	return err_set(e, -EXDEV,
		       "/sys does not show the devices of this network namespace (%s): mount "
		       "sysfs in it first",
		       device);
}

/* The other way round: a namespace with a loopback alone has the same number for it. */
static int check_sysfs_has_no_more(const struct sysroot *root, struct err *e)
{
	char path[300];
	int rc = 0;
	DIR *d = opendir("/sys/class/net");
	const struct dirent *entry;
	while (rc == 0 && d && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", entry->d_name);
		if (entry->d_name[0] != '.' && sysfile_exists(root, path) &&
		    if_nametoindex(entry->d_name) == 0) {
			rc = foreign_sysfs(entry->d_name, e);
		}
	}
	if (d) {
		closedir(d);
	}
	return rc;
}

/* After a plain setns /sys still shows the devices of another namespace: setting those would
 * change a machine that nobody named. */
static int check_sysfs(const struct sysroot *root, struct err *e)
{
	struct if_nameindex *all = if_nameindex();
	int rc = 0;
	for (struct if_nameindex *i = all; rc == 0 && i && i->if_index; i++) {
		if (!same_index(root, i->if_name, i->if_index)) {
			rc = foreign_sysfs(i->if_name, e);
		}
	}
	if (all) {
		if_freenameindex(all);
	}
	return rc ? rc : check_sysfs_has_no_more(root, e);
}

/* Of an interface that is up, and no link-local one. */
static bool usable(const struct ifaddrs *i, int family)
{
	if (!i->ifa_addr || i->ifa_addr->sa_family != family || !(i->ifa_flags & IFF_UP) ||
	    (i->ifa_flags & IFF_LOOPBACK)) {
		return false;
	}
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)i->ifa_addr;
	return family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

/* All by which others may reach this host, IPv4 first. */
static json_t *addresses(void)
{
	static const int FAMILIES[] = {AF_INET, AF_INET6};
	struct ifaddrs *all = NULL;
	json_t *list = json_array();
	if (getifaddrs(&all)) {
		all = NULL;
	}
	for (size_t f = 0; f < ARRAY_SIZE(FAMILIES); f++) {
		socklen_t n = FAMILIES[f] == AF_INET ? sizeof(struct sockaddr_in)
						     : sizeof(struct sockaddr_in6);
		char text[64];
		for (struct ifaddrs *i = all; i; i = i->ifa_next) {
			if (usable(i, FAMILIES[f]) && json_array_size(list) < ADDRESSES_MAX &&
			    getnameinfo(i->ifa_addr, n, text, sizeof(text), NULL, 0,
					NI_NUMERICHOST) == 0) {
				json_array_append_new(list, json_string(text));
			}
		}
	}
	freeifaddrs(all);
	return list;
}

/* "model name : X" of the first CPU; not every architecture has it. */
static void cpu_model(const struct sysroot *root, char *buf, size_t size)
{
	char text[4096];
	text_of(root, "/proc/cpuinfo", text, sizeof(text));
	const char *p = strstr(text, "model name");
	p = p ? strchr(p, ':') : NULL;
	p = p ? p + 1 + strspn(p + 1, " \t") : "";
	snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
}

/* Nodes in a list such as "0-1,4". */
static int count_list(const char *list)
{
	int n = 0;
	while (*list) {
		char *end;
		long a = strtol(list, &end, 10), b = a;
		if (end == list) {
			break;
		}
		if (*end == '-') {
			b = strtol(end + 1, &end, 10);
		}
		n += (int)(b - a) + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return n;
}

static void last_part(const struct sysroot *root, const char *path, char *buf, size_t size)
{
	char full[512], target[512];
	snprintf(full, sizeof(full), "%s%s", root->prefix, path);
	ssize_t n = readlink(full, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	const char *slash = strrchr(target, '/');
	snprintf(buf, size, "%.60s", slash ? slash + 1 : target);
}

static json_t *one_nic(const struct sysroot *root, const char *device)
{
	char path[128], driver[64], pci[64], mtu[32], speed[32];
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/driver", device);
	last_part(root, path, driver, sizeof(driver));
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", device);
	last_part(root, path, pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", device);
	text_of(root, path, mtu, sizeof(mtu));
	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", device);
	text_of(root, path, speed, sizeof(speed));
	return json_pack("{s:s, s:s, s:s, s:I, s:I}", "device", device, "driver", driver, "bus",
			 pci, "mtu", (json_int_t)atoll(mtu), "speed", (json_int_t)atoll(speed));
}

static json_t *nics(const struct sysroot *root)
{
	json_t *list = json_array();
	struct if_nameindex *all = if_nameindex();
	for (struct if_nameindex *i = all; i && i->if_index && json_array_size(list) < NICS_MAX;
	     i++) {
		if (strcmp(i->if_name, "lo") != 0) {
			json_array_append_new(list, one_nic(root, i->if_name));
		}
	}
	if (all) {
		if_freenameindex(all);
	}
	return list;
}

int hello_fill(const struct agent_state *s, json_t *answer, struct err *e)
{
	const struct sysroot *root = &s->place.root;
	char boot_id[64], cpu[128], nodes[128];
	struct utsname u;
	uname(&u);
	int rc = root->prefix[0] ? 0 : check_sysfs(root, e);
	if (rc) {
		return rc;
	}
	text_of(root, "/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	text_of(root, "/sys/devices/system/node/online", nodes, sizeof(nodes));
	cpu_model(root, cpu, sizeof(cpu));
	json_t *list = addresses();
	const char *first = json_string_value(json_array_get(list, 0));
	json_t *host = json_pack("{s:s, s:s, s:i, s:o}", "kernel", u.release, "cpu", cpu,
				 "numa_nodes", count_list(nodes), "nics", nics(root));
	auto_json json_t *told = json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:I, s:i, s:o}", "protocol",
		PROTOCOL_VERSION, "version", TUNESWEEP_VERSION, "boot_id", boot_id, "hostname",
		u.nodename, "kernel", u.release, "address", first ? first : "127.0.0.1",
		"addresses", list, "netns_path", s->netns_path, "netns_cookie",
		(json_int_t)netns_cookie(), "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN), "host",
		host);
	if (!told) {
		return err_set(e, -EBADMSG, "this host's description is not UTF-8");
	}
	return json_object_update(answer, told);
}
