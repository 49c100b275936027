/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers and values as text for people, and the tables that reports are made of. Used by the
 * writers and by the command line.
 */
#include "report.h"
#include "report_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *report_number(double x, char *buf, size_t size)
{
	if (!isfinite(x)) {
		snprintf(buf, size, "unknown");
	} else if (fabs(x) >= 1e4 && fabs(x) < 1e15) {
		/* Four digits, and no exponent where people count in thousands. */
		double unit = pow(10, floor(log10(fabs(x))) - 3);
		snprintf(buf, size, "%.0f", round(x / unit) * unit);
	} else {
		snprintf(buf, size, "%.4g", x);
	}
	return buf;
}

const char *report_rate(double bits_per_s, char *buf, size_t size)
{
	static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
	size_t i = 0;
	if (!isfinite(bits_per_s)) {
		return report_number(bits_per_s, buf, size);
	}
	/* 999950 would be rounded to "1000 kbit/s". */
	while (i < 4 && fabs(bits_per_s) >= 999.95) {
		bits_per_s /= 1000;
		i++;
	}
	snprintf(buf, size, "%.4g %s", bits_per_s, units[i]);
	return buf;
}

/* The shortest of 15 or 17 digits that gives the same number again. */
static void exact_number(double x, char *buf, size_t size)
{
	snprintf(buf, size, "%.15g", x);
	if (strtod(buf, NULL) != x) {
		snprintf(buf, size, "%.17g", x);
	}
}

const char *report_value(const json_t *value, char *buf, size_t size)
{
	if (json_is_string(value)) {
		snprintf(buf, size, "%s", json_string_value(value));
	} else if (json_is_integer(value)) {
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	} else if (json_is_real(value)) {
		exact_number(json_real_value(value), buf, size);
	} else if (json_is_boolean(value)) {
		snprintf(buf, size, "%s", json_is_true(value) ? "true" : "false");
	} else {
		snprintf(buf, size, "%s", "");
	}
	return buf;
}

void report_table_init(struct report_table *t, const char *const *heads)
{
	memset(t, 0, sizeof(*t));
	for (; heads[t->columns] && t->columns < REPORT_COLUMNS_MAX; t->columns++) {
		const char *head = heads[t->columns];
		t->numeric[t->columns] = head[0] == '#';
		t->heads[t->columns] = head + (head[0] == '#');
	}
}

void report_table_add(struct report_table *t, const char *cell)
{
	char **more = realloc(t->cells, (t->n_cells + 1) * sizeof(*more));
	if (!more) {
		t->failed = true;
		return;
	}
	t->cells = more;
	t->cells[t->n_cells] = strdup(cell);
	if (t->cells[t->n_cells]) {
		t->n_cells++;
	} else {
		t->failed = true;
	}
}

void report_table_clear(struct report_table *t)
{
	for (size_t i = 0; i < t->n_cells; i++) {
		free(t->cells[i]);
	}
	free(t->cells);
	memset(t, 0, sizeof(*t));
}

void report_section(const struct report_writer *w, FILE *out, const char *heading,
		    const char *paragraph, struct report_table *t)
{
	if (t->n_cells) {
		w->section(out, heading);
		if (paragraph) {
			w->paragraph(out, paragraph);
		}
		w->table(out, t);
	}
	report_table_clear(t);
}
