/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing the one sentence of a struct err. Used by every module; prints nothing.
 */
#include "err.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int vset(struct err *e, int code, enum err_class class, const char *fmt, va_list ap)
{
	if (code >= 0) {
		code = code ? -code : -EIO;
	}
	if (e) {
		e->code = code;
		e->class = class;
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
	}
	return code;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	code = vset(e, code, ERR_SYSTEM, fmt, ap);
	va_end(ap);
	return code;
}

int err_usage(struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vset(e, -EINVAL, ERR_USAGE, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	if (!e) {
		return -EIO;
	}
	char context[256], old[sizeof(e->text)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	memcpy(old, e->text, sizeof(old));
	snprintf(e->text, sizeof(e->text), "%s: %.500s", context, old);
	return e->code;
}
