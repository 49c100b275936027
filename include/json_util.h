/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two places where C values do not fit into JSON: NaN and infinity, which become null, and
 * text that is not UTF-8 (output of other programs, cut sentences), whose bad bytes become U+FFFD.
 * So every JSON that is built with these parses. Not a JSON library: that is jansson.
 */
#ifndef TUNESWEEP_JSON_UTIL_H
#define TUNESWEEP_JSON_UTIL_H

#include <jansson.h>

/* A new reference; null where x is not finite. */
json_t *json_number_or_null(double x);

/* A new reference; null for NULL and "". */
json_t *json_text_or_null(const char *text);

/* The number under key; NaN if it is absent, null or no number. object may be NULL. */
double json_get_number(const json_t *object, const char *key);

/* The text under key; fallback if it is absent or no text. Borrowed. */
const char *json_get_text(const json_t *object, const char *key, const char *fallback);

#endif
