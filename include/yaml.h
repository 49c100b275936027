/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strict YAML over libyaml's document API: duplicate keys, anchors, tags, several documents and
 * non-scalar keys are refused on opening; every error has file:line:column. What the scalars
 * mean is decided by who asks for them (the yaml_as_* readers), never by YAML's own guessing.
 * Used for specs, profiles and configurations.
 */
#ifndef TUNESWEEP_YAML_H
#define TUNESWEEP_YAML_H

#include "err.h"
#include "value.h"
#include <stdbool.h>
#include <stddef.h>

struct yaml; /* one document; nodes live as long as it */

enum yaml_kind { YAML_ABSENT, YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_at { /* one node; by value; id 0 is "absent" */
	const struct yaml *doc;
	int id;
};

int yaml_open_file(const char *path, struct yaml **out, struct err *e);
int yaml_open_text(const char *name, const char *text, size_t size, struct yaml **out,
		   struct err *e);
void yaml_close(struct yaml *y);

struct yaml_at yaml_root(const struct yaml *y);
enum yaml_kind yaml_kind(struct yaml_at at);
unsigned yaml_line(struct yaml_at at);	 /* from 1 */
unsigned yaml_column(struct yaml_at at); /* from 1 */
bool yaml_quoted(struct yaml_at at);

size_t yaml_count(struct yaml_at at); /* items of a list, pairs of a map */
struct yaml_at yaml_item(struct yaml_at list, size_t i);
struct yaml_at yaml_key(struct yaml_at map, size_t i);
struct yaml_at yaml_value(struct yaml_at map, size_t i);
struct yaml_at yaml_get(struct yaml_at map, const char *key); /* absent if it is not there */
const char *yaml_text(struct yaml_at scalar);		      /* "" if not a scalar */

/* ERR_USAGE "file:line:column: ..." at this node; returns -EINVAL. */
int yaml_error(struct yaml_at at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts the node's place in front of a sentence that a scalar_* or other checker has written. */
int yaml_error_at(struct yaml_at at, struct err *e);

/* The node must be a map, and have no other keys than these (NULL-terminated); the error names
 * the nearest and lists what is allowed. */
int yaml_check_keys(struct yaml_at map, const char *const *allowed, struct err *e);

/* Readers: 0, or -EINVAL with the place. Bounds are inclusive. */
int yaml_as_text(struct yaml_at at, char *out, size_t size, struct err *e);
int yaml_as_int(struct yaml_at at, int64_t lo, int64_t hi, int64_t *out, struct err *e);
int yaml_as_real(struct yaml_at at, double lo, double hi, double *out, struct err *e);
int yaml_as_size(struct yaml_at at, int64_t *bytes, struct err *e);
int yaml_as_time(struct yaml_at at, double *seconds, struct err *e);
int yaml_as_rate(struct yaml_at at, double *bits_per_s, struct err *e);
int yaml_as_fraction(struct yaml_at at, double *out, struct err *e);
int yaml_as_bool(struct yaml_at at, bool *out, struct err *e);
/* A value of the given type and unit; texts as yaml_as_text reads them. */
int yaml_as_value(struct yaml_at at, enum value_type type, enum value_unit unit, struct value *out,
		  struct err *e);
/* Index into names (NULL-terminated). */
int yaml_as_word(struct yaml_at at, const char *const *names, int *out, struct err *e);

#endif
