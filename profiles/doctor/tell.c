/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the doctor's checks share: to read a small file, and to tell what was found. Knows no check.
 */
#include "doctor_private.h"
#include <stdarg.h>

void doctor_tell(struct doctor *d, const char *level, struct doctor_words w, const char *found, ...)
{
	char text[320];
	va_list ap;
	va_start(ap, found);
	vsnprintf(text, sizeof(text), found, ap);
	va_end(ap);
	json_array_append_new(d->findings,
			      json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s}", "check", d->check,
					"level", level, "device", d->device, "found", text, "cost",
					w.cost, "mend", w.mend));
}

static const char *text_at(const struct doctor *d, char *buf, size_t size, const char *format,
			   va_list ap)
{
	char path[PATH_MAX];
	int n = vsnprintf(path, sizeof(path), format, ap);
	if (n < 0 || (size_t)n >= sizeof(path) || sysfile_read(d->root, path, buf, size, NULL)) {
		buf[0] = 0;
	}
	return buf;
}

const char *doctor_text(const struct doctor *d, char *buf, size_t size, const char *path, ...)
{
	va_list ap;
	va_start(ap, path);
	text_at(d, buf, size, path, ap);
	va_end(ap);
	return buf;
}

int64_t doctor_number(const struct doctor *d, const char *path, ...)
{
	char text[64], *end;
	va_list ap;
	va_start(ap, path);
	text_at(d, text, sizeof(text), path, ap);
	va_end(ap);
	long long n = strtoll(text, &end, 10);
	return end > text ? n : -1;
}
