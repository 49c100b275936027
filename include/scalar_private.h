/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What scalar.c (numbers) lends to scalar_unit.c (sizes, times, rates). For nobody else.
 */
#ifndef TUNESWEEP_SCALAR_PRIVATE_H
#define TUNESWEEP_SCALAR_PRIVATE_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number as it is written: [-]digits[.digits][e[+-]digits], perhaps a blank, then a unit. */
struct written {
	bool negative, fraction, exponent;
	size_t length;	  /* of the number */
	const char *unit; /* "" if there is none */
};

/* what: "a size" or the like, for the error. 0 or -EINVAL. */
int scalar_written(const char *s, const char *what, struct written *w, struct err *e);

/* The number without its unit. */
int scalar_written_real(const char *s, const struct written *w, double *out, struct err *e);

/* Number times factor as an integer: exact, or refused as not being "what". */
int scalar_written_int(const char *s, const struct written *w, double factor, const char *what,
		       int64_t *out, struct err *e);

#endif
