/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as one HTML file: no script, nothing fetched (its own policy forbids it), readable on a
 * phone, light or dark as the reader has it. Everything that is not ours is escaped.
 */
#include "report_private.h"

static const char style[] =
	"body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem;"
	"color:#1a1a1a;background:#fff}"
	"h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}"
	".sub{color:#595959;margin:.25rem 0 1rem}"
	".verdict{font-size:1.1rem;border-left:.3rem solid #8a6100;padding:.5rem .8rem;"
	"background:#f5f5f5}.verdict.good{border-color:#1a7f37}"
	".scroll{overflow-x:auto}"
	"table{border-collapse:collapse;font-size:.9rem}"
	"th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ddd;"
	"vertical-align:top;white-space:nowrap}td:last-child{white-space:normal}"
	".n{text-align:right;font-variant-numeric:tabular-nums}"
	"@media (prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181c}"
	".sub{color:#a6a6a6}.verdict{background:#22252b}th,td{border-color:#3a3d44}}";

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
	      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n",
	      out);
	put_in(out, "<title>", title, "</title>\n");
	fprintf(out, "<style>%s</style>\n</head>\n<body>\n<main>\n", style);
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
	.end = html_end,
};
