/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The readers of YAML scalars: each says what it wants, and its errors have the place. The
 * notation itself is scalar.c's. Called by spec and profile.
 */
#include "cleanup.h"
#include "yaml.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void join_words(const char *const *words, char *buf, size_t size)
{
	*buf = 0;
	for (size_t i = 0; words[i]; i++) {
		size_t used = strlen(buf);
		snprintf(buf + used, size - used, "%s%s", used ? ", " : "", words[i]);
	}
}

static int unknown_word(struct yaml_at at, const char *what, const char *const *allowed,
			struct err *e)
{
	char list[400];
	join_words(allowed, list, sizeof(list));
	const char *near = nearest_word(yaml_text(at), allowed, SIZE_MAX);
	if (near) {
		return yaml_error(at, e, "unknown %s '%.60s'; did you mean '%s'? (allowed: %s)",
				  what, yaml_text(at), near, list);
	}
	return yaml_error(at, e, "unknown %s '%.60s' (allowed: %s)", what, yaml_text(at), list);
}

static bool word_in(const char *word, const char *const *list)
{
	for (size_t i = 0; list[i]; i++) {
		if (!strcmp(word, list[i])) {
			return true;
		}
	}
	return false;
}

int yaml_check_keys(struct yaml_at map, const char *const *allowed, struct err *e)
{
	if (yaml_kind(map) != YAML_MAP) {
		char list[400];
		join_words(allowed, list, sizeof(list));
		return yaml_error(map, e, "a map is wanted here, with the keys %s", list);
	}
	for (size_t i = 0; i < yaml_count(map); i++) {
		if (!word_in(yaml_text(yaml_key(map, i)), allowed)) {
			return unknown_word(yaml_key(map, i), "key", allowed, e);
		}
	}
	return 0;
}

static int want_scalar(struct yaml_at at, const char *what, struct err *e)
{
	switch (yaml_kind(at)) {
	case YAML_SCALAR:
		return 0;
	case YAML_ABSENT:
		return yaml_error(at, e, "%s is missing", what);
	case YAML_LIST:
		return yaml_error(at, e, "%s is wanted here, not a list", what);
	default:
		return yaml_error(at, e, "%s is wanted here, not a map", what);
	}
}

/* In YAML a quoted number is a text; taking it for a number would be a guess. */
static int want_plain(struct yaml_at at, const char *what, struct err *e)
{
	int r = want_scalar(at, what, e);
	if (!r && yaml_quoted(at)) {
		return yaml_error(at, e, "%s is written without quotes", what);
	}
	return r;
}

int yaml_as_text(struct yaml_at at, char *out, size_t size, struct err *e)
{
	static const char *const words[] = {"yes", "no", "on", "off", "true", "false", "null", "~"};
	const char *text = yaml_text(at);
	*out = 0;
	if (want_scalar(at, "a text", e)) {
		return -EINVAL;
	}
	if (!yaml_quoted(at) && !*text) {
		return yaml_error(at, e, "nothing is written here; write a text, or \"\"");
	}
	for (size_t i = 0; i < ARRAY_SIZE(words) && !yaml_quoted(at); i++) {
		if (!strcasecmp(text, words[i])) {
			return yaml_error(at, e,
					  "'%s' is not a text in YAML; write \"%s\" if you mean "
					  "the word",
					  text, text);
		}
	}
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f) {
			return yaml_error(at, e,
					  "line breaks and control characters are not "
					  "allowed here");
		}
	}
	if (strlen(text) >= size) {
		return yaml_error(at, e, "longer than %zu characters", size - 1);
	}
	strcpy(out, text);
	return 0;
}

int yaml_as_int(struct yaml_at at, int64_t lo, int64_t hi, int64_t *out, struct err *e)
{
	if (want_plain(at, "an integer", e)) {
		return -EINVAL;
	}
	if (scalar_int(yaml_text(at), out, e)) {
		return yaml_error_at(at, e);
	}
	if (*out < lo || *out > hi) {
		return yaml_error(at, e, "%" PRId64 " is not in the range %" PRId64 " to %" PRId64,
				  *out, lo, hi);
	}
	return 0;
}

int yaml_as_real(struct yaml_at at, double lo, double hi, double *out, struct err *e)
{
	char a[40], b[40];
	if (want_plain(at, "a number", e)) {
		return -EINVAL;
	}
	if (scalar_real(yaml_text(at), out, e)) {
		return yaml_error_at(at, e);
	}
	if (*out < lo || *out > hi) {
		struct value from = value_real(lo), to = value_real(hi);
		return yaml_error(at, e, "%s is not in the range %s to %s", yaml_text(at),
				  value_format(&from, UNIT_NONE, a, sizeof(a)),
				  value_format(&to, UNIT_NONE, b, sizeof(b)));
	}
	return 0;
}

int yaml_as_size(struct yaml_at at, int64_t *bytes, struct err *e)
{
	if (want_scalar(at, "a size", e)) {
		return -EINVAL;
	}
	return scalar_size(yaml_text(at), bytes, e) ? yaml_error_at(at, e) : 0;
}

int yaml_as_time(struct yaml_at at, double *seconds, struct err *e)
{
	if (want_scalar(at, "a time", e)) {
		return -EINVAL;
	}
	return scalar_time(yaml_text(at), seconds, e) ? yaml_error_at(at, e) : 0;
}

int yaml_as_rate(struct yaml_at at, double *bits_per_s, struct err *e)
{
	if (want_scalar(at, "a rate", e)) {
		return -EINVAL;
	}
	return scalar_rate(yaml_text(at), bits_per_s, e) ? yaml_error_at(at, e) : 0;
}

int yaml_as_fraction(struct yaml_at at, double *out, struct err *e)
{
	if (want_scalar(at, "a percentage", e)) {
		return -EINVAL;
	}
	return scalar_fraction(yaml_text(at), out, e) ? yaml_error_at(at, e) : 0;
}

int yaml_as_bool(struct yaml_at at, bool *out, struct err *e)
{
	if (want_plain(at, "a boolean (true, false, on, off)", e)) {
		return -EINVAL;
	}
	return scalar_bool(yaml_text(at), out, e) ? yaml_error_at(at, e) : 0;
}

int yaml_as_word(struct yaml_at at, const char *const *names, int *out, struct err *e)
{
	if (want_scalar(at, "a word", e)) {
		return -EINVAL;
	}
	for (int i = 0; names[i]; i++) {
		if (!strcmp(names[i], yaml_text(at))) {
			*out = i;
			return 0;
		}
	}
	return unknown_word(at, "word", names, e);
}

int yaml_as_value(struct yaml_at at, enum value_type type, enum value_unit unit, struct value *out,
		  struct err *e)
{
	if (type == VALUE_TEXT) {
		memset(out, 0, sizeof(*out));
		out->type = VALUE_TEXT;
		return yaml_as_text(at, out->text, sizeof(out->text), e);
	}
	bool bare = type == VALUE_BOOL || unit == UNIT_NONE || unit == UNIT_COUNT;
	const char *what = type == VALUE_BOOL ? "a boolean (true, false, on, off)" : "a number";
	int r = bare ? want_plain(at, what, e) : want_scalar(at, what, e);
	if (r) {
		return r;
	}
	return value_parse(yaml_text(at), type, unit, out, e) ? yaml_error_at(at, e) : 0;
}
