/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a value fits a tunable: type, limits and choices of the catalogue. It asks no host.
 * Called through tunable.h.
 */
#include "cleanup.h"
#include "cpus.h"
#include "tunable_private.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* "#-#" stands for a list of CPUs, "bind:#" for any number. */
static bool fits_choice(const char *choice, const char *text)
{
	size_t len = strlen(choice);
	if (!strcmp(choice, "#-#")) {
		cpu_set_t set;
		return !cpus_parse_list(text, &set, NULL) && CPU_COUNT(&set);
	}
	if (choice[len - 1] == '#') {
		const char *number = text + len - 1;
		return !strncmp(choice, text, len - 1) && *number &&
		       !number[strspn(number, "0123456789")];
	}
	return !strcmp(choice, text);
}

/* "bind:#" is told as bind:N. */
static int refuse_choice(const struct setting *s, const char *text, struct err *e)
{
	char list[300] = "";
	for (const char *const *c = s->tunable->choices; *c; c++) {
		size_t used = strlen(list), len = strcspn(*c, "#");
		bool cpus = !strcmp(*c, "#-#");
		snprintf(list + used, sizeof(list) - used, "%s%.*s%s", used ? ", " : "",
			 cpus ? 0 : (int)len, *c,
			 cpus	     ? "a list of CPUs"
			 : (*c)[len] ? "N"
				     : "");
	}
	return err_usage(e, "%s cannot be '%.60s' (%s)", s->name, text, list);
}

bool tunable_takes_more(const struct tunable *t)
{
	for (size_t i = 0; t->choices && t->choices[i]; i++) {
		if (strchr(t->choices[i], '#')) {
			return true;
		}
	}
	return false;
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
		if (fits_choice(choices[i], v->text)) {
			return 0;
		}
	}
	if (!choices) {
		return 0;
	}
	if (tunable_takes_more(s->tunable)) {
		return refuse_choice(s, v->text, e);
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
	if (tunable_check_field(s, field, e)) {
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
