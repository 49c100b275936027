/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the conditions ("when") and rules ("forbid") of a spec mean for configurations. All is known
 * without measuring: forbidden configurations cost no sample. Called while a space is made, by its
 * encoding, and by whoever makes a configuration from another.
 */
#include "space_private.h"

#include "stats.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define TRIES 20000 /* random configurations before a space counts as forbidden altogether */

static void remove_dimension(struct space *s, size_t i)
{
	free(s->dims[i].choices);
	free(s->dims[i].grid);
	memmove(&s->dims[i], &s->dims[i + 1], (s->n - i - 1) * sizeof(s->dims[0]));
	s->n--;
	memset(&s->dims[s->n], 0, sizeof(s->dims[0]));
}

static void index_dimensions(struct space *s)
{
	for (size_t t = 0; t < SPEC_TUNABLES_MAX; t++) {
		s->dim_of[t] = -1;
	}
	for (size_t i = 0; i < s->n; i++) {
		s->dim_of[s->dims[i].tunable - s->spec->tunables] = (int)i;
	}
}

/* The first dimension whose condition looks at a setting that is left out; n if there is none. */
static size_t find_orphan(const struct space *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int other = s->dims[i].tunable->when.tunable;
		if (other >= 0 && s->dim_of[other] < 0) {
			return i;
		}
	}
	return s->n;
}

int space_link_conditions(struct space *s, json_t *notes, struct err *e)
{
	size_t i;
	index_dimensions(s);
	while ((i = find_orphan(s)) < s->n) {
		const struct spec_tunable *t = s->dims[i].tunable;
		const char *other = s->spec->tunables[t->when.tunable].target.setting.name;
		if (notes && json_array_append_new(
				     notes, json_sprintf("%s is left out: its 'when' looks at %s, "
							 "which is left out",
							 s->dims[i].key, other)) < 0) {
			return err_set(e, -ENOMEM, "out of memory for the space");
		}
		remove_dimension(s, i);
		index_dimensions(s);
	}
	for (i = 0; i < s->n; i++) {
		int other = s->dims[i].tunable->when.tunable;
		s->dims[i].when = other < 0 ? -1 : s->dim_of[other];
	}
	return 0;
}

static double as_double(const struct value *v)
{
	return v->type == VALUE_REAL ? v->r : (double)v->i;
}

static bool is_number(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_REAL;
}

static bool compare(enum spec_op op, const struct value *a, const struct value *b)
{
	bool numbers = is_number(a) && is_number(b);
	double x = numbers ? as_double(a) : 0, y = numbers ? as_double(b) : 0;
	bool equal = numbers ? x == y : value_equal(a, b);
	switch (op) {
	case OP_EQ:
		return equal;
	case OP_NE:
		return !equal;
	case OP_LT:
		return x < y;
	case OP_LE:
		return numbers && x <= y;
	case OP_GT:
		return x > y;
	default:
		return numbers && x >= y;
	}
}

static bool comparison_holds(const struct space *s, const struct configuration *c,
			     const struct spec_term *t)
{
	int left = s->dim_of[t->left], right = t->right < 0 ? -1 : s->dim_of[t->right];
	if (left < 0 || (t->right >= 0 && right < 0)) {
		return true; /* not known here, and forbidden rather than risked */
	}
	return compare(t->op, &c->v[left], right < 0 ? &t->value : &c->v[right]);
}

static bool rule_holds(const struct space *s, const struct configuration *c,
		       const struct spec_rule *r)
{
	bool stack[SPEC_TERMS_MAX];
	size_t top = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct spec_term *t = &r->terms[i];
		if (t->op == OP_AND || t->op == OP_OR) {
			top--;
			stack[top - 1] = t->op == OP_AND ? stack[top - 1] && stack[top]
							 : stack[top - 1] || stack[top];
		} else {
			stack[top++] = comparison_holds(s, c, t);
		}
	}
	return top == 1 && stack[0];
}

bool space_allows(const struct space *s, const struct configuration *c)
{
	for (size_t i = 0; i < s->spec->n_rules; i++) {
		if (rule_holds(s, c, &s->spec->rules[i])) {
			return false;
		}
	}
	return true;
}

/* Is any configuration allowed that the search could come to? */
static bool any_allowed(const struct space *s)
{
	struct configuration c;
	struct stats_rng rng;
	double u[SPEC_TUNABLES_MAX];
	stats_rng_seed(&rng, s->spec->seed);
	for (int k = 0; k < TRIES; k++) {
		for (size_t i = 0; i < s->n; i++) {
			u[i] = stats_rng_uniform(&rng);
		}
		space_decode(s, u, &c);
		if (space_allows(s, &c)) {
			return true;
		}
	}
	return false;
}

int space_check_rules(const struct space *s, json_t *notes, struct err *e)
{
	struct configuration base;
	if (s->spec->n_rules == 0) {
		return 0;
	}
	if (!any_allowed(s)) {
		return spec_error(s->spec, s->spec->rules[0].place, e,
				  "forbid: of %d configurations drawn at random none is allowed: "
				  "nothing is left to search",
				  TRIES);
	}
	space_baseline(s, &base);
	if (notes && !space_allows(s, &base) &&
	    json_array_append_new(notes, json_string("the present values are a combination that "
						     "'forbid' names: they are measured as the "
						     "baseline and for nothing else")) < 0) {
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	return 0;
}
