/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as plain text for a terminal or a mail. Control characters are replaced: a name must
 * not be able to move the cursor. No colours.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report_private.h"
#include <libsmartcols.h>
#include <math.h>
#include <string.h>

static void put(FILE *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		/* C1 controls come as c2 80 to c2 9f in UTF-8. */
		if (c == 0xc2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] < 0xa0) {
			s++;
			fputc('?', out);
		} else {
			fputc(c == '\n' || c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : c, out);
		}
	}
}

static void text_begin(FILE *out, const char *title, const char *subtitle)
{
	put(out, title);
	fputc('\n', out);
	put(out, subtitle);
	fputs("\n\n", out);
}

static void text_section(FILE *out, const char *heading)
{
	fputc('\n', out);
	put(out, heading);
	fputc('\n', out);
}

static void text_headline(FILE *out, const char *text, bool good)
{
	(void)good;
	put(out, text);
	fputc('\n', out);
}

static void text_paragraph(FILE *out, const char *text)
{
	fputs("  ", out);
	put(out, text);
	fputc('\n', out);
}

static int fill_table(struct libscols_table *tb, const struct report_table *t)
{
	int rc = 0;
	for (size_t c = 0; rc == 0 && c < t->columns; c++) {
		int flags = SCOLS_FL_NOEXTREMES | (t->numeric[c] ? SCOLS_FL_RIGHT : 0);
		rc = scols_table_new_column(tb, t->heads[c], 0, flags) ? 0 : -1;
	}
	for (size_t i = 0; rc == 0 && i + t->columns <= t->n_cells; i += t->columns) {
		struct libscols_line *line = scols_table_new_line(tb, NULL);
		for (size_t c = 0; line && rc == 0 && c < t->columns; c++) {
			rc = scols_line_set_data(line, c, t->cells[i + c]);
		}
		rc = line ? rc : -1;
	}
	return rc;
}

/* Indented, and without blanks at the ends of lines. */
static void put_lines(FILE *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), kept = n;
		while (kept > 0 && text[kept - 1] == ' ') {
			kept--;
		}
		fprintf(out, "  %.*s\n", (int)kept, text);
		text += n + (text[n] == '\n');
	}
}

/* libsmartcols aligns, counts terminal columns and makes control characters harmless. */
static void text_table(FILE *out, const struct report_table *t)
{
	auto_free char *text = NULL;
	struct libscols_table *tb = scols_new_table();
	if (tb && scols_table_set_column_separator(tb, "  ") == 0 && fill_table(tb, t) == 0 &&
	    scols_print_table_to_string(tb, &text) == 0 && text) {
		put_lines(out, text);
	} else {
		fputs("  (no memory for this table)\n", out);
	}
	scols_unref_table(tb);
}

/* The best score so far over the samples of baseline and search, one mark a step. */
static void text_pictures(FILE *out, const json_t *data)
{
	static const char *const marks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588"};
	enum { PHASE = 2, OK = 3, SCORE = 4, WIDTH = 64 };
	const json_t *rows = json_object_get(data, "rows");
	double best[WIDTH], top = -INFINITY, first = NAN;
	size_t n = strcmp(json_get_text(data, "kind", ""), "run") ? 0 : json_array_size(rows);
	size_t steps = n < WIDTH ? n : WIDTH;
	for (size_t i = 0; i < n; i++) {
		const json_t *row = json_array_get(rows, i), *score = json_array_get(row, SCORE);
		if (json_integer_value(json_array_get(row, PHASE)) <= 1 && json_is_number(score) &&
		    json_integer_value(json_array_get(row, OK)) == 1) {
			top = fmax(top, json_number_value(score));
			first = isnan(first) ? top : first;
		}
		best[i * steps / n] = top;
	}
	if (!(top > first)) {
		return; /* nothing rose */
	}
	fputs("\nBest so far\n  ", out);
	for (size_t i = 0; i < steps; i++) {
		double part = isfinite(best[i]) ? (best[i] - first) / (top - first) : 0;
		fputs(marks[(int)(7 * fmax(part, 0))], out);
	}
	fprintf(out, "  score %.4g to %.4g\n", first, top);
}

static void text_end(FILE *out)
{
	(void)out;
}

const struct report_writer report_text = {
	.begin = text_begin,
	.section = text_section,
	.headline = text_headline,
	.paragraph = text_paragraph,
	.table = text_table,
	.pictures = text_pictures,
	.end = text_end,
};
