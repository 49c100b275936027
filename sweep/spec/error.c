/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors at a place of a spec that has been read already. Apart from spec.c, so that those who
 * only need to point at a line do not need the reader.
 */
#include "spec.h"

#include <stdarg.h>
#include <stdio.h>

int spec_error(const struct spec *s, struct spec_place at, struct err *e, const char *fmt, ...)
{
	char sentence[600];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return err_usage(e, "%s:%u:%u: %s", s->path, at.line, at.column, sentence);
}
