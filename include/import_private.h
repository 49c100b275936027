/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the readers of foreign results share: the text with its name, errors with their place, rows.
 * Only results/import.c and results/import/ include this.
 */
#ifndef TUNESWEEP_IMPORT_PRIVATE_H
#define TUNESWEEP_IMPORT_PRIVATE_H

#include "import.h"
#include "sample.h"

struct import_text {
	const char *file;
	const char *text; /* ends with a null character */
	size_t size;
};

/* ERR_USAGE "file:line:column: sentence" for a place in the text. */
int import_error(const struct import_text *t, const char *at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A row with three empty objects, put into rows; borrowed. */
json_t *import_add_row(json_t *rows);
/* Skips what is not known (NaN). */
void import_metric(json_t *row, enum metric m, double x);
/* Adds the sum of both sides' service demand where both are known: never half a sum. */
void import_sum(json_t *row);
/* A label as text; nothing for "". */
void import_label(json_t *row, const char *name, const char *text);

/*
 * A number written as programs print it. at[0..n) may have blanks around it. 0, or the error:
 * empty, NaN, infinite, a comma as decimal separator, anything behind it.
 */
int import_number(const struct import_text *t, const char *at, size_t n, double *out,
		  struct err *e);

int import_csv(const struct import_text *t, json_t *rows, struct err *e);
int import_netperf(const struct import_text *t, json_t *rows, struct err *e);
int import_json(const struct import_text *t, const char *format, json_t *rows, struct err *e);

#endif
