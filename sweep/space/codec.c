/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between points of the unit cube and configurations. Each dimension with distinct values divides
 * [0,1] into as many equal cells, and everything within one cell is one value, so that a search
 * may compare points by cells. Pure functions; called by the loop and by tests.
 */
#include "space.h"

#include <math.h>
#include <string.h>

static double clip(double u)
{
	return u > 0 ? fmin(u, 1) : 0; /* also for NaN */
}

static size_t cell_of(double u, size_t levels)
{
	size_t k = (size_t)(clip(u) * (double)levels);
	return k < levels ? k : levels - 1;
}

static double middle_of(size_t k, size_t levels)
{
	return ((double)k + 0.5) / (double)levels;
}

static double as_double(const struct value *v)
{
	switch (v->type) {
	case VALUE_REAL:
		return v->r;
	case VALUE_INT:
	case VALUE_BOOL:
		return (double)v->i;
	default:
		return NAN;
	}
}

static struct value as_value(const struct dimension *d, double x)
{
	return d->integer ? value_int((int64_t)llround(x)) : value_real(x);
}

/* A real to six digits (of the range on a linear scale, of the value on a log one): readable, and
 * the same number again after encoding and decoding. */
static double round_real(const struct dimension *d, double x)
{
	double size = d->log ? x : d->hi - d->lo;
	if (!(size > 0)) {
		return x;
	}
	double digits = floor(log10(size)) - 5, unit = pow(10, fabs(digits));
	x = digits < 0 ? round(x * unit) / unit : round(x / unit) * unit;
	return fmin(fmax(x, d->lo), d->hi);
}

static double decode_continuous(const struct dimension *d, double u)
{
	if (u <= 0 || u >= 1) {
		return u <= 0 ? d->lo : d->hi;
	}
	return round_real(d, d->log ? d->lo * pow(d->hi / d->lo, u) : d->lo + u * (d->hi - d->lo));
}

static double encode_continuous(const struct dimension *d, double x)
{
	x = fmin(fmax(x, d->lo), d->hi);
	return clip(d->log ? log(x / d->lo) / log(d->hi / d->lo) : (x - d->lo) / (d->hi - d->lo));
}

/* Of a dimension whose lower bound is another one's value: the first index that is allowed. */
static size_t first_allowed(const struct dimension *d, const struct configuration *c)
{
	if (d->above < 0) {
		return 0;
	}
	double bound = as_double(&c->v[d->above]);
	size_t k = dimension_nearest(d, bound);
	return dimension_value(d, k) < bound && k + 1 < d->levels ? k + 1 : k;
}

/* The cells are shared out evenly among the allowed values, so that the cell alone decides. */
static size_t share(size_t cell, size_t cells, size_t allowed)
{
	return (size_t)(((unsigned __int128)(2 * cell + 1) * allowed) / (2 * cells));
}

/* The middle one of the cells that share gives to value i. */
static size_t cell_for(size_t i, size_t cells, size_t allowed)
{
	size_t k = (size_t)(((unsigned __int128)(2 * i + 1) * cells) / (2 * allowed));
	while (k > 0 && share(k, cells, allowed) > i) {
		k--;
	}
	while (k + 1 < cells && share(k, cells, allowed) < i) {
		k++;
	}
	return k;
}

static void decode_one(const struct dimension *d, double u, struct configuration *c,
		       struct value *out)
{
	if (d->category) {
		*out = d->choices[cell_of(u, d->n_choices)];
	} else if (d->levels == 0) {
		*out = as_value(d, decode_continuous(d, clip(u)));
	} else {
		size_t first = first_allowed(d, c);
		size_t k = share(cell_of(u, d->levels), d->levels, d->levels - first);
		*out = as_value(d, dimension_value(d, first + k));
	}
}

static size_t find_choice(const struct dimension *d, const struct value *v)
{
	for (size_t i = 0; i < d->n_choices; i++) {
		if (value_equal(&d->choices[i], v)) {
			return i;
		}
	}
	return d->n_choices;
}

static double encode_one(const struct dimension *d, const struct configuration *c,
			 const struct value *v)
{
	if (d->category) {
		size_t k = find_choice(d, v);
		return middle_of(k < d->n_choices ? k : 0, d->n_choices);
	}
	double x = as_double(v);
	if (isnan(x)) {
		return 0.5;
	}
	if (d->levels == 0) {
		return encode_continuous(d, x);
	}
	size_t first = first_allowed(d, c), k = dimension_nearest(d, x);
	k = k > first ? k - first : 0;
	return middle_of(cell_for(k, d->levels, d->levels - first), d->levels);
}

/* How many dimensions bound this one from below, each through the next: at most two. */
static int depth_of(const struct space *s, const struct dimension *d)
{
	int depth = 0;
	for (; d->above >= 0; d = &s->dims[d->above]) {
		depth++;
	}
	return depth;
}

void space_decode(const struct space *s, const double *u, struct configuration *out)
{
	memset(out, 0, sizeof(*out)); /* configurations are compared and stored whole */
	out->n = s->n;
	for (int depth = 0; depth < 3; depth++) {
		for (size_t i = 0; i < s->n; i++) {
			if (depth_of(s, &s->dims[i]) == depth) {
				decode_one(&s->dims[i], u[i], out, &out->v[i]);
			}
		}
	}
	space_settle(s, out);
}

void space_encode(const struct space *s, const struct configuration *c, double *u)
{
	for (size_t i = 0; i < s->n; i++) {
		u[i] = encode_one(&s->dims[i], c, &c->v[i]);
	}
}

bool space_baseline(const struct space *s, struct configuration *out)
{
	bool known = true;
	double u[SPEC_TUNABLES_MAX];
	for (size_t i = 0; i < s->n; i++) {
		u[i] = 0.5;
	}
	space_decode(s, u, out);
	for (size_t i = 0; i < s->n; i++) {
		if (s->dims[i].baseline.type == VALUE_NONE) {
			known = false;
		} else {
			out->v[i] = s->dims[i].baseline;
		}
	}
	return known;
}

bool configuration_equal(const struct configuration *a, const struct configuration *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (!value_equal(&a->v[i], &b->v[i])) {
			return false;
		}
	}
	return true;
}

void space_describe(const struct space *s, struct search_dim *dims)
{
	struct configuration c;
	double u[SPEC_TUNABLES_MAX];
	space_baseline(s, &c);
	space_encode(s, &c, u);
	for (size_t i = 0; i < s->n; i++) {
		const struct dimension *d = &s->dims[i];
		bool known = d->baseline.type != VALUE_NONE &&
			     (!d->category || find_choice(d, &d->baseline) < d->n_choices);
		dims[i] = (struct search_dim){
			.category = d->category,
			.levels = (int)(d->category ? d->n_choices : d->levels),
			.start = known ? u[i] : NAN};
	}
}

double space_size(const struct space *s)
{
	double size = 1;
	for (size_t i = 0; i < s->n; i++) {
		const struct dimension *d = &s->dims[i];
		if (!d->category && d->levels == 0) {
			return INFINITY;
		}
		size *= (double)(d->category ? d->n_choices : d->levels);
	}
	return size > 1e15 ? INFINITY : size;
}

bool space_contains(const struct space *s, const struct configuration *c)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct dimension *d = &s->dims[i];
		double x = as_double(&c->v[i]);
		if (!space_is_active(s, c, i) && value_equal(&c->v[i], &d->baseline)) {
			continue; /* wherever its baseline lies: no other value is possible */
		}
		bool inside = d->category ? find_choice(d, &c->v[i]) < d->n_choices
					  : x >= d->lo && x <= d->hi;
		if (!inside) {
			return false;
		}
	}
	return true;
}
