/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only door to what can be set: finds a tunable in the catalogue, checks values against it,
 * and hands reading and writing to its back end. The only file that names the back ends.
 */
#include "tunable.h"
#include "cleanup.h"
#include "name_private.h"
#include "tunable_private.h"
#include <errno.h>
#include <inttypes.h>
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

static const struct tunable_ops *ops_of(const struct tunable *t)
{
	static const struct tunable_ops none = {0};
	switch (t->backend) {
	case BACKEND_SYSCTL:
		return &sysctl_ops;
	default:
		return &none;
	}
}

static const struct tunable *find(const char *name)
{
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].backend == BACKEND_SYSCTL ? name_matches(rows[i].name, name)
						      : !strcmp(rows[i].name, name)) {
			return &rows[i];
		}
		if (rows[i].backend == BACKEND_PARAM && !strncmp(name, "param.", 6) && name[6]) {
			return &rows[i];
		}
	}
	return NULL;
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
	return nearest_word(name, names, n);
}

static int unknown_name(const char *name, struct err *e)
{
	const char *near = tunable_near(name);
	if (near) {
		return err_usage(e, "unknown tunable '%s'; did you mean '%s'?", name, near);
	}
	return err_usage(e, "unknown tunable '%s'; `tunesweep list` shows what there is", name);
}

/* The names of parameters are the user's: any one word that a key of JSON output can carry. */
static int check_param(const char *name, struct err *e)
{
	const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	if (name[strspn(name, allowed)] || strlen(name) >= TUNABLE_NAME_MAX) {
		return err_usage(e,
				 "the parameter name '%.60s' may hold letters, digits, '_', '-' "
				 "and '.' only",
				 name);
	}
	return 0;
}

static int check_field(const struct setting *s, const char *field, struct err *e)
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

int tunable_resolve(const char *name, const char *field, const char *device, struct setting *out,
		    struct err *e)
{
	memset(out, 0, sizeof(*out));
	bool sysctl = strncmp(name, "param.", 6) && strncmp(name, "socket.", 7);
	int r = sysctl ? name_canonical(name, out->name, sizeof(out->name), e)
		       : check_param(name, e);
	if (r) {
		return r;
	}
	if (!sysctl) {
		strcpy(out->name, name);
	}
	out->tunable = find(out->name);
	if (!out->tunable && (!strncmp(out->name, "net.", 4) || !strncmp(out->name, "net/", 4))) {
		out->tunable = &unlisted;
	}
	if (!out->tunable) {
		return unknown_name(name, e);
	}
	if (device && *device) {
		return err_usage(e, "%s takes no device", out->name);
	}
	return check_field(out, field ? field : "", e);
}

static int check_range(const struct setting *s, const char *field, int64_t i, struct err *e)
{
	const struct tunable *t = s->tunable;
	if (i >= t->min && i <= t->max) {
		return 0;
	}
	return err_usage(e, "%s%s%s: %" PRId64 " is not in the range %" PRId64 " to %" PRId64,
			 s->name, *field ? "." : "", field, i, t->min, t->max);
}

static int check_one_field(const struct setting *s, size_t i, const char *word, int64_t *last,
			   struct err *e)
{
	const struct tunable *t = s->tunable;
	int64_t v;
	if (scalar_int(word, &v, e)) {
		return err_wrap(e, "%s.%s", s->name, t->fields[i]);
	}
	if (check_range(s, t->fields[i], v, e)) {
		return -EINVAL;
	}
	if (i && v < *last) {
		return err_usage(e, "%s: %s (%" PRId64 ") must not be below %s (%" PRId64 ")",
				 s->name, t->fields[i], v, t->fields[i - 1], *last);
	}
	*last = v;
	return 0;
}

/* All fields at once: "4096 16384 4194304". The kernel would take fewer and drop more. */
static int check_fields(const struct setting *s, const struct value *v, struct err *e)
{
	const struct tunable *t = s->tunable;
	size_t n = 0, wanted = 0, len;
	int64_t last = 0;
	while (wanted < ARRAY_SIZE(t->fields) && t->fields[wanted]) {
		wanted++;
	}
	for (const char *p = v->text; *(p += strspn(p, " \t")); p += len, n++) {
		char word[32];
		len = strcspn(p, " \t");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 31 ? len : 31), p);
		if (n < wanted && check_one_field(s, n, word, &last, e)) {
			return -EINVAL;
		}
	}
	if (n != wanted) {
		return err_usage(e, "%s wants %zu numbers (%s, %s, %s), not '%.60s'", s->name,
				 wanted, t->fields[0], t->fields[1], t->fields[2], v->text);
	}
	return 0;
}

static int check_text(const struct setting *s, const struct value *v, struct err *e)
{
	const char *const *choices = s->tunable->choices;
	if (!v->text[strspn(v->text, " ")]) {
		return err_usage(e, "%s: an empty value cannot be set", s->name);
	}
	for (const char *p = v->text; *p; p++) {
		bool blank = *p == ' ' && s->tunable->class != CLASS_UNLISTED;
		if ((unsigned char)*p < 0x20 || *p == 0x7f || blank) {
			return err_usage(e, "%s: '%.60s' is not one word", s->name, v->text);
		}
	}
	for (size_t i = 0; choices && choices[i]; i++) {
		if (!strcmp(choices[i], v->text)) {
			return 0;
		}
	}
	if (!choices) {
		return 0;
	}
	const char *near = nearest_word(v->text, choices, SIZE_MAX);
	return err_usage(e, "%s cannot be '%.60s'%s%s", s->name, v->text,
			 near ? "; did you mean " : "", near ? near : "");
}

static const char *type_name(enum value_type type)
{
	switch (type) {
	case VALUE_INT:
		return "an integer";
	case VALUE_REAL:
		return "a number";
	case VALUE_BOOL:
		return "a boolean (true, false, on, off)";
	case VALUE_TEXT:
		return "a text";
	default:
		return "a value";
	}
}

int tunable_check(const struct setting *s, const char *field, const struct value *v, struct err *e)
{
	const struct tunable *t = s->tunable;
	char text[64];
	if (check_field(s, field, e)) {
		return -EINVAL;
	}
	bool whole = t->fields[0] && !*field;
	enum value_type type = whole ? VALUE_TEXT : t->type;
	bool any = type == VALUE_NONE && v->type != VALUE_NONE;
	bool unlisted_text = t->class == CLASS_UNLISTED && v->type == VALUE_TEXT;
	if (v->type == VALUE_NONE || (v->type != type && !any && !unlisted_text)) {
		value_format(v, UNIT_NONE, text, sizeof(text));
		return err_usage(e, "%s%s%s wants %s, not '%s'", s->name, *field ? "." : "", field,
				 whole ? "a list of all its fields" : type_name(type), text);
	}
	if (whole) {
		return check_fields(s, v, e);
	}
	if (any) {
		return 0;
	}
	return v->type == VALUE_TEXT ? check_text(s, v, e) : check_range(s, field, v->i, e);
}

int tunable_probe(const struct sysroot *root, const struct setting *s, const char *field,
		  struct tunable_range *range, struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	memset(range, 0, sizeof(*range));
	range->min = s->tunable->min;
	range->max = s->tunable->max;
	if (check_field(s, field, e)) {
		return -EINVAL;
	}
	if (!ops->probe) { /* of the run's own scope: nothing on the host stands against it */
		range->settable = s->tunable->scope == SCOPE_RUN;
		return 0;
	}
	return ops->probe(root, s, field, range, e);
}

int tunable_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		 struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	char kernel[VALUE_TEXT_MAX];
	if (!ops->read) {
		return err_set(e, -EOPNOTSUPP, "%s is not a setting of the host", s->name);
	}
	int r = ops->read(root, s, kernel, sizeof(kernel), e);
	if (r) {
		return r;
	}
	r = setting_canonical(kernel, text, size);
	return r ? err_set(e, r, "%s holds more text than expected", s->name) : 0;
}

int tunable_write(const struct sysroot *root, const struct setting *s, const char *text,
		  struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	if (!ops->write) {
		return err_set(e, -EOPNOTSUPP, "%s is not a setting of the host", s->name);
	}
	if (!text[strspn(text, " \t\n")]) {
		return err_set(e, -EINVAL, "%s: an empty value cannot be written", s->name);
	}
	return ops->write(root, s, text, e);
}

size_t tunable_affected(const struct sysroot *root, const struct setting *s, struct setting *out,
			size_t max)
{
	enum { NAMES_MAX = 512 };
	const struct tunable_ops *ops = ops_of(s->tunable);
	auto_free char(*names)[TUNABLE_NAME_MAX] = calloc(NAMES_MAX, sizeof(*names));
	size_t count = 0;
	for (size_t i = 0; names && i < ARRAY_SIZE(s->tunable->affects); i++) {
		const char *name = s->tunable->affects[i];
		if (!name) {
			break;
		}
		size_t n = 1;
		if (strchr(name, '*') && ops->expand) {
			n = ops->expand(root, name, names, NAMES_MAX);
		} else {
			snprintf(names[0], sizeof(names[0]), "%s", name);
		}
		for (size_t k = 0; k < n && count < max; k++) {
			count += !tunable_resolve(names[k], "", "", &out[count], NULL);
		}
	}
	return count;
}
