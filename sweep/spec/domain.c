/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The domain of one tunable of a spec: its range with scale and step, or its choices, and for a
 * command's parameter also its type and default. Called by spec/tunables.c.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static bool is_number(enum value_type type)
{
	return type == VALUE_INT || type == VALUE_REAL;
}

static double as_double(const struct value *v)
{
	return v->type == VALUE_REAL ? v->r : (double)v->i;
}

/* All values of a parameter become one type: an integer among reals is a real. */
static int join_type(struct spec_tunable *t, const struct value *v, struct yaml_at at,
		     struct err *e)
{
	if (t->type == VALUE_NONE || t->type == v->type) {
		t->type = v->type;
		return 0;
	}
	if (is_number(t->type) && is_number(v->type)) {
		t->type = VALUE_REAL;
		return 0;
	}
	return yaml_error(at, e,
			  "values of one parameter are of one type; quote them all to make them "
			  "words");
}

static void convert(const struct spec_tunable *t, struct value *v)
{
	if (t->type == VALUE_REAL && v->type == VALUE_INT) {
		*v = value_real((double)v->i);
	}
}

static int parse_type(struct spec_tunable *t, struct yaml_at at, struct err *e)
{
	static const char *const words[] = {"int", "float", NULL};
	if (!spec_is_param(t)) {
		if (yaml_kind(at) != YAML_ABSENT) {
			return yaml_error(at, e, "'type' is for param.NAME only: %s has its own",
					  t->target.setting.name);
		}
		bool whole = t->target.setting.tunable->fields[0] && !t->target.field[0];
		t->type = whole ? VALUE_TEXT : t->target.setting.tunable->type;
		return 0;
	}
	t->type = VALUE_NONE;
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	int i;
	int rc = yaml_as_word(at, words, &i, e);
	if (rc == 0) {
		t->type = i ? VALUE_REAL : VALUE_INT;
	}
	return rc;
}

/* The search counts in doubles, which hold all integers up to here. */
#define INTEGER_MAX 9007199254740991.0

static int too_large(struct yaml_at at, struct err *e)
{
	return yaml_error(at, e, "'%s' is too large: integers go from -%.0f to %.0f", yaml_text(at),
			  INTEGER_MAX, INTEGER_MAX);
}

static int parse_bound(struct spec_tunable *t, struct yaml_at at, bool typed, double *out,
		       struct err *e)
{
	struct value v;
	int rc = spec_parse_value(t, at, &v, e);
	if (rc) {
		return rc;
	}
	if (!is_number(v.type)) {
		return yaml_error(at, e, "'%s' is no number: a range is between two numbers",
				  yaml_text(at));
	}
	if (typed && t->type == VALUE_INT && v.type == VALUE_REAL) {
		if (!strpbrk(yaml_text(at), ".eE")) {
			return too_large(at, e);
		}
		return yaml_error(at, e, "'%s' is no integer, and 'type: int' wants one",
				  yaml_text(at));
	}
	*out = as_double(&v);
	return spec_is_param(t) && !typed ? join_type(t, &v, at, e) : 0;
}

static int check_ends(const struct spec_tunable *t, struct yaml_at range, struct err *e)
{
	if (t->lo > t->hi) {
		return yaml_error(range, e, "the range is upside down: write [%s, %s]",
				  yaml_text(yaml_item(range, 1)), yaml_text(yaml_item(range, 0)));
	}
	for (size_t i = 0; t->type == VALUE_INT && i < 2; i++) {
		if (fabs(i ? t->hi : t->lo) > INTEGER_MAX) {
			return too_large(yaml_item(range, i), e);
		}
	}
	if (!isfinite(t->hi - t->lo)) {
		return yaml_error(range, e, "the range is too wide: HIGH - LOW is not finite");
	}
	return 0;
}

static int parse_range(struct spec_tunable *t, struct yaml_at range, struct err *e)
{
	if (!spec_is_param(t) && !is_number(t->type)) {
		return yaml_error(range, e, "%s takes no numbers: give 'choices'",
				  t->target.setting.name);
	}
	if (yaml_kind(range) == YAML_SCALAR && strcmp(yaml_text(range), "auto") == 0) {
		t->domain = DOMAIN_RANGE_AUTO;
		return spec_is_param(t)
			       ? yaml_error(range, e,
					    "nobody can be asked for the range of a parameter: "
					    "give [LOW, HIGH]")
			       : 0;
	}
	if (yaml_kind(range) != YAML_LIST || yaml_count(range) != 2) {
		return yaml_error(range, e, "range: [LOW, HIGH], or auto");
	}
	t->domain = DOMAIN_RANGE;
	bool typed = t->type != VALUE_NONE;
	int rc = parse_bound(t, yaml_item(range, 0), typed, &t->lo, e);
	rc = rc ? rc : parse_bound(t, yaml_item(range, 1), typed, &t->hi, e);
	return rc ? rc : check_ends(t, range, e);
}

static int add_choice(struct spec_tunable *t, struct yaml_at at, struct err *e)
{
	struct value v;
	int rc = spec_parse_value(t, at, &v, e);
	rc = rc ? rc : spec_is_param(t) ? join_type(t, &v, at, e) : 0;
	if (rc) {
		return rc;
	}
	for (size_t i = 0; i < t->n_choices; i++) {
		if (value_equal(&t->choices[i], &v)) {
			return yaml_error(at, e, "'%s' is among the choices twice", yaml_text(at));
		}
	}
	t->choices[t->n_choices++] = v;
	return 0;
}

static int parse_choices(struct spec_tunable *t, struct yaml_at at, struct err *e)
{
	if (yaml_kind(at) == YAML_SCALAR && strcmp(yaml_text(at), "available") == 0) {
		t->domain = DOMAIN_CHOICES_AVAILABLE;
		return spec_is_param(t) || t->type != VALUE_TEXT
			       ? yaml_error(at, e,
					    "no host lists the choices of %s: write them out",
					    t->target.setting.name)
			       : 0;
	}
	size_t n = yaml_count(at);
	if (yaml_kind(at) != YAML_LIST || n == 0) {
		return yaml_error(at, e, "choices: a list, or available");
	}
	t->domain = DOMAIN_CHOICES;
	t->choices = calloc(n, sizeof(*t->choices));
	if (!t->choices) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	for (size_t i = 0; i < n; i++) {
		int rc = add_choice(t, yaml_item(at, i), e);
		if (rc) {
			return rc;
		}
	}
	for (size_t i = 0; i < n; i++) {
		convert(t, &t->choices[i]);
	}
	return 0;
}

/* A boolean has no other choices than these two. */
static int boolean_choices(struct spec_tunable *t, struct err *e)
{
	t->domain = DOMAIN_CHOICES;
	t->choices = calloc(2, sizeof(*t->choices));
	if (!t->choices) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	t->choices[t->n_choices++] = value_bool(false);
	t->choices[t->n_choices++] = value_bool(true);
	return 0;
}

static int parse_scale(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	static const char *const words[] = {"linear", "log", NULL};
	struct yaml_at at = yaml_get(map, "scale");
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	int i;
	int rc = yaml_as_word(at, words, &i, e);
	if (rc) {
		return rc;
	}
	if (t->domain != DOMAIN_RANGE && t->domain != DOMAIN_RANGE_AUTO) {
		return yaml_error(at, e, "'scale' goes with 'range': choices have none");
	}
	t->log = i == 1;
	if (t->log && t->domain == DOMAIN_RANGE && t->lo <= 0) {
		return yaml_error(at, e,
				  "a log scale begins above 0: raise the range's lower end, or "
				  "leave 'scale' out");
	}
	return 0;
}

#define STEPS_MAX 1e8

static int parse_step(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	struct yaml_at at = yaml_get(map, "step");
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	if (t->domain != DOMAIN_RANGE && t->domain != DOMAIN_RANGE_AUTO) {
		return yaml_error(at, e, "'step' goes with 'range': choices have none");
	}
	struct value v;
	const struct tunable *row = t->target.setting.tunable;
	int rc = spec_is_param(t) ? spec_parse_param_value(at, &v, e)
				  : value_parse(yaml_text(at), t->type, row->unit, &v, e);
	if (rc) {
		return spec_is_param(t) ? rc : yaml_error_at(at, e);
	}
	if (!is_number(v.type) || (t->type == VALUE_INT && v.type == VALUE_REAL)) {
		return yaml_error(at, e, "step: '%s' is no %s", yaml_text(at),
				  t->type == VALUE_INT ? "integer" : "number");
	}
	t->step = as_double(&v);
	double width = t->hi - t->lo;
	if (t->step <= 0 || (t->domain == DOMAIN_RANGE && t->step > width && width > 0)) {
		return yaml_error(at, e, "step: above 0, and not wider than the range");
	}
	if (t->domain == DOMAIN_RANGE && width / t->step > STEPS_MAX) {
		return yaml_error(at, e, "step: too fine for this range");
	}
	return 0;
}

static int parse_default(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	struct yaml_at at = yaml_get(map, "default");
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	if (!spec_is_param(t)) {
		return yaml_error(at, e,
				  "'default' is for param.NAME only: the baseline of %s is what "
				  "the machine has",
				  t->target.setting.name);
	}
	struct value v;
	int rc = spec_parse_param_value(at, &v, e);
	if (rc) {
		return rc;
	}
	convert(t, &v);
	if (v.type != t->type) {
		return yaml_error(at, e, "default: '%s' is not of the parameter's type",
				  yaml_text(at));
	}
	bool among = t->domain != DOMAIN_CHOICES;
	for (size_t i = 0; i < t->n_choices; i++) {
		among = among || value_equal(&t->choices[i], &v);
	}
	if (!among) {
		return yaml_error(at, e, "default: '%s' is not among the choices", yaml_text(at));
	}
	t->target.value = v;
	return 0;
}

int spec_parse_domain(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	struct yaml_at range = yaml_get(map, "range"), choices = yaml_get(map, "choices");
	bool has_range = yaml_kind(range) != YAML_ABSENT;
	bool has_choices = yaml_kind(choices) != YAML_ABSENT;
	int rc = parse_type(t, yaml_get(map, "type"), e);
	if (rc) {
		return rc;
	}
	if (has_range && has_choices) {
		return yaml_error(choices, e, "'range' and 'choices' for one tunable: one of them");
	}
	if (has_range) {
		rc = parse_range(t, range, e);
	} else if (has_choices) {
		rc = parse_choices(t, choices, e);
	} else if (t->type == VALUE_BOOL) {
		rc = boolean_choices(t, e);
	} else {
		return yaml_error(map, e, "%s wants 'range: [LOW, HIGH]' or 'choices: [...]'",
				  t->target.setting.name);
	}
	rc = rc ? rc : parse_scale(t, map, e);
	rc = rc ? rc : parse_step(t, map, e);
	return rc ? rc : parse_default(t, map, e);
}
