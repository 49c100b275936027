/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors at a place of the spec where the host is to blame. Apart from space.c, which the files
 * that refuse are called by.
 */
#include "space_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int space_refuse(const struct spec *spec, struct spec_place at, struct err *e, const char *fmt, ...)
{
	char sentence[600];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return err_set(e, -EOPNOTSUPP, "%s:%u:%u: %s", spec->path, at.line, at.column, sentence);
}
