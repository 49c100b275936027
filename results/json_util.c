/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NaN and text of other programs as JSON, and lenient readers. Used by all that writes or reads
 * results; decides nothing.
 */
#include "json_util.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number_or_null(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

/* Length of the UTF-8 sequence at s (1 to 4), 0 if it is not one that RFC 3629 allows. */
static size_t utf8_length(const unsigned char *s)
{
	if (s[0] < 0x80) {
		return 1;
	}
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4) {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
	bool surrogate = s[0] == 0xed && s[1] > 0x9f;
	bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
	return overlong || surrogate || beyond ? 0 : n;
}

static json_t *text_repaired(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *fixed = malloc(3 * strlen(text) + 1), *to = fixed;
	if (!fixed) {
		return json_null();
	}
	for (const unsigned char *s = (const unsigned char *)text; *s;) {
		size_t n = utf8_length(s);
		if (n) {
			to = mempcpy(to, s, n);
		} else {
			to = mempcpy(to, replacement, 3);
		}
		s += n ? n : 1;
	}
	json_t *j = json_stringn(fixed, (size_t)(to - fixed));
	free(fixed);
	return j ? j : json_null();
}

json_t *json_text_or_null(const char *text)
{
	if (!text || !*text) {
		return json_null();
	}
	json_t *j = json_string(text);
	return j ? j : text_repaired(text);
}

double json_get_number(const json_t *object, const char *key)
{
	const json_t *j = json_object_get(object, key);
	return json_is_number(j) ? json_number_value(j) : NAN;
}

const char *json_get_text(const json_t *object, const char *key, const char *fallback)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : fallback;
}
