/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of one setting and its fields: taking one out, putting one in, comparing, naming. No
 * file is touched. Called by tunable.c, the back ends and the session.
 */
#include "cleanup.h"
#include "tunable.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *blanks(void)
{
	return " \t\n\r";
}

/* Field i of a text, and its length; length 0 if there are not so many. */
static const char *field_at(const char *text, size_t i, size_t *len)
{
	for (;; i--) {
		text += strspn(text, blanks());
		*len = strcspn(text, blanks());
		if (!i || !*len) {
			return text;
		}
		text += *len;
	}
}

int tunable_field_index(const struct tunable *t, const char *field)
{
	for (int i = 0; *field && i < (int)ARRAY_SIZE(t->fields) && t->fields[i]; i++) {
		if (!strcmp(t->fields[i], field)) {
			return i;
		}
	}
	return -1;
}

int setting_canonical(const char *text, char *out, size_t size)
{
	size_t used = 0, len;
	for (const char *p = field_at(text, 0, &len); len; p = field_at(p + len, 0, &len)) {
		if (used + len + 2 > size) {
			return -ENAMETOOLONG;
		}
		if (used) {
			out[used++] = ' ';
		}
		memcpy(out + used, p, len);
		used += len;
	}
	out[used] = 0;
	return 0;
}

static int field_value(const struct setting *s, const char *p, size_t len, struct value *out,
		       struct err *e)
{
	char *end;
	errno = 0;
	long long i = strtoll(p, &end, 10);
	bool number = end == p + len && !errno;
	if (s->tunable->type == VALUE_BOOL && number) {
		*out = value_bool(i != 0);
		return 0;
	}
	if (!number) {
		return err_set(e, -ERANGE, "%s holds '%.*s', which is not a number that fits",
			       s->name, (int)(len < 40 ? len : 40), p);
	}
	*out = value_int(i);
	return 0;
}

int setting_field(const struct setting *s, const char *field, const char *text, struct value *out,
		  struct err *e)
{
	const struct tunable *t = s->tunable;
	char canonical[SETTING_TEXT_MAX];
	size_t len;
	int i = tunable_field_index(t, field);
	if (*field && i < 0) {
		return err_usage(e, "%s has no field '%s'", s->name, field);
	}
	if (setting_canonical(text, canonical, sizeof(canonical))) {
		return err_set(e, -ENAMETOOLONG, "%s holds more text than expected", s->name);
	}
	bool whole = t->fields[0] && i < 0;
	const char *p = field_at(canonical, i < 0 ? 0 : (size_t)i, &len);
	if (!len && t->type != VALUE_TEXT) {
		return err_set(e, -ENODATA, "%s holds no %s", s->name, *field ? field : "value");
	}
	bool texts = t->class == CLASS_UNLISTED && (p[len] || strspn(p, "-0123456789") < len);
	if (whole || texts || t->type == VALUE_TEXT) {
		*out = value_text(canonical);
		return 0;
	}
	return field_value(s, p, len, out, e);
}

static int value_kernel_text(const struct value *v, char *buf, size_t size)
{
	switch (v->type) {
	case VALUE_INT:
	case VALUE_BOOL:
		snprintf(buf, size, "%" PRId64, v->i);
		return 0;
	case VALUE_TEXT:
		return setting_canonical(v->text, buf, size);
	default:
		return -EINVAL;
	}
}

int setting_replace(const struct setting *s, const char *field, const struct value *v, char *text,
		    size_t size, struct err *e)
{
	char word[SETTING_TEXT_MAX], old[SETTING_TEXT_MAX];
	size_t len;
	int i = tunable_field_index(s->tunable, field);
	if (*field && i < 0) {
		return err_usage(e, "%s has no field '%s'", s->name, field);
	}
	if (value_kernel_text(v, word, sizeof(word))) {
		return err_usage(e, "%s cannot hold such a value", s->name);
	}
	if (setting_canonical(i < 0 ? word : text, old, sizeof(old))) {
		return err_set(e, -ENAMETOOLONG, "%s holds more text than expected", s->name);
	}
	if (i < 0) {
		int n = snprintf(text, size, "%s", old);
		return (size_t)n < size ? 0 : err_set(e, -ENAMETOOLONG, "%s: too long", s->name);
	}
	const char *p = field_at(old, (size_t)i, &len);
	if (!len) {
		return err_set(e, -ENODATA, "%s holds no %s", s->name, field);
	}
	int n = snprintf(text, size, "%.*s%s%s", (int)(p - old), old, word, p + len);
	return (size_t)n < size ? 0 : err_set(e, -ENAMETOOLONG, "%s: too long", s->name);
}

bool setting_same(const struct setting *a, const struct setting *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->device, b->device);
}

const char *setting_key(const struct setting *s, const char *field, const char *host, char *buf,
			size_t size)
{
	snprintf(buf, size, "%s%s%s%s%s", s->name, field && *field ? "." : "", field ? field : "",
		 host && *host ? "@" : "", host ? host : "");
	return buf;
}
