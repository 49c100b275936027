/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a name to a setting, by the catalogue alone: finds the row, takes the device, and says what
 * is near a wrong name. It asks no host. Called through tunable.h.
 */
#include "cleanup.h"
#include "name_private.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct tunable unlisted = {
	.name = "net.*",
	.backend = BACKEND_SYSCTL,
	.scope = SCOPE_HOST,
	.class = CLASS_UNLISTED,
	.type = VALUE_INT,
	.min = INT64_MIN,
	.max = INT64_MAX,
	.help = "A network sysctl that is not in the catalogue.",
};

/* "param.*" stands for whatever begins so. */
static bool word_matches(const char *pattern, const char *name)
{
	size_t len = strcspn(pattern, "*");
	return pattern[len] ? !strncmp(pattern, name, len) && name[len] : !strcmp(pattern, name);
}

static const struct tunable *find(const char *name)
{
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].backend == BACKEND_SYSCTL ? name_matches(rows[i].name, name)
						      : word_matches(rows[i].name, name)) {
			return &rows[i];
		}
	}
	return NULL;
}

/* "tcp_rmem" of "net.ipv4.tcp_rmem": what people say for short. */
static bool ends_with(const char *whole, const char *name)
{
	size_t n = strlen(whole), k = strlen(name);
	return n > k && whole[n - k - 1] == '.' && strcmp(whole + n - k, name) == 0;
}

const char *tunable_near(const char *name)
{
	const char *names[256];
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	n = n < ARRAY_SIZE(names) ? n : ARRAY_SIZE(names);
	for (size_t i = 0; i < n; i++) {
		names[i] = rows[i].name;
	}
	const char *near = nearest_word(name, names, n);
	for (size_t i = 0; !near && i < n; i++) {
		near = ends_with(names[i], name) ? names[i] : NULL;
	}
	return near;
}

static int unknown_name(const char *name, struct err *e)
{
	const char *near = tunable_near(name);
	if (near) {
		return err_usage(e, "unknown tunable '%s'; did you mean '%s'?", name, near);
	}
	return err_usage(e, "unknown tunable '%s'; `tunesweep list` shows what there is", name);
}

/* Names that are no files' are one word that a key of JSON output can carry: those of parameters
 * are the user's, those of NIC features the kernel's. */
static int check_word(const char *name, struct err *e)
{
	const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	bool param = !strncmp(name, "param.", 6);
	if (name[strspn(name, allowed)] || strlen(name) >= TUNABLE_NAME_MAX) {
		return err_usage(e,
				 "the %s '%.60s' may hold letters, digits, '_', '-' and '.' only",
				 param ? "parameter name" : "name", name);
	}
	return 0;
}

/* As dev_valid_name() of the kernel has it. */
static bool is_device_name(const char *device)
{
	return strlen(device) < IF_NAMESIZE && strcmp(device, ".") && strcmp(device, "..") &&
	       !device[strcspn(device, "/: \t\n\v\f\r")];
}

static int take_device(struct setting *s, const char *device, struct err *e)
{
	if (!device || !*device) {
		return 0;
	}
	if (!s->tunable->device) {
		return err_usage(e, "%s takes no device", s->name);
	}
	if (!is_device_name(device)) {
		return err_usage(e, "'%.40s' is no name of a network device", device);
	}
	snprintf(s->device, sizeof(s->device), "%s", device);
	return 0;
}

/* Sysctls are named by their files; all other families have words of our own. */
static bool is_word(const char *name)
{
	size_t n, len = strcspn(name, ".");
	const struct tunable *rows = tunable_catalog(&n);
	for (size_t i = 0; name[len] && i < n; i++) {
		if (rows[i].backend != BACKEND_SYSCTL && !strncmp(rows[i].name, name, len + 1)) {
			return true;
		}
	}
	return false;
}

int tunable_check_field(const struct setting *s, const char *field, struct err *e)
{
	const struct tunable *t = s->tunable;
	if (!*field || tunable_field_index(t, field) >= 0) {
		return 0;
	}
	const char *near = t->class == CLASS_UNLISTED ? tunable_near(s->name) : NULL;
	if (near) {
		return err_usage(e, "%s is not in the catalogue; did you mean '%s'?", s->name,
				 near);
	}
	if (!t->fields[0]) {
		return err_usage(e, "%s has no fields; leave 'field' out", s->name);
	}
	return err_usage(e, "%s has no field '%.40s' (allowed: %s, %s, %s)", s->name, field,
			 t->fields[0], t->fields[1], t->fields[2]);
}

bool tunable_may_affect(const struct setting *a, const struct setting *b)
{
	const char *const *names = a->tunable->affects;
	if (!*names || strcmp(a->device, b->device) || setting_same(a, b)) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(a->tunable->affects) && names[i]; i++) {
		if (b->tunable->backend == BACKEND_SYSCTL ? name_matches(names[i], b->name)
							  : word_matches(names[i], b->name)) {
			return true;
		}
	}
	return false;
}

int tunable_resolve(const char *name, const char *field, const char *device, struct setting *out,
		    struct err *e)
{
	memset(out, 0, sizeof(*out));
	int r = name_canonical(name, out->name, sizeof(out->name), e);
	if (is_word(name)) {
		r = check_word(name, e);
		snprintf(out->name, sizeof(out->name), "%s", name);
	}
	if (r) {
		return r;
	}
	out->tunable = find(out->name);
	if (!out->tunable && (!strncmp(out->name, "net.", 4) || !strncmp(out->name, "net/", 4))) {
		out->tunable = &unlisted;
	}
	if (!out->tunable) {
		return unknown_name(name, e);
	}
	if (take_device(out, device, e)) {
		return -EINVAL;
	}
	return tunable_check_field(out, field ? field : "", e);
}
