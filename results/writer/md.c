/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as Markdown, for a mail, an issue or a wiki. What Markdown would take for its own is
 * escaped; tables are those of GitHub's dialect.
 */
#include "report_private.h"
#include <string.h>

static void put(FILE *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (strchr("\\`*_{}[]<>|#", c)) {
			fputc('\\', out);
		}
		fputc(c == '\n' || c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : c, out);
	}
}

static void md_begin(FILE *out, const char *title, const char *subtitle)
{
	fputs("# ", out);
	put(out, title);
	fputs("\n\n", out);
	put(out, subtitle);
	fputs("\n", out);
}

static void md_section(FILE *out, const char *heading)
{
	fputs("\n## ", out);
	put(out, heading);
	fputs("\n", out);
}

static void md_headline(FILE *out, const char *text, bool good)
{
	(void)good;
	fputs("\n**", out);
	put(out, text);
	fputs("**\n", out);
}

static void md_paragraph(FILE *out, const char *text)
{
	fputs("\n", out);
	put(out, text);
	fputs("\n", out);
}

static void md_table(FILE *out, const struct report_table *t)
{
	fputs("\n|", out);
	for (size_t c = 0; c < t->columns; c++) {
		fputs(" ", out);
		put(out, t->heads[c]);
		fputs(" |", out);
	}
	fputs("\n|", out);
	for (size_t c = 0; c < t->columns; c++) {
		fputs(t->numeric[c] ? " ---: |" : " --- |", out);
	}
	for (size_t i = 0; i + t->columns <= t->n_cells; i += t->columns) {
		fputs("\n|", out);
		for (size_t c = 0; c < t->columns; c++) {
			fputs(" ", out);
			put(out, t->cells[i + c]);
			fputs(" |", out);
		}
	}
	fputs("\n", out);
}

static void md_end(FILE *out)
{
	(void)out;
}

const struct report_writer report_md = {
	.begin = md_begin,
	.section = md_section,
	.headline = md_headline,
	.paragraph = md_paragraph,
	.table = md_table,
	.end = md_end,
};
