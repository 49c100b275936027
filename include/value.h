/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value of one tunable, and the strict reading of scalars: sizes, times, rates, fractions,
 * booleans. A scalar is never guessed: what could be read in two ways is refused, and the error
 * says what to write instead (INTERFACE, "Scalars are strict"). Used by spec, profile and agent.
 */
#ifndef TUNESWEEP_VALUE_H
#define TUNESWEEP_VALUE_H

#include "err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_TEXT_MAX 256

enum value_type {
	VALUE_NONE,
	VALUE_INT,  /* i: in the tunable's unit (bytes, us, ns, bit/s, count) */
	VALUE_REAL, /* r */
	VALUE_BOOL, /* i: 0 or 1 */
	VALUE_TEXT, /* text: a choice, a CPU list, or a sysctl's fields separated by one blank */
};

struct value {
	enum value_type type;
	int64_t i;
	double r;
	char text[VALUE_TEXT_MAX];
};

enum value_unit {
	UNIT_NONE,
	UNIT_COUNT,
	UNIT_BYTES, /* 64KiB, 1MB, or a bare number of bytes */
	UNIT_US,    /* times are written with a unit (us ms s min h), kept in this one */
	UNIT_NS,
	UNIT_BITRATE, /* 2Gbit/s; kept in bit/s */
	UNIT_PACKETS,
};

struct value value_int(int64_t i);
struct value value_real(double r);
struct value value_bool(bool b);
struct value value_text(const char *text); /* cut at VALUE_TEXT_MAX - 1 */

/* Equal in type and content; texts made of numbers are compared field by field as numbers
 * ("4096\t16384" equals "4096 16384"). */
bool value_equal(const struct value *a, const struct value *b);
bool value_text_equal(const char *a, const char *b); /* two such texts, of any length */

/* Equal values have equal ones. */
uint64_t value_hash(const struct value *v);

/* As the user would write it: 1MiB only where exact, else the bare number. Returns buf. */
const char *value_format(const struct value *v, enum value_unit unit, char *buf, size_t size);

/* As a JSON integer, real, boolean or string (VALUE_NONE: null); and back. */
json_t *value_to_json(const struct value *v);
int value_from_json(const json_t *j, struct value *out, struct err *e);

/*
 * Strict scalars. Each returns 0 or -EINVAL with a sentence that says what was found and what to
 * write instead; no place (the yaml layer puts file:line:column in front).
 * Sizes: bytes or KiB MiB GiB kB MB GB; a single letter (16k) is refused, both readings offered.
 * Octal (010), sexagesimal (1:30), 1_000, 0x10, .inf, 1e3 for integers are refused.
 */
int scalar_int(const char *s, int64_t *out, struct err *e);
int scalar_real(const char *s, double *out, struct err *e);
int scalar_size(const char *s, int64_t *bytes, struct err *e);
int scalar_time(const char *s, double *seconds, struct err *e);
int scalar_rate(const char *s, double *bits_per_s, struct err *e);
int scalar_fraction(const char *s, double *fraction,
		    struct err *e); /* "5%" is 0.05; a bare number is refused */
int scalar_bool(const char *s, bool *out, struct err *e); /* true false on off */

/* A value of the given type and unit from its text. */
int value_parse(const char *s, enum value_type type, enum value_unit unit, struct value *out,
		struct err *e);

/* The candidate nearest to word by edit distance, or NULL if none is near. n may be given as
 * SIZE_MAX for a NULL-terminated list. */
const char *nearest_word(const char *word, const char *const *candidates, size_t n);

#endif
