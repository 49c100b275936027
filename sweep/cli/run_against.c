/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profile of --against as a configuration of the space. Called by cmd_run.c.
 */
#include "cli_run.h"
#include "profile.h"
#include <stdio.h>
#include <string.h>

/* One field out of a list of them ("4096 131072 6291456"). */
static bool take_field(const struct dimension *d, const struct value *whole, struct value *out)
{
	int field = tunable_field_index(d->target.setting.tunable, d->target.field), at = 0;
	const char *p = whole->text;
	long long number;
	int used;
	while (sscanf(p, "%lld%n", &number, &used) == 1) {
		if (at++ == field) {
			*out = value_int(number);
			return true;
		}
		p += used;
	}
	return false;
}

/* Takes the setting's value where this dimension is it. */
static bool take(const struct run *r, const struct profile_setting *p, size_t i,
		 struct configuration *c)
{
	const struct dimension *d = &r->space->dims[i];
	int host = d->tunable->host;
	const char *name = host < 0 ? "" : r->spec->hosts[host].name;
	if (!setting_same(&p->assignment.setting, &d->target.setting) ||
	    (*p->host && strcmp(p->host, name) != 0)) {
		return false;
	}
	if (strcmp(p->assignment.field, d->target.field) == 0 &&
	    p->assignment.value.type == d->type) {
		c->v[i] = p->assignment.value;
		return true;
	}
	return d->target.field[0] && !p->assignment.field[0] &&
	       p->assignment.value.type == VALUE_TEXT &&
	       take_field(d, &p->assignment.value, &c->v[i]);
}

static void take_all(struct run *r, const struct profile_setting *list, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		bool known = false;
		for (size_t i = 0; i < r->space->n; i++) {
			known |= take(r, &list[k], i, &r->against);
		}
		if (!known) {
			cli_note(r->c,
				 "--against %s: %s is not searched here, so it stays as it is",
				 r->against_name, list[k].assignment.setting.name);
		}
	}
}

int run_load_against(struct run *r, struct err *e)
{
	const char *path = cli_value(r->c, "against");
	struct profile p;
	if (!path) {
		return 0;
	}
	int rc = profile_load(path, &p, e);
	if (rc < 0) {
		return rc;
	}
	snprintf(r->against_name, sizeof(r->against_name), "%s", *p.name ? p.name : path);
	space_baseline(r->space, &r->against);
	take_all(r, p.settings, p.n_settings);
	take_all(r, p.application, p.n_application);
	profile_clear(&p);
	struct configuration base;
	space_baseline(r->space, &base);
	if (configuration_equal(&base, &r->against)) {
		return err_usage(e,
				 "--against %s: it sets nothing of this space to other values than "
				 "the present ones",
				 path);
	}
	return 0;
}
