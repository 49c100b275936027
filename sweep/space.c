/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making a space: each tunable of the spec is asked of its host, becomes a dimension, and fields of
 * one setting are tied to each other. Called once a sweep, before anything is set.
 */
#include "space_private.h"

#include "cleanup.h"
#include <errno.h>
#include <string.h>

/*
 * Run scope is asked of nobody. The present values are what programs do when nothing is named
 * (DESIGN: classic drive): calls of 128 KiB, no buffer set, nothing switched on.
 */
static void run_scope_range(const struct spec_tunable *t, struct tunable_range *range)
{
	const struct tunable *row = t->target.setting.tunable;
	*range = (struct tunable_range){.settable = true, .min = row->min, .max = row->max};
	if (row->backend == BACKEND_PARAM) {
		range->present = t->target.value;
		return;
	}
	if (row->backend == BACKEND_NUMA) {
		range->present = value_text(strcmp(row->name, "numa.cpu") == 0 ? "all" : "default");
		return;
	}
	bool size = strcmp(row->name, "socket.message_size") == 0 ||
		    strcmp(row->name, "socket.receive_size") == 0;
	bool one = strcmp(row->name, "socket.ring") == 0;
	range->present = row->type == VALUE_BOOL ? value_bool(false)
						 : value_int(size  ? 128 * 1024
							     : one ? 1
								   : 0);
}

static int probe(const struct spec_tunable *t, const struct space_source *source,
		 struct tunable_range *range, struct err *e)
{
	if (t->target.setting.tunable->scope == SCOPE_RUN) {
		run_scope_range(t, range);
		return 0;
	}
	if (!source) {
		return err_set(e, -EINVAL, "no host can be asked for %s", t->target.setting.name);
	}
	memset(range, 0, sizeof(*range));
	return source->probe(source->ctx, t->host, &t->target.setting, t->target.field, range, e);
}

static void name_dimension(const struct spec *spec, const struct spec_tunable *t,
			   struct dimension *d)
{
	d->tunable = t;
	d->target = t->target;
	d->target.value = (struct value){.type = VALUE_NONE};
	d->above = d->below = d->when = -1;
	d->floor = -1e300;
	d->ceiling = 1e300;
	setting_key(&t->target.setting, t->target.field,
		    t->host < 0 ? NULL : spec->hosts[t->host].name, d->key, sizeof(d->key));
}

static int skip(json_t *skipped, const struct dimension *d, const char *why, struct err *e)
{
	if (skipped &&
	    json_array_append_new(skipped, json_sprintf("%s is left out: %s", d->key, why)) < 0) {
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	return 0;
}

static int add_dimension(struct space *s, const struct spec_tunable *t,
			 const struct space_source *source, json_t *skipped, struct err *e)
{
	struct dimension *d = &s->dims[s->n];
	struct tunable_range range;
	name_dimension(s->spec, t, d);
	int rc = probe(t, source, &range, e);
	if (rc) {
		return rc;
	}
	if (!range.settable) {
		if (t->optional) {
			return skip(skipped, d, range.why_not, e);
		}
		return space_refuse(s->spec, t->place, e, "%s cannot be set on host %s: %s",
				    t->target.setting.name, s->spec->hosts[t->host].name,
				    range.why_not);
	}
	s->n++; /* counted first: space_destroy then finds the choices */
	return space_fill_dimension(s->spec, d, &range, e);
}

static int make_grids(struct space *s, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		struct dimension *d = &s->dims[i];
		int rc = d->category ? 0 : dimension_make_grid(d, e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

static int fill(struct space *s, const struct space_source *source, json_t *skipped, struct err *e)
{
	s->dims = calloc(s->spec->n_tunables, sizeof(*s->dims));
	if (!s->dims) {
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	for (size_t i = 0; i < s->spec->n_tunables; i++) {
		int rc = add_dimension(s, &s->spec->tunables[i], source, skipped, e);
		if (rc) {
			return rc;
		}
	}
	int rc = space_link_conditions(s, skipped, e);
	if (rc == 0 && s->n == 0) {
		return err_set(e, -EOPNOTSUPP,
			       "%s: nothing is left to search: every tunable is optional and "
			       "cannot be set here",
			       s->spec->path);
	}
	rc = rc ? rc : space_couple_fields(s, source, skipped, e);
	rc = rc ? rc : make_grids(s, e);
	return rc ? rc : space_check_rules(s, skipped, e);
}

int space_create(const struct spec *spec, const struct space_source *source, struct space **out,
		 json_t **skipped, struct err *e)
{
	auto_json json_t *notes = json_array();
	struct space *s = calloc(1, sizeof(*s));
	if (!s || !notes) {
		free(s);
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	s->spec = spec;
	int rc = fill(s, source, notes, e);
	if (rc) {
		space_destroy(s);
		return rc;
	}
	if (skipped) {
		*skipped = take_ptr(notes);
	}
	*out = s;
	return 0;
}

void space_destroy(struct space *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		free(s->dims[i].choices);
		free(s->dims[i].grid);
	}
	free(s->dims);
	free(s);
}
