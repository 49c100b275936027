/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields of one sysctl keep min <= default <= max: those that are searched bound each other, and
 * those that are not bound the searched ones by their present values. Called by space.c.
 */
#include "space_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FIELDS 3

struct family {		 /* the fields of one setting on one host */
	int dim[FIELDS]; /* index of the dimension, -1 if it is not searched by number */
	/* what the others can be: the present value, or the ends of choices; NaN if not known */
	double least[FIELDS], most[FIELDS];
};

static bool is_numeric_field(const struct dimension *d)
{
	return d->target.field[0] && !d->category;
}

static int field_of(const struct dimension *d)
{
	return tunable_field_index(d->target.setting.tunable, d->target.field);
}

static bool same_family(const struct dimension *a, const struct dimension *b)
{
	return is_numeric_field(a) && is_numeric_field(b) && a->tunable->host == b->tunable->host &&
	       setting_same(&a->target.setting, &b->target.setting);
}

/* The field as a dimension of choices, NULL if it is none. */
static const struct dimension *find_choices(const struct space *s, const struct dimension *d,
					    const char *field)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct dimension *o = &s->dims[i];
		if (o->category && o->type == VALUE_INT && o->tunable->host == d->tunable->host &&
		    setting_same(&o->target.setting, &d->target.setting) &&
		    strcmp(o->target.field, field) == 0) {
			return o;
		}
	}
	return NULL;
}

static int read_other(const struct space *s, const struct dimension *d, int field,
		      const struct space_source *source, struct family *f, struct err *e)
{
	const char *name = d->target.setting.tunable->fields[field];
	const struct dimension *choices = find_choices(s, d, name);
	for (size_t i = 0; choices && i < choices->n_choices; i++) {
		f->least[field] = fmin(f->least[field], (double)choices->choices[i].i);
		f->most[field] = fmax(f->most[field], (double)choices->choices[i].i);
	}
	if (choices || !source) {
		return 0;
	}
	struct tunable_range range = {.settable = false};
	int rc = source->probe(source->ctx, d->tunable->host, &d->target.setting, name, &range, e);
	if (rc == 0 && range.present.type == VALUE_INT) {
		f->least[field] = f->most[field] = (double)range.present.i;
	}
	return rc;
}

/* Only of the first dimension of a family, so that each family is made once. */
static bool is_first(const struct space *s, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (same_family(&s->dims[k], &s->dims[i])) {
			return false;
		}
	}
	return is_numeric_field(&s->dims[i]);
}

static int find_family(const struct space *s, size_t first, const struct space_source *source,
		       struct family *f, struct err *e)
{
	for (int k = 0; k < FIELDS; k++) {
		f->dim[k] = -1;
		f->least[k] = f->most[k] = NAN;
	}
	for (size_t i = first; i < s->n; i++) {
		if (same_family(&s->dims[first], &s->dims[i])) {
			f->dim[field_of(&s->dims[i])] = (int)i;
		}
	}
	for (int k = 0; k < FIELDS; k++) {
		const char *name = s->dims[first].target.setting.tunable->fields[k];
		if (f->dim[k] < 0 && name) {
			int rc = read_other(s, &s->dims[first], k, source, f, e);
			if (rc) {
				return rc;
			}
		}
	}
	return 0;
}

static void link_family(struct space *s, const struct family *f)
{
	int last = -1;
	for (int k = 0; k < FIELDS; k++) {
		if (f->dim[k] < 0) {
			continue;
		}
		struct dimension *d = &s->dims[f->dim[k]];
		for (int o = 0; o < FIELDS; o++) {
			if (o < k) {
				d->floor = fmax(d->floor, f->most[o]);
			} else if (o > k) {
				d->ceiling = fmin(d->ceiling, f->least[o]);
			}
		}
		d->above = last;
		if (last >= 0) {
			s->dims[last].below = f->dim[k];
		}
		last = f->dim[k];
	}
}

static int note_cut(json_t *notes, const struct dimension *d, struct err *e)
{
	if (notes &&
	    json_array_append_new(notes,
				  json_sprintf("the range of %s is cut to %.0f..%.0f: beyond, min "
					       "<= default <= max would not hold with the fields "
					       "that are not searched",
					       d->key, d->lo, d->hi)) < 0) {
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	return 0;
}

static int cut(struct space *s, struct dimension *d, double lo, double hi, json_t *notes,
	       struct err *e)
{
	if (d->lo >= lo && d->hi <= hi) {
		return 0;
	}
	double bound = d->lo < lo ? lo : hi;
	d->lo = fmax(d->lo, lo);
	d->hi = fmin(d->hi, hi);
	if (d->lo > d->hi) {
		return spec_error(s->spec, d->tunable->place, e,
				  "no value of %s keeps min <= default <= max: another field "
				  "ends at %.0f; search that one too, or move the range",
				  d->key, bound);
	}
	return note_cut(notes, d, e);
}

/* A lower field may not begin above where the upper one ends, and the other way round: otherwise
 * decoding could find no value for the second. */
static int cut_family(struct space *s, const struct family *f, json_t *notes, struct err *e)
{
	double lo = -1e300, hi = 1e300;
	int rc = 0;
	for (int k = 0; k < FIELDS && rc == 0; k++) {
		if (f->dim[k] >= 0) {
			struct dimension *d = &s->dims[f->dim[k]];
			lo = fmax(lo, d->floor);
			rc = cut(s, d, lo, 1e300, notes, e);
			lo = fmax(lo, d->lo);
		}
	}
	for (int k = FIELDS - 1; k >= 0 && rc == 0; k--) {
		if (f->dim[k] >= 0) {
			struct dimension *d = &s->dims[f->dim[k]];
			hi = fmin(hi, d->ceiling);
			rc = cut(s, d, -1e300, hi, notes, e);
			hi = fmin(hi, d->hi);
		}
	}
	return rc;
}

int space_couple_fields(struct space *s, const struct space_source *source, json_t *notes,
			struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		struct family f;
		if (!is_first(s, i)) {
			continue;
		}
		int rc = find_family(s, i, source, &f, e);
		if (rc) {
			return rc;
		}
		link_family(s, &f);
		rc = cut_family(s, &f, notes, e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}
