/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value of one tunable: making, comparing, printing, JSON. Reading text is scalar.c's. Used by
 * everything that carries values; knows no tunable. Independent of the locale.
 */
#include "value.h"
#include "cleanup.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct value value_int(int64_t i)
{
	return (struct value){.type = VALUE_INT, .i = i};
}

struct value value_real(double r)
{
	return (struct value){.type = VALUE_REAL, .r = r};
}

struct value value_bool(bool b)
{
	return (struct value){.type = VALUE_BOOL, .i = b};
}

struct value value_text(const char *text)
{
	struct value v = {.type = VALUE_TEXT};
	snprintf(v.text, sizeof(v.text), "%s", text);
	return v;
}

static size_t token(const char **p)
{
	*p += strspn(*p, " \t\n");
	return strcspn(*p, " \t\n");
}

static bool token_number(const char *s, size_t len, long long *out)
{
	char *end;
	errno = 0;
	*out = strtoll(s, &end, 10);
	return len && !errno && end == s + len && *s != '+';
}

/* The kernel separates fields with tabs, people with blanks; leading zeros do not matter either. */
bool value_text_equal(const char *a, const char *b)
{
	for (;;) {
		size_t na = token(&a), nb = token(&b);
		long long ia, ib;
		if (!na || !nb) {
			return na == nb;
		}
		bool numbers = token_number(a, na, &ia) && token_number(b, nb, &ib);
		if (numbers ? ia != ib : na != nb || memcmp(a, b, na)) {
			return false;
		}
		a += na;
		b += nb;
	}
}

bool value_equal(const struct value *a, const struct value *b)
{
	if (a->type != b->type) {
		return false;
	}
	switch (a->type) {
	case VALUE_INT:
	case VALUE_BOOL:
		return a->i == b->i;
	case VALUE_REAL:
		return a->r == b->r || (isnan(a->r) && isnan(b->r));
	case VALUE_TEXT:
		return value_text_equal(a->text, b->text);
	default:
		return true;
	}
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * 0x100000001b3u; /* as FNV-1a does with bytes */
}

/* Word by word, as value_text_equal compares. */
static uint64_t text_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t n = token(&text); n > 0; n = token(&text)) {
		long long number;
		bool is_number = token_number(text, n, &number);
		hash = mix(hash, is_number ? (uint64_t)number : n);
		for (size_t i = 0; !is_number && i < n; i++) {
			hash = mix(hash, (unsigned char)text[i]);
		}
		text += n;
	}
	return hash;
}

uint64_t value_hash(const struct value *v)
{
	double r = isnan(v->r) ? 0 : v->r + 0.0; /* -0.0 equals 0.0 */
	uint64_t bits;
	switch (v->type) {
	case VALUE_INT:
	case VALUE_BOOL:
		return (uint64_t)v->i;
	case VALUE_REAL:
		memcpy(&bits, &r, sizeof(bits));
		return bits;
	case VALUE_TEXT:
		return text_hash(v->text);
	default:
		return 0;
	}
}

/* The shortest decimal that reads back as the same double. */
static void format_real(double r, char *buf, size_t size)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	locale_t old = c ? uselocale(c) : NULL;
	for (int precision = 6; precision <= 17; precision++) {
		snprintf(buf, size, "%.*g", precision, r);
		if (strtod(buf, NULL) == r) {
			break;
		}
	}
	if (c) {
		uselocale(old);
		freelocale(c);
	}
}

struct unit_step {
	int64_t factor;
	const char *word;
};

/* The largest unit in which the number is whole. */
static void format_scaled(int64_t i, const struct unit_step *steps, size_t n, char *buf,
			  size_t size)
{
	for (size_t s = 0; i && s < n; s++) {
		if (i % steps[s].factor == 0) {
			snprintf(buf, size, "%" PRId64 "%s", i / steps[s].factor, steps[s].word);
			return;
		}
	}
	snprintf(buf, size, "%" PRId64, i);
}

static void format_int(int64_t i, enum value_unit unit, char *buf, size_t size)
{
	static const struct unit_step bytes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1024, "KiB"}};
	static const struct unit_step us[] = {{1000000, "s"}, {1000, "ms"}, {1, "us"}};
	static const struct unit_step ns[] = {
		{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	static const struct unit_step rate[] = {
		{1000000000, "Gbit/s"}, {1000000, "Mbit/s"}, {1000, "kbit/s"}, {1, "bit/s"}};
	switch (unit) {
	case UNIT_BYTES:
		format_scaled(i, bytes, i > 0 ? ARRAY_SIZE(bytes) : 0, buf, size);
		break;
	case UNIT_US:
		format_scaled(i, us, ARRAY_SIZE(us), buf, size);
		break;
	case UNIT_NS:
		format_scaled(i, ns, ARRAY_SIZE(ns), buf, size);
		break;
	case UNIT_BITRATE:
		format_scaled(i, rate, ARRAY_SIZE(rate), buf, size);
		break;
	default:
		snprintf(buf, size, "%" PRId64, i);
	}
}

const char *value_format(const struct value *v, enum value_unit unit, char *buf, size_t size)
{
	switch (v->type) {
	case VALUE_INT:
		format_int(v->i, unit, buf, size);
		break;
	case VALUE_REAL:
		format_real(v->r, buf, size);
		break;
	case VALUE_BOOL:
		snprintf(buf, size, "%s", v->i ? "true" : "false");
		break;
	case VALUE_TEXT:
		snprintf(buf, size, "%s", v->text);
		break;
	default:
		snprintf(buf, size, "%s", "");
	}
	return buf;
}

json_t *value_to_json(const struct value *v)
{
	switch (v->type) {
	case VALUE_INT:
		return json_integer(v->i);
	case VALUE_REAL: /* JSON knows no infinity and no NaN: what is not known is null */
		return isfinite(v->r) ? json_real(v->r) : json_null();
	case VALUE_BOOL:
		return json_boolean(v->i);
	case VALUE_TEXT:
		return json_string(v->text);
	default:
		return json_null();
	}
}

int value_from_json(const json_t *j, struct value *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	switch (j ? json_typeof(j) : JSON_OBJECT) {
	case JSON_INTEGER:
		*out = value_int(json_integer_value(j));
		return 0;
	case JSON_REAL:
		*out = value_real(json_real_value(j));
		return 0;
	case JSON_TRUE:
	case JSON_FALSE:
		*out = value_bool(json_is_true(j));
		return 0;
	case JSON_NULL:
		return 0;
	case JSON_STRING:
		if (json_string_length(j) >= VALUE_TEXT_MAX ||
		    strlen(json_string_value(j)) != json_string_length(j)) {
			return err_usage(e, "a value is longer than %d characters or holds a NUL",
					 VALUE_TEXT_MAX - 1);
		}
		*out = value_text(json_string_value(j));
		return 0;
	default:
		return err_usage(e, "a value must be a number, a boolean or a string");
	}
}

/* Edit distance with transpositions of neighbours; words over 127 bytes are never near. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { MAX = 128 };
	size_t row[3][MAX], na = strlen(a), nb = strlen(b);
	if (na >= MAX || nb >= MAX) {
		return SIZE_MAX;
	}
	for (size_t j = 0; j <= nb; j++) {
		row[0][j] = j;
	}
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			int ca = tolower((unsigned char)a[i - 1]);
			int cb = tolower((unsigned char)b[j - 1]);
			size_t best = last[j - 1] + (ca != cb);
			best = last[j] + 1 < best ? last[j] + 1 : best;
			best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				best = before[j - 2] + 1 < best ? before[j - 2] + 1 : best;
			}
			now[j] = best;
		}
	}
	return row[na % 3][nb];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t limit = 1 + strlen(word) / 4, least = limit + 1;
	for (size_t i = 0; i < n && (n != SIZE_MAX || candidates[i]); i++) {
		size_t d = candidates[i] ? edit_distance(word, candidates[i]) : SIZE_MAX;
		if (d < least && d < strlen(candidates[i])) {
			least = d;
			best = candidates[i];
		}
	}
	return best;
}
