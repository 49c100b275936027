/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kinds of hardware by fingerprint: which rules fit this machine, and under which name profiles of
 * machines that are alike are kept. Called by nightly.c.
 */
#include "cleanup.h"
#include "json_util.h"
#include "nightly.h"
#include <ctype.h>
#include <fnmatch.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>

static bool fits(const char *pattern, const char *text)
{
	return *text && fnmatch(pattern, text, 0) == 0;
}

static bool some_nic_fits(const json_t *fingerprint, const char *key, const char *pattern)
{
	json_t *nic;
	size_t i;
	json_array_foreach(json_object_get(fingerprint, "nics"), i, nic)
	{
		if (fits(pattern, json_get_text(nic, key, ""))) {
			return true;
		}
	}
	return false;
}

bool nightly_rule_fits(const struct nightly_sweep *s, const json_t *fingerprint)
{
	for (size_t i = 0; i < s->n_when; i++) {
		const char *key = s->when_key[i], *pattern = s->when_pattern[i];
		bool of_nic = strcmp(key, "driver") == 0 || strcmp(key, "pci") == 0;
		if (of_nic ? !some_nic_fits(fingerprint, key, pattern)
			   : !fits(pattern, json_get_text(fingerprint, key, ""))) {
			return false;
		}
	}
	return true;
}

/* Of a fingerprint, what makes the kind; virtual devices come and go. */
static json_t *essence(const json_t *fingerprint)
{
	json_t *nics = json_array(), *nic;
	json_t *nodes = json_object_get(fingerprint, "numa_nodes");
	size_t i;
	json_array_foreach(json_object_get(fingerprint, "nics"), i, nic)
	{
		const char *driver = json_get_text(nic, "driver", "");
		if (*driver) {
			json_array_append_new(
				nics, json_pack("[s, s, f]", driver, json_get_text(nic, "pci", ""),
						json_get_number(nic, "speed") > 0
							? json_get_number(nic, "speed")
							: 0.0));
		}
	}
	return json_pack("{s:s, s:o, s:o}", "cpu", json_get_text(fingerprint, "cpu", ""), "nodes",
			 nodes ? json_incref(nodes) : json_null(), "nics", nics);
}

static const char *first_driver(const json_t *hosts)
{
	const char *name;
	json_t *host, *nic;
	size_t i;
	json_object_foreach((json_t *)hosts, name, host)
	{
		json_array_foreach(json_object_get(host, "nics"), i, nic)
		{
			const char *driver = json_get_text(nic, "driver", "");
			if (*driver) {
				return driver;
			}
		}
	}
	return "no-nic";
}

void nightly_kind(const json_t *hosts, char *buf, size_t size)
{
	auto_json json_t *all = json_object();
	const char *name;
	json_t *host;
	char sha[SHA256_DIGEST_STRING_LENGTH];
	json_object_foreach((json_t *)hosts, name, host)
	{
		json_object_set_new(all, name, essence(host));
	}
	auto_free char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	SHA256Data((const uint8_t *)(text ? text : ""), text ? strlen(text) : 0, sha);
	snprintf(buf, size, "%.24s-%.8s", first_driver(hosts), sha);
	for (char *p = buf; *p; p++) {
		*p = isalnum((unsigned char)*p) || strchr("._-", *p) ? *p : '-';
	}
}
