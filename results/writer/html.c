/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as one HTML file that works offline: nothing is fetched (its own policy forbids it),
 * pictures are drawn by Chart.js, which is in it. Readable on a phone, light or dark as the reader
 * has it. Everything that is not ours is escaped.
 */
#include "report_private.h"
#include <stdlib.h>

/* Linked in from results/writer/page and from Chart.js (see the Makefile). */
#define ASSET(name) extern const char _binary_##name##_start[], _binary_##name##_end[]
ASSET(page_css);
ASSET(chart_js);
ASSET(page_js);

static void put_asset(FILE *out, const char *from, const char *to)
{
	fwrite(from, 1, (size_t)(to - from), out);
}

static void put(FILE *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		switch (c) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default: /* HTML has no control characters but these blanks */
			fputc(c == '\n' || c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : c, out);
		}
	}
}

static void put_in(FILE *out, const char *open, const char *text, const char *close)
{
	fputs(open, out);
	put(out, text);
	fputs(close, out);
}

static void html_begin(FILE *out, const char *title, const char *subtitle)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n",
	      out);
	put_in(out, "<title>", title, "</title>\n");
	fputs("<link rel=\"icon\" href=\"data:,\">\n<style>\n", out);
	put_asset(out, _binary_page_css_start, _binary_page_css_end);
	fputs("</style>\n</head>\n<body>\n<main>\n", out);
	put_in(out, "<h1>", title, "</h1>\n");
	put_in(out, "<p class=\"sub\">", subtitle, "</p>\n");
}

static void html_section(FILE *out, const char *heading)
{
	put_in(out, "<h2>", heading, "</h2>\n");
}

static void html_headline(FILE *out, const char *text, bool good)
{
	put_in(out, good ? "<p class=\"verdict good\">" : "<p class=\"verdict\">", text, "</p>\n");
}

static void html_paragraph(FILE *out, const char *text)
{
	put_in(out, "<p>", text, "</p>\n");
}

static void html_table(FILE *out, const struct report_table *t)
{
	fputs("<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n<tr>", out);
	for (size_t c = 0; c < t->columns; c++) {
		put_in(out, t->numeric[c] ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">",
		       t->heads[c], "</th>");
	}
	fputs("</tr>\n</thead>\n<tbody>\n", out);
	for (size_t i = 0; i + t->columns <= t->n_cells; i += t->columns) {
		fputs("<tr>", out);
		for (size_t c = 0; c < t->columns; c++) {
			put_in(out, t->numeric[c] ? "<td class=\"n\">" : "<td>", t->cells[i + c],
			       "</td>");
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody>\n</table>\n</div>\n", out);
}

/* No "<" may stand in a script that was not written by us: JSON has it in texts only. */
static void put_json(FILE *out, const json_t *data)
{
	char *text = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII);
	for (const char *c = text; c && *c; c++) {
		if (*c == '<') {
			fputs("\\u003c", out);
		} else {
			fputc(*c, out);
		}
	}
	free(text);
}

static void html_pictures(FILE *out, const json_t *data)
{
	fputs("<noscript><p>The pictures and the table of samples need JavaScript; "
	      "tunesweep report --format csv has the same numbers.</p></noscript>\n"
	      "<section id=\"pictures\" aria-label=\"Pictures\"></section>\n"
	      "<script type=\"application/json\" id=\"data\">",
	      out);
	put_json(out, data);
	fputs("</script>\n<script>\n", out);
	put_asset(out, _binary_chart_js_start, _binary_chart_js_end);
	fputs("</script>\n<script>\n", out);
	put_asset(out, _binary_page_js_start, _binary_page_js_end);
	fputs("</script>\n", out);
}

static void html_end(FILE *out)
{
	fputs("</main>\n</body>\n</html>\n", out);
}

const struct report_writer report_html = {
	.begin = html_begin,
	.section = html_section,
	.headline = html_headline,
	.paragraph = html_paragraph,
	.table = html_table,
	.pictures = html_pictures,
	.pictures_hold_samples = true,
	.end = html_end,
};
