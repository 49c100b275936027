/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions of tunables: "when: {set: S, is: V}" makes a tunable mean something only beside one
 * value of another. Read after all tunables, since the other may stand further down. What they do
 * to configurations stands in space/rules.c. Called by spec.c.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <string.h>

static bool is_number(enum value_type type)
{
	return type == VALUE_INT || type == VALUE_REAL;
}

/* A parameter's integers may be written as sizes, as in its range. */
static int parse_text(const struct spec_tunable *t, const char *text, struct value *out,
		      struct err *e)
{
	int64_t size;
	if (t->type == VALUE_TEXT) {
		*out = value_text(text);
		return 0;
	}
	if (spec_is_param(t) && t->type == VALUE_INT && scalar_size(text, &size, NULL) == 0) {
		*out = value_int(size);
		return 0;
	}
	return value_parse(text, t->type, t->target.setting.tunable->unit, out, e);
}

static bool is_choice(const struct spec_tunable *t, const struct value *v)
{
	for (size_t i = 0; i < t->n_choices; i++) {
		if (value_equal(&t->choices[i], v)) {
			return true;
		}
	}
	return false;
}

int spec_comparable(const struct spec_tunable *t, const char *text, struct value *out,
		    struct err *e)
{
	const char *words[SPEC_TUNABLES_MAX];
	size_t n = 0;
	int rc = parse_text(t, text, out, e);
	if (rc || t->domain != DOMAIN_CHOICES || is_number(t->type) || is_choice(t, out)) {
		return rc;
	}
	for (size_t i = 0; i < t->n_choices && n < ARRAY_SIZE(words); i++) {
		words[n++] = t->choices[i].text;
	}
	const char *near = t->type == VALUE_TEXT ? nearest_word(text, words, n) : NULL;
	return err_usage(e, "'%s' is not among the choices of %s%s%s%s", text,
			 t->target.setting.name, near ? "; did you mean '" : "", near ? near : "",
			 near ? "'?" : "");
}

struct wanted { /* the other tunable as the condition names it */
	struct setting setting;
	char field[16];
	int host;
	bool has_field, has_host;
};

static int read_wanted(const struct spec *s, struct yaml_at when, struct wanted *w, struct err *e)
{
	static const char *const keys[] = {"set", "field", "host", "is", NULL};
	struct yaml_at set = yaml_get(when, "set"), field = yaml_get(when, "field");
	struct yaml_at host = yaml_get(when, "host");
	char name[TUNABLE_NAME_MAX + 64];
	int rc = yaml_check_keys(when, keys, e);
	if (rc == 0 &&
	    (yaml_kind(set) == YAML_ABSENT || yaml_kind(yaml_get(when, "is")) != YAML_SCALAR)) {
		return yaml_error(when, e,
				  "when: {set: NAME, is: VALUE}, another tunable of this spec and "
				  "one value of it");
	}
	rc = rc ? rc : yaml_as_text(set, name, sizeof(name), e);
	if (rc == 0 && tunable_resolve(name, "", "", &w->setting, e)) {
		return yaml_error_at(set, e);
	}
	w->has_field = yaml_kind(field) != YAML_ABSENT;
	w->has_host = yaml_kind(host) != YAML_ABSENT;
	rc = rc || !w->has_field ? rc : yaml_as_text(field, w->field, sizeof(w->field), e);
	return rc || !w->has_host ? rc : spec_find_host(s, host, &w->host, e);
}

static bool matches(const struct spec_tunable *t, const struct wanted *w)
{
	return strcmp(t->target.setting.name, w->setting.name) == 0 &&
	       (!w->has_field || strcmp(t->target.field, w->field) == 0) &&
	       (!w->has_host || t->host == w->host);
}

/* Of several that match, the one on the conditional tunable's own host. */
static int find_other(const struct spec *s, const struct spec_tunable *of, const struct wanted *w,
		      struct yaml_at when, struct err *e)
{
	int found = -1, near = -1;
	size_t n = 0, n_near = 0;
	for (size_t i = 0; i < s->n_tunables; i++) {
		const struct spec_tunable *t = &s->tunables[i];
		if (t == of || !matches(t, w)) {
			continue;
		}
		found = (int)i;
		n++;
		near = t->host == of->host ? (int)i : near;
		n_near += t->host == of->host;
	}
	if (n == 0) {
		return yaml_error(yaml_get(when, "set"), e,
				  "'%s' is not another tunable of this spec: a condition looks at "
				  "what is searched",
				  w->setting.name);
	}
	if (n > 1 && n_near != 1) {
		return yaml_error(when, e,
				  "%s is searched %zu times: say which by 'host' or 'field'",
				  w->setting.name, n);
	}
	return n == 1 ? found : near;
}

static int read_is(const struct spec_tunable *other, struct yaml_at is, struct value *out,
		   struct err *e)
{
	if (spec_comparable(other, yaml_text(is), out, e)) {
		return yaml_error_at(is, e);
	}
	double x = out->type == VALUE_REAL ? out->r : (double)out->i;
	if (other->domain == DOMAIN_RANGE && (x < other->lo || x > other->hi)) {
		return yaml_error(is, e, "%s never is '%s': it is outside its range",
				  other->target.setting.name, yaml_text(is));
	}
	if (is_number(other->type) && other->domain == DOMAIN_CHOICES && !is_choice(other, out)) {
		return yaml_error(is, e, "'%s' is not among the choices of %s", yaml_text(is),
				  other->target.setting.name);
	}
	return 0;
}

static int parse_one(struct spec *s, size_t i, struct yaml_at when, struct err *e)
{
	struct wanted w = {.host = -1};
	struct spec_tunable *t = &s->tunables[i];
	if (yaml_kind(when) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(when) != YAML_MAP) {
		return yaml_error(when, e, "when: {set: NAME, is: VALUE}");
	}
	int rc = read_wanted(s, when, &w, e);
	if (rc) {
		return rc;
	}
	int other = find_other(s, t, &w, when, e);
	if (other < 0) {
		return other;
	}
	if (spec_is_param(t) && t->target.value.type == VALUE_NONE) {
		return yaml_error(when, e,
				  "%s wants a 'default': what it is where its condition does not "
				  "hold",
				  t->target.setting.name);
	}
	t->when.tunable = other;
	return read_is(&s->tunables[other], yaml_get(when, "is"), &t->when.is, e);
}

/* A condition that in the end asks for itself. */
static bool is_circle(const struct spec *s, size_t i)
{
	size_t steps = 0;
	int at = s->tunables[i].when.tunable;
	while (at >= 0 && at != (int)i && ++steps <= s->n_tunables) {
		at = s->tunables[at].when.tunable;
	}
	return at == (int)i;
}

static bool same_condition(const struct spec_when *a, const struct spec_when *b)
{
	return a->tunable == b->tunable && (a->tunable < 0 || value_equal(&a->is, &b->is));
}

/* Fields of one sysctl keep their order among the searched ones: they come and go together. */
static const struct spec_tunable *other_field(const struct spec *s, const struct spec_tunable *t)
{
	for (size_t i = 0; i < s->n_tunables; i++) {
		const struct spec_tunable *o = &s->tunables[i];
		if (o != t && o->host == t->host && o->target.field[0] &&
		    setting_same(&o->target.setting, &t->target.setting) &&
		    !same_condition(&o->when, &t->when)) {
			return o;
		}
	}
	return NULL;
}

int spec_parse_when(struct spec *s, struct yaml_at tunables, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->n_tunables; i++) {
		rc = parse_one(s, i, yaml_get(yaml_item(tunables, i), "when"), e);
	}
	for (size_t i = 0; rc == 0 && i < s->n_tunables; i++) {
		const struct spec_tunable *t = &s->tunables[i];
		struct yaml_at when = yaml_get(yaml_item(tunables, i), "when");
		if (t->when.tunable < 0) {
			continue;
		}
		if (is_circle(s, i)) {
			return yaml_error(when, e, "%s depends on itself by these conditions",
					  t->target.setting.name);
		}
		if (t->target.field[0] && other_field(s, t)) {
			return yaml_error(when, e,
					  "the fields of %s keep an order: give all of them that "
					  "are searched the same 'when'",
					  t->target.setting.name);
		}
	}
	return rc;
}
