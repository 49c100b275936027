/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What kind of machine this is, from /proc and /sys. Sets nothing, asks no driver. Called by the
 * commands that keep results or compare a profile's machine with this one.
 */
#include "host.h"
#include "cleanup.h"
#include "json_util.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 256, NAME_MAX_LENGTH = 64 };

struct names {
	char name[NAMES_MAX][NAME_MAX_LENGTH];
	size_t n;
};

/* The file's text; "" if it cannot be read. Returns buf. */
static const char *read_text(const struct sysroot *root, const char *path, char *buf, size_t size)
{
	struct err ignored = {0};
	if (sysfile_read(root, path, buf, size, &ignored)) {
		buf[0] = 0;
	}
	return buf;
}

static json_t *text_of(const struct sysroot *root, const char *path)
{
	char buf[4096];
	return json_text_or_null(read_text(root, path, buf, sizeof(buf)));
}

/* A whole number that is not negative (-1 is the kernel's "unknown"); else null. */
static json_t *count_of(const struct sysroot *root, const char *path)
{
	char buf[64], *end;
	long long n = strtoll(read_text(root, path, buf, sizeof(buf)), &end, 10);
	return end > buf && !*end && n >= 0 ? json_integer(n) : json_null();
}

/* How many numbers a list such as "0-3,8" holds; 0 if it is none. */
static long list_length(const char *list)
{
	long n = 0;
	while (isdigit((unsigned char)*list)) {
		char *end;
		long first = strtol(list, &end, 10), last = first;
		if (*end == '-') {
			last = strtol(end + 1, &end, 10);
		}
		n += last >= first ? last - first + 1 : 0;
		list = *end == ',' ? end + 1 : end;
	}
	return n;
}

static json_t *online_of(const struct sysroot *root, const char *path, long otherwise)
{
	char buf[1024];
	long n = list_length(read_text(root, path, buf, sizeof(buf)));
	return n || otherwise ? json_integer(n ? n : otherwise) : json_null();
}

/* Value of the first line "key<separator>value" of a text; "" if there is none. Returns out. */
static const char *line_value(const char *text, const char *key, char separator, char *out,
			      size_t size)
{
	size_t length = strlen(key);
	out[0] = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *value = line + length;
		if (strncmp(line, key, length)) {
			continue;
		}
		value += strspn(value, " \t");
		if (*value != separator) {
			continue;
		}
		value++;
		value += strspn(value, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
		break;
	}
	return out;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* sysfile reads files, not folders; the path is a constant of this file. */
static void list_folder(const struct sysroot *root, const char *path, struct names *out)
{
	char full[PATH_MAX];
	out->n = 0;
	snprintf(full, sizeof(full), "%s%s", root && root->prefix ? root->prefix : "", path);
	DIR *d = opendir(full);
	for (struct dirent *entry; d && (entry = readdir(d)) && out->n < NAMES_MAX;) {
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < NAME_MAX_LENGTH) {
			strcpy(out->name[out->n++], entry->d_name);
		}
	}
	if (d) {
		closedir(d);
	}
	qsort(out->name, out->n, sizeof(out->name[0]), by_name);
}

static void add_cpu(const struct sysroot *root, json_t *o)
{
	/* The first processor's block is enough. */
	char info[8192], value[256], flags[4096];
	read_text(root, "/proc/cpuinfo", info, sizeof(info));
	json_object_set_new(
		o, "cpu",
		json_text_or_null(line_value(info, "model name", ':', value, sizeof(value))));
	json_object_set_new(
		o, "microcode",
		json_text_or_null(line_value(info, "microcode", ':', value, sizeof(value))));
	json_object_set_new(o, "cpus", online_of(root, "/sys/devices/system/cpu/online", 0));
	json_object_set_new(o, "numa_nodes", online_of(root, "/sys/devices/system/node/online", 1));

	read_text(root, "/sys/hypervisor/type", value, sizeof(value));
	line_value(info, "flags", ':', flags, sizeof(flags));
	bool guest = strstr(flags, " hypervisor ") != NULL;
	json_object_set_new(o, "hypervisor",
			    json_text_or_null(*value  ? value
					      : guest ? "yes"
						      : ""));
}

static void add_product(const struct sysroot *root, json_t *o)
{
	char vendor[128], product[128], both[260];
	read_text(root, "/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	read_text(root, "/sys/class/dmi/id/product_name", product, sizeof(product));
	snprintf(both, sizeof(both), "%s%s%s", vendor, *vendor && *product ? " " : "", product);
	json_object_set_new(o, "product", json_text_or_null(both));
}

static json_t *mitigations(const struct sysroot *root)
{
	static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
	json_t *list = json_array();
	auto_free struct names *names = malloc(sizeof(*names));
	if (!names) {
		return list;
	}
	list_folder(root, folder, names);
	for (size_t i = 0; i < names->n; i++) {
		char path[192], state[512], text[640];
		snprintf(path, sizeof(path), "%s/%s", folder, names->name[i]);
		read_text(root, path, state, sizeof(state));
		if (*state && strcmp(state, "Not affected")) {
			snprintf(text, sizeof(text), "%s: %s", names->name[i], state);
			json_array_append_new(list, json_text_or_null(text));
		}
	}
	return list;
}

static json_t *address_type(const struct sysroot *root, const char *path)
{
	static const char *const words[] = {"permanent", "random", "stolen", "set"};
	auto_json json_t *n = count_of(root, path);
	size_t i = (size_t)json_integer_value(n);
	return json_is_integer(n) && i < ARRAY_SIZE(words) ? json_string(words[i]) : json_null();
}

static json_t *nic_json(const struct sysroot *root, const char *device)
{
	char path[128], uevent[1024], value[128];
	json_t *o = json_object();
	int n = snprintf(path, sizeof(path), "/sys/class/net/%s/", device);
	char *end = path + n;
#define NIC_FILE(name) (strcpy(end, name), path)
	/* The bus's own summary: no links to follow, so a recorded tree needs only files. */
	read_text(root, NIC_FILE("device/uevent"), uevent, sizeof(uevent));
	json_object_set_new(o, "device", json_text_or_null(device));
	json_object_set_new(
		o, "driver",
		json_text_or_null(line_value(uevent, "DRIVER", '=', value, sizeof(value))));
	line_value(uevent, "PCI_ID", '=', value, sizeof(value));
	for (char *c = value; *c; c++) {
		*c = (char)tolower((unsigned char)*c);
	}
	json_object_set_new(o, "pci", json_text_or_null(value));
	json_object_set_new(o, "firmware", json_null());
	json_object_set_new(o, "speed", count_of(root, NIC_FILE("speed")));
	json_object_set_new(o, "mtu", count_of(root, NIC_FILE("mtu")));
	json_object_set_new(o, "numa_node", count_of(root, NIC_FILE("device/numa_node")));
	json_object_set_new(o, "address_type", address_type(root, NIC_FILE("addr_assign_type")));
#undef NIC_FILE
	return o;
}

static json_t *nics(const struct sysroot *root)
{
	json_t *list = json_array();
	auto_free struct names *names = malloc(sizeof(*names));
	if (!names) {
		return list;
	}
	list_folder(root, "/sys/class/net", names);
	for (size_t i = 0; i < names->n; i++) {
		if (strcmp(names->name[i], "lo")) {
			json_array_append_new(list, nic_json(root, names->name[i]));
		}
	}
	return list;
}

int host_fingerprint(const struct sysroot *root, json_t **out, struct err *e)
{
	char release[128];
	int r = sysfile_read(root, "/proc/sys/kernel/osrelease", release, sizeof(release), e);
	if (r) {
		return err_wrap(e, "no fingerprint of this host");
	}
	json_t *o = json_object();
	if (!o) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_object_set_new(o, "kernel", json_text_or_null(release));
	json_object_set_new(o, "boot_id", text_of(root, "/proc/sys/kernel/random/boot_id"));
	json_object_set_new(o, "cmdline", text_of(root, "/proc/cmdline"));
	add_cpu(root, o);
	add_product(root, o);
	json_object_set_new(o, "mitigations", mitigations(root));
	json_object_set_new(o, "nics", nics(root));
	*out = o;
	return 0;
}
