/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as plain text for a terminal or a mail. Control characters are replaced: a name must
 * not be able to move the cursor. No colours.
 */
#include "report_private.h"
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

/* Columns on a terminal, as far as UTF-8's code points tell. */
static size_t width(const char *s)
{
	size_t n = 0;
	for (; *s; s++) {
		n += ((unsigned char)*s & 0xc0) != 0x80;
	}
	return n;
}

static void pad(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
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

static void put_cell(FILE *out, const char *cell, size_t wide, bool right, bool last)
{
	size_t n = width(cell), rest = wide > n ? wide - n : 0;
	if (right) {
		pad(out, rest);
	}
	put(out, cell);
	if (!right && !last) {
		pad(out, rest);
	}
}

static void put_row(FILE *out, const struct report_table *t, const char *const *cells,
		    const size_t *wide)
{
	size_t last = t->columns; /* no blanks at the end of a line */
	while (last > 1 && !*cells[last - 1]) {
		last--;
	}
	for (size_t c = 0; c < last; c++) {
		fputs("  ", out);
		put_cell(out, cells[c], wide[c], t->numeric[c], c + 1 == last);
	}
	fputc('\n', out);
}

static void text_table(FILE *out, const struct report_table *t)
{
	size_t wide[REPORT_COLUMNS_MAX];
	for (size_t c = 0; c < t->columns; c++) {
		wide[c] = width(t->heads[c]);
		for (size_t i = c; i < t->n_cells; i += t->columns) {
			size_t n = width(t->cells[i]);
			wide[c] = n > wide[c] ? n : wide[c];
		}
	}
	put_row(out, t, t->heads, wide);
	for (size_t i = 0; i + t->columns <= t->n_cells; i += t->columns) {
		put_row(out, t, (const char *const *)t->cells + i, wide);
	}
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
	.end = text_end,
};
