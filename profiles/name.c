/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of sysctls: one canonical spelling for each, and the way from it to the path. It knows
 * no catalogue and opens nothing. Called by tunable.c and the sysctl back end.
 */
#include "name_private.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Slashes between components, dots inside them. */
static void to_slashes(const char *name, char *out)
{
	bool swap = name[strcspn(name, "./")] == '.';
	for (; *name; name++) {
		char other = *name == '.' ? '/' : '.';
		*out++ = swap && (*name == '.' || *name == '/') ? other : *name;
	}
	*out = 0;
}

static int check_components(const char *name, const char *slashes, size_t *n, struct err *e)
{
	for (const char *p = slashes;; p++) {
		size_t len = strcspn(p, "/");
		if (!len) {
			return err_usage(e, "the name '%s' has an empty part", name);
		}
		if (p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.'))) {
			return err_usage(e, "the name '%s' must not hold the part '%.*s'", name,
					 (int)len, p);
		}
		(*n)++;
		p += len;
		if (!*p) {
			return 0;
		}
	}
}

/* net.ipv4.conf.eth0.100.rp_filter: there is nothing deeper than DEVICE/KEY below conf and neigh,
 * so that the middle is a device with dots, and only slashes can say so. */
static int check_device(const char *name, char *slashes, size_t n, struct err *e)
{
	char *conf = strstr(slashes, "/conf/");
	char *device = conf ? conf + strlen("/conf/") : strstr(slashes, "/neigh/");
	if (!device || n <= 5 || strncmp(slashes, "net/", 4)) {
		return 0;
	}
	device += conf ? 0 : strlen("/neigh/");
	char *key = strrchr(device, '/');
	for (char *p = device; p < key; p++) {
		*p = *p == '/' ? '.' : *p;
	}
	return err_usage(e,
			 "the name '%s' is too deep: a device with dots in its name is written "
			 "with slashes, '%s'",
			 name, slashes);
}

int name_canonical(const char *name, char *out, size_t size, struct err *e)
{
	size_t n = 0;
	if (strlen(name) >= size) {
		return err_usage(e, "the name '%.60s...' is too long", name);
	}
	if (*name == '/') {
		return err_usage(e, "'%s' is a path; write the name, as net.ipv4.tcp_rmem", name);
	}
	for (const char *p = name; *p; p++) {
		if (!isgraph((unsigned char)*p) || strchr("'\"\\*?", *p)) {
			return err_usage(e, "the name '%s' holds a character that no name has",
					 name);
		}
	}
	to_slashes(name, out);
	if (check_components(name, out, &n, e) || check_device(name, out, n, e)) {
		return -EINVAL;
	}
	if (!strchr(out, '.')) {
		for (char *p = out; *p; p++) {
			*p = *p == '/' ? '.' : *p;
		}
	}
	return 0;
}

int name_path(const char *canonical, char *out, size_t size)
{
	char slashes[256];
	if (strlen(canonical) >= sizeof(slashes)) {
		return -ENAMETOOLONG;
	}
	to_slashes(canonical, slashes);
	int n = snprintf(out, size, "/proc/sys/%s", slashes);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

bool name_matches(const char *pattern, const char *canonical)
{
	char slashes[256];
	if (strlen(canonical) >= sizeof(slashes)) {
		return false;
	}
	to_slashes(canonical, slashes);
	const char *n = slashes;
	for (const char *p = pattern;;) {
		size_t lp = strcspn(p, "."), ln = strcspn(n, "/");
		bool star = lp == 1 && *p == '*';
		if (!star && (lp != ln || memcmp(p, n, lp))) {
			return false;
		}
		p += lp;
		n += ln;
		if (!*p || !*n) {
			return !*p && !*n;
		}
		p++;
		n++;
	}
}
