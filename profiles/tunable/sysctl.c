/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of sysctls: one file below /proc/sys each. It trusts no write (the caller reads
 * back) and knows no journal. Called by tunable.c through sysctl_ops.
 */
#include "cleanup.h"
#include "name_private.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 192 };

static int sysctl_path(const struct setting *s, char *path, struct err *e)
{
	int r = name_path(s->name, path, PATH_SIZE);
	return r ? err_set(e, r, "%s: the name is too long", s->name) : 0;
}

/* netdev_max_backlog is registered for the first namespace only, needs no privilege to look at,
 * and follows the namespace of whoever looks. Comparing /proc/self/ns/net with process 1 does
 * neither, and in a container process 1 is in the same namespace. */
static bool in_first_namespace(const struct sysroot *root)
{
	return sysfile_exists(root, "/proc/sys/net/core/netdev_max_backlog");
}

static int sysctl_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		       struct err *e)
{
	char path[PATH_SIZE];
	int r = sysctl_path(s, path, e);
	return r ? r : sysfile_read(root, path, text, size, e);
}

static int sysctl_write(const struct sysroot *root, const struct setting *s, const char *text,
			struct err *e)
{
	char path[PATH_SIZE];
	int r = sysctl_path(s, path, e);
	if (r) {
		return r;
	}
	return sysfile_write(root, path, text, e);
}

static bool has_choice(const struct tunable_range *range, const char *word)
{
	for (size_t i = 0; i < range->n_choices; i++) {
		if (!strcmp(range->choices[i], word)) {
			return true;
		}
	}
	return false;
}

static void add_choices(const struct sysroot *root, const char *path, struct tunable_range *range)
{
	char words[1024], *save = NULL;
	if (sysfile_read(root, path, words, sizeof(words), NULL)) {
		return;
	}
	for (char *w = strtok_r(words, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save)) {
		bool fits = strlen(w) < sizeof(range->choices[0]);
		if (fits && range->n_choices < TUNABLE_CHOICES_MAX && !has_choice(range, w)) {
			strcpy(range->choices[range->n_choices++], w);
		}
	}
}

/* Other namespaces than the first may set only what is allowed, whatever is listed as available.
 * What could not be put back must not be changed in the first place. */
static void probe_congestion(const struct sysroot *root, struct tunable_range *range)
{
	add_choices(root, "/proc/sys/net/ipv4/tcp_allowed_congestion_control", range);
	if (in_first_namespace(root)) {
		add_choices(root, "/proc/sys/net/ipv4/tcp_available_congestion_control", range);
		return;
	}
	if (range->settable && range->n_choices && !has_choice(range, range->present.text)) {
		range->settable = false;
		snprintf(range->why_not, sizeof(range->why_not),
			 "the present %.32s is not among those allowed in this network namespace, "
			 "and could not be put back",
			 range->present.text);
	}
}

static void why_missing(const struct sysroot *root, const struct setting *s,
			struct tunable_range *range)
{
	bool net = !strncmp(s->name, "net", 3);
	if (net && !in_first_namespace(root)) {
		snprintf(range->why_not, sizeof(range->why_not), "not in this network namespace");
		return;
	}
	snprintf(range->why_not, sizeof(range->why_not), "this kernel has no %.120s", s->name);
}

static int sysctl_probe(const struct sysroot *root, const struct setting *s, const char *field,
			struct tunable_range *range, struct err *e)
{
	char path[PATH_SIZE], text[VALUE_TEXT_MAX];
	struct err why = {0};
	int r = sysctl_path(s, path, e);
	if (r) {
		return r;
	}
	if (!sysfile_exists(root, path)) {
		why_missing(root, s, range);
		return 0;
	}
	r = sysfile_read(root, path, text, sizeof(text), &why);
	if (r || setting_field(s, field, text, &range->present, &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	range->settable = sysfile_settable(root, path, range->why_not, sizeof(range->why_not));
	if (!strcmp(s->name, "net.ipv4.tcp_congestion_control")) {
		probe_congestion(root, range);
	}
	return 0;
}

/* "all" and "default" stand last: in a rollback they come first, since "all" changes the rest. */
static size_t sysctl_expand(const struct sysroot *root, const struct setting *s,
			    const char *pattern, char (*names)[TUNABLE_NAME_MAX], size_t max)
{
	(void)s;
	enum { DEVICES_MAX = 256 };
	static const char *const last[] = {"default", "all"};
	char folder[PATH_SIZE], name[2 * PATH_SIZE];
	const char *star = strchr(pattern, '*');
	auto_free char(*devices)[64] = calloc(DEVICES_MAX, sizeof(*devices));
	size_t count = 0;
	if (!star || !devices) {
		return 0;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(star - pattern - 1), pattern);
	if (name_path(name, folder, sizeof(folder))) {
		return 0;
	}
	int n = sysfile_list(root, folder, devices, DEVICES_MAX);
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < n && count < max; i++) {
			int kind = !strcmp(devices[i], last[0])	  ? 1
				   : !strcmp(devices[i], last[1]) ? 2
								  : 0;
			snprintf(name, sizeof(name), "%s/%s/%s", folder + strlen("/proc/sys/"),
				 devices[i], star + 2);
			if (kind == pass &&
			    !name_canonical(name, names[count], TUNABLE_NAME_MAX, NULL)) {
				count++;
			}
		}
	}
	return count;
}

const struct tunable_ops sysctl_ops = {
	.probe = sysctl_probe,
	.read = sysctl_read,
	.write = sysctl_write,
	.expand = sysctl_expand,
};
