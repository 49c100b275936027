/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fingerprint as a profile's machine block, and what differs between two of them, in words.
 * Reads no machine (host.c does). Called when a profile is written, and before one is applied.
 */
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include <string.h>

static void copy_known(json_t *to, const json_t *from, const char *const *keys)
{
	for (; *keys; keys++) {
		json_t *value = json_object_get(from, *keys);
		if (value && !json_is_null(value)) {
			json_object_set(to, *keys, value);
		}
	}
}

json_t *host_machine(const json_t *fingerprint)
{
	static const char *const keys[] = {"kernel", "cpu", "numa_nodes", NULL};
	static const char *const nic_keys[] = {"device", "driver", "firmware", "pci", NULL};
	json_t *o = json_object(), *list = json_array(), *nic;
	size_t i;
	copy_known(o, fingerprint, keys);
	json_array_foreach(json_object_get(fingerprint, "nics"), i, nic)
	{
		if (*json_get_text(nic, "driver", "")) { /* else virtual */
			json_t *one = json_object();
			copy_known(one, nic, nic_keys);
			json_array_append_new(list, one);
		}
	}
	json_object_set_new(o, "nics", list);
	return o;
}

static json_t *find_nic(const json_t *machine, const char *device)
{
	json_t *nic;
	size_t i;
	json_array_foreach(json_object_get(machine, "nics"), i, nic)
	{
		if (!strcmp(json_get_text(nic, "device", ""), device)) {
			return nic;
		}
	}
	return NULL;
}

static bool same_nic(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"driver", "firmware", "pci"};
	bool same = b != NULL;
	for (size_t i = 0; same && i < ARRAY_SIZE(keys); i++) {
		same = !strcmp(json_get_text(a, keys[i], ""), json_get_text(b, keys[i], ""));
	}
	return same;
}

void host_keep_common(json_t *machine, const json_t *fingerprint)
{
	static const char *const keys[] = {"kernel", "cpu", "numa_nodes"};
	json_t *nics = json_object_get(machine, "nics");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const json_t *other = json_object_get(fingerprint, keys[i]);
		if (!other || !json_equal(json_object_get(machine, keys[i]), other)) {
			json_object_del(machine, keys[i]);
		}
	}
	for (size_t i = json_array_size(nics); i-- > 0;) {
		const json_t *nic = json_array_get(nics, i);
		if (!same_nic(nic, find_nic(fingerprint, json_get_text(nic, "device", "")))) {
			json_array_remove(nics, i);
		}
	}
}

static char *scalar_text(const json_t *j)
{
	return json_is_string(j) ? strdup(json_string_value(j)) : json_dumps(j, JSON_ENCODE_ANY);
}

/* A word on one key, if both know it and do not agree. Profiles are written by hand, too: numbers
 * may stand there as text. */
static void compare(json_t *out, const char *what, const json_t *profile, const json_t *here,
		    const char *key)
{
	const json_t *a = json_object_get(profile, key), *b = json_object_get(here, key);
	if (!a || !b || json_is_null(a) || json_is_null(b)) {
		return;
	}
	auto_free char *then = scalar_text(a), *now = scalar_text(b);
	if (then && now && strcmp(then, now)) {
		json_array_append_new(
			out, json_sprintf("%s: %s in the profile, %s here", what, then, now));
	}
}

static void compare_nic(json_t *out, const json_t *nic, const json_t *here)
{
	static const char *const keys[] = {"driver", "firmware", "pci"};
	const char *device = json_get_text(nic, "device", "");
	const json_t *there = find_nic(here, device);
	if (!*device) {
		return;
	}
	if (!there) {
		json_array_append_new(out,
				      json_sprintf("%.32s: no such network device here", device));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char what[64];
		snprintf(what, sizeof(what), "%.32s %s", device, keys[i]);
		compare(out, what, nic, there, keys[i]);
	}
}

/* "6.1" of "6.1.0-18-amd64"; 0 where it is no such number. */
static size_t series_length(const char *release)
{
	size_t major = strspn(release, "0123456789");
	size_t minor = release[major] == '.' ? strspn(release + major + 1, "0123456789") : 0;
	return major && minor ? major + 1 + minor : 0;
}

bool host_kernel_is_update(const json_t *profile_machine, const json_t *here)
{
	const char *then = json_get_text(profile_machine, "kernel", "");
	const char *now = json_get_text(here, "kernel", "");
	size_t n = series_length(then);
	return n && n == series_length(now) && !strncmp(then, now, n) && strcmp(then, now) != 0;
}

json_t *host_differences(const json_t *profile_machine, const json_t *here)
{
	json_t *out = json_array(), *nic;
	size_t i;
	compare(out, "kernel", profile_machine, here, "kernel");
	compare(out, "CPU", profile_machine, here, "cpu");
	compare(out, "NUMA nodes", profile_machine, here, "numa_nodes");
	json_array_foreach(json_object_get(profile_machine, "nics"), i, nic)
	{
		compare_nic(out, nic, here);
	}
	return out;
}
