/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which labels name a group, make a series, or stand aside. Knows no number. Called by the other
 * files of the timeline.
 */
#include "cleanup.h"
#include "timeline_private.h"
#include <string.h>

bool timeline_label_is_aside(const char *label, const char *by)
{
	static const char *const aside[] = {"boot", "date", "note",  "run",
					    "tool", "file", "check", "build"};
	for (size_t i = 0; i < ARRAY_SIZE(aside); i++) {
		if (!strcmp(label, aside[i])) {
			return true;
		}
	}
	/* Night by night the kernel may be another: that is what a change is then asked about. */
	bool dated = !strcmp(by, "date");
	return !strcmp(label, by) ||
	       (dated && (!strcmp(label, "kernel") || !strcmp(label, "firmware")));
}

const char *timeline_variant(const json_t *labels, const char *by, char *buf, size_t size)
{
	char label[128], variant[128];
	observation_label(labels, "label", label, sizeof(label));
	observation_label(labels, "variant", variant, sizeof(variant));
	if (!strcmp(by, "label") || !strcmp(by, "variant")) {
		label[0] = variant[0] = 0;
	}
	snprintf(buf, size, "%s%s%s", variant, *variant && *label ? ", " : "", label);
	return buf;
}

/* The group's name: the label by; "label" also means the variants of imported tables. */
const char *timeline_key(const json_t *labels, const char *by, char *buf, size_t size)
{
	observation_label(labels, by, buf, size);
	if (!*buf && !strcmp(by, "label")) {
		observation_label(labels, "variant", buf, size);
	}
	return buf;
}

static bool in_table(const char *label)
{
	return !strcmp(label, "name") || !strcmp(label, "machine");
}

/* The labels that make a table (its name and machine) or a series in it, as one text. */
char *timeline_identity(const json_t *labels, const char *by, bool table, bool variants)
{
	auto_json json_t *kept = json_object();
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)labels, name, value)
	{
		bool variant = !strcmp(name, "variant") || !strcmp(name, "label");
		if (!timeline_label_is_aside(name, by) && in_table(name) == table &&
		    (variants || !variant) && !json_is_null(value) &&
		    !(variant && !strcmp(by, "label"))) {
			json_object_set(kept, name, value);
		}
	}
	return json_dumps(kept, JSON_SORT_KEYS | JSON_COMPACT);
}
