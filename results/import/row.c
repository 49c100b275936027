/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the readers of foreign results share: errors with their place, rows, strict numbers. Knows
 * no format. Called by the readers beside it.
 */
#include "cleanup.h"
#include "import_private.h"
#include "json_util.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

int import_error(const struct import_text *t, const char *at, struct err *e, const char *fmt, ...)
{
	char text[512];
	size_t line = 1;
	const char *begin = t->text;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (const char *c = t->text; c < at; c++) {
		if (*c == '\n') {
			line++;
			begin = c + 1;
		}
	}
	return err_usage(e, "%s:%zu:%zu: %s", t->file, line, (size_t)(at - begin) + 1, text);
}

json_t *import_add_row(json_t *rows)
{
	json_t *row = json_pack("{s:{}, s:{}, s:{}}", "labels", "values", "metrics");
	json_array_append_new(rows, row);
	return row;
}

void import_metric(json_t *row, enum metric m, double x)
{
	if (isfinite(x)) {
		json_object_set_new(json_object_get(row, "metrics"), metric_name(m), json_real(x));
	}
}

void import_sum(json_t *row)
{
	json_t *m = json_object_get(row, "metrics");
	double sender = json_get_number(m, metric_name(METRIC_SERVICE_DEMAND_SENDER)),
	       receiver = json_get_number(m, metric_name(METRIC_SERVICE_DEMAND_RECEIVER));
	if (!json_object_get(m, metric_name(METRIC_SERVICE_DEMAND))) {
		import_metric(row, METRIC_SERVICE_DEMAND, sender + receiver);
	}
}

void import_label(json_t *row, const char *name, const char *text)
{
	json_t *value = json_text_or_null(text);
	if (json_is_string(value)) {
		json_object_set(json_object_get(row, "labels"), name, value);
	}
	json_decref(value);
}

int import_number(const struct import_text *t, const char *at, size_t n, double *out, struct err *e)
{
	char buf[64], *end;
	while (n && isspace((unsigned char)*at)) {
		at++;
		n--;
	}
	while (n && isspace((unsigned char)at[n - 1])) {
		n--;
	}
	if (!n) {
		return import_error(t, at, e, "a number is missing here");
	}
	snprintf(buf, sizeof(buf), "%.*s", (int)(n < 63 ? n : 63), at);
	if (memchr(at, ',', n)) {
		return import_error(t, at, e, "\"%s\": write the decimal separator as a point",
				    buf);
	}
	*out = strtod(buf, &end);
	bool decimal = strspn(buf, "0123456789+-.eE") == strlen(buf);
	if (*end || n > 63 || !decimal || !isfinite(*out)) {
		return import_error(t, at, e, "\"%s\" is not a finite number%s", buf,
				    isnan(*out) && !*end ? ": leave it empty if it is not known"
							 : "");
	}
	return 0;
}
