/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of help as wide as who reads them has room. Called by options.c and cmd_help.c.
 */
#include "cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Columns of what is printed for reading: of the terminal, else as COLUMNS has it, else 80. */
static size_t columns_of(FILE *out)
{
	struct winsize size = {0};
	const char *asked = getenv("COLUMNS");
	long n = asked ? strtol(asked, NULL, 10) : 80;
	if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col) {
		n = size.ws_col;
	}
	return n < 40 ? 40 : n > 100 ? 100 : (size_t)n;
}

void cli_print_wrapped(FILE *out, const char *text, size_t at, size_t indent)
{
	size_t width = columns_of(out), begin = at;
	if (width < indent + 30 && indent) { /* too narrow for two columns */
		at = begin = indent = 6;
		fprintf(out, "\n%*s", (int)indent, "");
	}
	while (*text) {
		size_t n = strcspn(text, " ");
		if (at > begin && at + 1 + n > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = begin = indent;
		}
		at += (size_t)fprintf(out, "%s%.*s", at > begin ? " " : "", (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}
