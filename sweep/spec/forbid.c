/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forbidden combinations: "NAME > VALUE and NAME == NAME or (...)", comparisons of tunables joined
 * by and, or and parentheses; and binds tighter. Strict, with the place of what is wrong. The words
 * are read in spec/forbid_lexer.c, the meaning stands in space/rules.c. Called by spec.c.
 */
#include "forbid_private.h"

#include "cleanup.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NESTED_MAX 16

static bool is_number(enum value_type type)
{
	return type == VALUE_INT || type == VALUE_REAL;
}

/* Full keys as in result.json, or any shorter form that names one tunable only. */
static bool is_named(const struct spec *s, const struct spec_tunable *t, const char *name)
{
	char key[192];
	const struct setting *set = &t->target.setting;
	const char *field = t->target.field, *host = t->host < 0 ? "" : s->hosts[t->host].name;
	return !strcmp(name, setting_key(set, field, host, key, sizeof(key))) ||
	       !strcmp(name, setting_key(set, field, "", key, sizeof(key))) ||
	       !strcmp(name, setting_key(set, "", host, key, sizeof(key))) ||
	       !strcmp(name, set->name);
}

/* How many tunables this may be; *index is the last of them. */
static int find_tunable(const struct spec *s, const char *name, int *index)
{
	int n = 0;
	for (size_t i = 0; i < s->n_tunables; i++) {
		if (is_named(s, &s->tunables[i], name)) {
			*index = (int)i;
			n++;
		}
	}
	return n;
}

static int unknown_tunable(struct forbid *f, const char *name)
{
	const char *names[SPEC_TUNABLES_MAX];
	for (size_t i = 0; i < f->s->n_tunables; i++) {
		names[i] = f->s->tunables[i].target.setting.name;
	}
	const char *near = nearest_word(name, names, f->s->n_tunables);
	return forbid_error(f, "'%s' is none of the tunables of this spec%s%s%s", name,
			    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int parse_tunable(struct forbid *f, int *out)
{
	if (f->token.kind != TOKEN_WORD || f->token.quoted) {
		return forbid_error(f, "a comparison begins with the name of a tunable, not '%s'",
				    f->token.text);
	}
	int n = find_tunable(f->s, f->token.text, out);
	if (n == 0) {
		return unknown_tunable(f, f->token.text);
	}
	if (n > 1) {
		char key[192];
		const struct spec_tunable *t = &f->s->tunables[*out];
		setting_key(&t->target.setting, t->target.field,
			    t->host < 0 ? "" : f->s->hosts[t->host].name, key, sizeof(key));
		return forbid_error(f, "'%s' may be %d tunables: write the whole name, e.g. %s",
				    f->token.text, n, key);
	}
	return forbid_next(f);
}

static int add_term(struct forbid *f, const struct spec_term *t)
{
	if (f->rule->n == SPEC_TERMS_MAX) {
		return forbid_error(f, "more than %d comparisons and joins: divide it in two",
				    SPEC_TERMS_MAX);
	}
	f->rule->terms[f->rule->n++] = *t;
	return 0;
}

/* Both are numbers, or both of one type, and only numbers have an order. */
static int check_pair(struct forbid *f, const struct spec_term *t, enum value_type right)
{
	const struct spec_tunable *left = &f->s->tunables[t->left];
	if (left->type != right && !(is_number(left->type) && is_number(right))) {
		return forbid_error(f, "%s cannot be compared with '%s': they are of two types",
				    left->target.setting.name, f->token.text);
	}
	if (t->op != OP_EQ && t->op != OP_NE && !is_number(left->type)) {
		return forbid_error(f, "%s has no order: only == and != make sense of it",
				    left->target.setting.name);
	}
	return 0;
}

static int parse_right(struct forbid *f, struct spec_term *t)
{
	const struct spec_tunable *left = &f->s->tunables[t->left];
	if (f->token.kind != TOKEN_WORD) {
		return forbid_error(f, "after the comparison comes a value or a tunable, not '%s'",
				    f->token.text);
	}
	if (!f->token.quoted && find_tunable(f->s, f->token.text, &t->right) == 1) {
		return check_pair(f, t, f->s->tunables[t->right].type);
	}
	t->right = -1;
	struct err why;
	if (spec_comparable(left, f->token.text, &t->value, &why)) {
		return forbid_error(f, "%s", why.text);
	}
	return check_pair(f, t, t->value.type);
}

static int parse_comparison(struct forbid *f)
{
	struct spec_term t = {.right = -1};
	int rc = parse_tunable(f, &t.left);
	if (rc) {
		return rc;
	}
	if (f->token.kind != TOKEN_COMPARE) {
		return forbid_error(f, "a comparison (== != < <= > >=) is missing before '%s'",
				    f->token.text);
	}
	t.op = f->token.op;
	rc = forbid_next(f);
	rc = rc ? rc : parse_right(f, &t);
	rc = rc ? rc : add_term(f, &t);
	return rc ? rc : forbid_next(f);
}

static int parse_or(struct forbid *f);

static int parse_factor(struct forbid *f)
{
	if (f->token.kind != TOKEN_OPEN) {
		return parse_comparison(f);
	}
	if (++f->depth > NESTED_MAX) {
		return forbid_error(f, "more than %d parentheses within each other", NESTED_MAX);
	}
	int rc = forbid_next(f);
	rc = rc ? rc : parse_or(f);
	if (rc == 0 && f->token.kind != TOKEN_CLOSE) {
		return forbid_error(f, "a ')' is missing before '%s'", f->token.text);
	}
	f->depth--;
	return rc ? rc : forbid_next(f);
}

static int parse_joined(struct forbid *f, enum token_kind by, enum spec_op op,
			int (*part)(struct forbid *f))
{
	struct spec_term join = {.op = op, .left = -1, .right = -1};
	int rc = part(f);
	while (rc == 0 && f->token.kind == by) {
		rc = forbid_next(f);
		rc = rc ? rc : part(f);
		rc = rc ? rc : add_term(f, &join);
	}
	return rc;
}

static int parse_and(struct forbid *f)
{
	return parse_joined(f, TOKEN_AND, OP_AND, parse_factor);
}

static int parse_or(struct forbid *f)
{
	return parse_joined(f, TOKEN_OR, OP_OR, parse_and);
}

static int parse_rule(struct spec *s, struct yaml_at at, struct err *e)
{
	struct spec_rule *rule = &s->rules[s->n_rules++]; /* counted first: spec_free finds it */
	if (yaml_kind(at) != YAML_SCALAR) {
		return yaml_error(at, e,
				  "one expression is wanted here, e.g. \"nic.rings.rx > 2048 "
				  "and link.mtu > 4000\"");
	}
	struct forbid f = {.s = s, .rule = rule, .at = at, .text = yaml_text(at), .e = e};
	rule->place = spec_place_of(at);
	rule->text = strdup(f.text);
	rule->terms = calloc(SPEC_TERMS_MAX, sizeof(*rule->terms));
	if (!rule->text || !rule->terms) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	int rc = forbid_next(&f);
	rc = rc ? rc : parse_or(&f);
	if (rc == 0 && f.token.kind != TOKEN_END) {
		return forbid_error(
			&f, "'%s' is too much: after a comparison comes and, or, or the end",
			f.token.text);
	}
	return rc;
}

int spec_parse_forbid(struct spec *s, struct yaml_at forbid, struct err *e)
{
	size_t n = yaml_count(forbid);
	int rc = 0;
	if (yaml_kind(forbid) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(forbid) != YAML_LIST || n == 0) {
		return yaml_error(forbid, e,
				  "forbid: a list of expressions, e.g. [\"nic.rings.rx > 2048 and "
				  "link.mtu > 4000\"]");
	}
	s->rules = calloc(n, sizeof(*s->rules));
	if (!s->rules) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = parse_rule(s, yaml_item(forbid, i), e);
	}
	return rc;
}
