/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What capture writes down: of a profile, of names in the catalogue, of what is applied, or all
 * that can safely be set. It picks; reading the values is cmd_capture.c's.
 */
#include "cleanup.h"
#include "cli_capture.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static int add(struct picks *p, const struct setting *s, const char *field, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		if (setting_same(&p->items[i].setting, s) &&
		    strcmp(p->items[i].field, field) == 0) {
			return 0;
		}
	}
	struct assignment *bigger = realloc(p->items, (p->n + 1) * sizeof(*bigger));
	if (!bigger) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	p->items = bigger;
	p->items[p->n] = (struct assignment){.setting = *s};
	snprintf(p->items[p->n].field, sizeof(p->items[p->n].field), "%s", field);
	p->n++;
	return 0;
}

void picks_clear(struct picks *p)
{
	free(p->items);
	*p = (struct picks){0};
}

int picks_of_profile(struct picks *p, const struct profile *profile, const char *host,
		     struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < profile->n_settings; i++) {
		const struct assignment *a = &profile->settings[i].assignment;
		if (strcmp(profile->settings[i].host, host) == 0) {
			rc = add(p, &a->setting, a->field, e);
		}
	}
	return rc;
}

/* Entries that stand for one file, or for one a device if a device is named, and that an apply can
 * keep. */
static bool usable(const struct tunable *t, const char *device)
{
	return t->scope == SCOPE_HOST && !t->held && !strchr(t->name, '*') &&
	       (!t->device || device);
}

int picks_of_pattern(struct picks *p, const char *pattern, const char *device, struct err *e)
{
	struct setting s;
	size_t n, before = p->n;
	const struct tunable *all = tunable_catalog(&n);
	for (size_t i = 0; i < n; i++) {
		const struct tunable *t = &all[i];
		bool match = fnmatch(pattern, t->name, 0) == 0 || strstr(t->name, pattern);
		if (!match || !usable(t, device)) {
			continue;
		}
		int rc = tunable_resolve(t->name, "", t->device ? device : "", &s, e);
		rc = rc ? rc : add(p, &s, "", e);
		if (rc) {
			return rc;
		}
	}
	if (p->n > before) {
		return 0;
	}
	/* a family's member, or a key that the catalogue does not list */
	int rc = tunable_resolve(pattern, "", device, &s, e);
	return rc ? rc : add(p, &s, "", e);
}

int picks_of_all(struct picks *p, const char *device, struct err *e)
{
	size_t n;
	const struct tunable *all = tunable_catalog(&n);
	for (size_t i = 0; i < n; i++) {
		struct setting s;
		if (!usable(&all[i], device) || all[i].class != CLASS_SAFE) {
			continue;
		}
		int rc = tunable_resolve(all[i].name, "", all[i].device ? device : "", &s, e);
		rc = rc ? rc : add(p, &s, "", e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

int picks_of_applied(struct picks *p, const json_t *settings, struct err *e)
{
	size_t i;
	json_t *item;
	json_array_foreach((json_t *)settings, i, item)
	{
		struct setting s;
		const char *set = json_string_value(json_object_get(item, "set"));
		const char *device = json_string_value(json_object_get(item, "device"));
		if (!json_string_value(json_object_get(item, "value"))) {
			continue; /* watched because another changes it */
		}
		int rc = tunable_resolve(set ? set : "", "", device, &s, e);
		rc = rc ? rc : add(p, &s, "", e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}
