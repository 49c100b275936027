/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The strict reading of scalars with units: sizes, times, rates, percentages, and of a value by
 * its type and unit. It knows neither YAML nor tunables; the yaml layer, the profile and the
 * command line call it.
 */
#include "scalar_private.h"
#include "value.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit_word {
	const char *word;
	double factor;
};

static const struct unit_word size_units[] = {
	{"", 1},     {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824},
	{"kB", 1e3}, {"MB", 1e6},   {"GB", 1e9},      {NULL, 0}};
static const struct unit_word time_units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
					      {"min", 60},  {"h", 3600},  {NULL, 0}};
static const struct unit_word us_units[] = {{"us", 1},	   {"ms", 1e3},	  {"s", 1e6},
					    {"min", 60e6}, {"h", 3600e6}, {NULL, 0}};
static const struct unit_word ns_units[] = {{"ns", 1},	{"us", 1e3},   {"ms", 1e6},
					    {"s", 1e9}, {"min", 60e9}, {NULL, 0}};
static const struct unit_word rate_units[] = {
	{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {NULL, 0}};

static int unknown_unit(const char *s, const struct written *w, const struct unit_word *units,
			const char *what, struct err *e)
{
	char list[128] = "";
	for (size_t i = 0; units[i].word; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", units[i].word);
	}
	if (!*w->unit) {
		return err_usage(e, "'%s' is not %s: write it with a unit (%s)", s, what, list);
	}
	return err_usage(e, "'%s' is not %s: unknown unit '%s' (allowed: %s)", s, what, w->unit,
			 list);
}

/* A number that is not negative, and the factor of its unit. A bare 0 needs no unit. */
static int read_unit(const char *s, const struct unit_word *units, const char *what,
		     struct written *w, double *factor, struct err *e)
{
	if (scalar_written(s, what, w, e)) {
		return -EINVAL;
	}
	if (w->negative) {
		return err_usage(e, "'%s' is not %s: it cannot be negative", s, what);
	}
	for (size_t i = 0; units[i].word; i++) {
		if (!strcmp(units[i].word, w->unit)) {
			*factor = units[i].factor;
			return 0;
		}
	}
	if (!strcmp(s, "0")) {
		*factor = 1;
		return 0;
	}
	return unknown_unit(s, w, units, what, e);
}

/* 16k, 16K, 16KB: the reader cannot know whether 1000 or 1024 is meant, so both are offered. */
static int refuse_letter(const char *s, const struct written *w, struct err *e)
{
	static const char letters[] = "kmg";
	const char *letter = strchr(letters, tolower((unsigned char)*w->unit));
	const char *rest = w->unit + 1;
	double n;
	if (!*w->unit || !letter || (*rest && strcasecmp(rest, "b") && strcasecmp(rest, "ib"))) {
		return 0;
	}
	for (const struct unit_word *u = size_units; u->word; u++) {
		if (!strcmp(u->word, w->unit)) {
			return 0;
		}
	}
	if (scalar_written_real(s, w, &n, e)) {
		return -EINVAL;
	}
	size_t power = (size_t)(letter - letters);
	const struct unit_word *binary = &size_units[1 + power], *decimal = &size_units[4 + power];
	int len = (int)w->length;
	return err_usage(e, "'%s' is ambiguous: write %.*s%s (%.0f bytes) or %.*s%s (%.0f bytes)",
			 s, len, s, decimal->word, n * decimal->factor, len, s, binary->word,
			 n * binary->factor);
}

int scalar_size(const char *s, int64_t *bytes, struct err *e)
{
	struct written w;
	double factor;
	if (scalar_written(s, "a size", &w, e) || refuse_letter(s, &w, e) ||
	    read_unit(s, size_units, "a size (bytes, KiB MiB GiB, kB MB GB)", &w, &factor, e)) {
		return -EINVAL;
	}
	return scalar_written_int(s, &w, factor, "a whole number of bytes", bytes, e);
}

static int scaled_real(const char *s, const struct unit_word *units, const char *what, double *out,
		       struct err *e)
{
	struct written w;
	double factor;
	if (read_unit(s, units, what, &w, &factor, e) || scalar_written_real(s, &w, out, e)) {
		return -EINVAL;
	}
	*out *= factor;
	return isfinite(*out) ? 0 : err_usage(e, "'%s' is too large", s);
}

static int scaled_int(const char *s, const struct unit_word *units, const char *what,
		      const char *whole, int64_t *out, struct err *e)
{
	struct written w;
	double factor;
	if (read_unit(s, units, what, &w, &factor, e)) {
		return -EINVAL;
	}
	return scalar_written_int(s, &w, factor, whole, out, e);
}

int scalar_time(const char *s, double *seconds, struct err *e)
{
	return scaled_real(s, time_units, "a time", seconds, e);
}

int scalar_rate(const char *s, double *bits_per_s, struct err *e)
{
	return scaled_real(s, rate_units, "a rate", bits_per_s, e);
}

int scalar_fraction(const char *s, double *fraction, struct err *e)
{
	static const struct unit_word percent[] = {{"%", 1}, {NULL, 0}};
	struct written w;
	double factor, p;
	if (read_unit(s, percent, "a percentage", &w, &factor, e) ||
	    scalar_written_real(s, &w, &p, e)) {
		return -EINVAL;
	}
	if (p > 100) {
		return err_usage(e, "'%s' is above 100%%", s);
	}
	*fraction = p / 100;
	return 0;
}

static int parse_int(const char *s, enum value_unit unit, int64_t *out, struct err *e)
{
	switch (unit) {
	case UNIT_BYTES:
		/* -1 and the like: the range decides, not the notation. */
		return *s == '-' ? scalar_int(s, out, e) : scalar_size(s, out, e);
	case UNIT_US:
		return scaled_int(s, us_units, "a time", "a whole number of us", out, e);
	case UNIT_NS:
		return scaled_int(s, ns_units, "a time", "a whole number of ns", out, e);
	case UNIT_BITRATE:
		return scaled_int(s, rate_units, "a rate", "a whole number of bit/s", out, e);
	default:
		return scalar_int(s, out, e);
	}
}

static int parse_real(const char *s, enum value_unit unit, double *out, struct err *e)
{
	switch (unit) {
	case UNIT_BYTES:
		return scaled_real(s, size_units, "a size", out, e);
	case UNIT_US:
		return scaled_real(s, us_units, "a time", out, e);
	case UNIT_NS:
		return scaled_real(s, ns_units, "a time", out, e);
	case UNIT_BITRATE:
		return scaled_real(s, rate_units, "a rate", out, e);
	default:
		return scalar_real(s, out, e);
	}
}

int value_parse(const char *s, enum value_type type, enum value_unit unit, struct value *out,
		struct err *e)
{
	bool b;
	int r;
	memset(out, 0, sizeof(*out));
	switch (type) {
	case VALUE_INT:
		r = parse_int(s, unit, &out->i, e);
		break;
	case VALUE_REAL:
		r = parse_real(s, unit, &out->r, e);
		break;
	case VALUE_BOOL:
		r = scalar_bool(s, &b, e);
		out->i = !r && b;
		break;
	case VALUE_TEXT:
		if (strlen(s) >= VALUE_TEXT_MAX) {
			return err_usage(e, "'%.40s...' is longer than %d characters", s,
					 VALUE_TEXT_MAX - 1);
		}
		strcpy(out->text, s);
		r = 0;
		break;
	default:
		return err_usage(e, "'%s': nothing can be written here", s);
	}
	out->type = r ? VALUE_NONE : type;
	return r;
}
