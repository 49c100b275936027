/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door to the report writers: format by its name, to a stream or to a file. Called by the run
 * and report commands.
 */
#include "report.h"
#include "cleanup.h"
#include "report_private.h"
#include "value.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>

static const char *const formats[] = {"text", "html", "json", "csv"};

static int check_format(const char *format, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(format, formats[i])) {
			return 0;
		}
	}
	const char *near = nearest_word(format, formats, ARRAY_SIZE(formats));
	return err_usage(e, "there is no report format \"%s\": text, html, json or csv%s%s%s",
			 format, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static void write_format(const json_t *run, const char *format, FILE *out)
{
	if (!strcmp(format, "json")) {
		json_dumpf(run, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
		fputc('\n', out);
	} else if (!strcmp(format, "csv")) {
		report_csv(run, out);
	} else {
		report_body(run, !strcmp(format, "html") ? &report_html : &report_text, out);
	}
}

int report_write(const json_t *run, const char *format, FILE *out, struct err *e)
{
	int r = check_format(format, e);
	if (r) {
		return r;
	}
	/* Decimal points, whatever the user's language. */
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", NULL), before = NULL;
	if (c) {
		before = uselocale(c);
	}
	errno = 0;
	write_format(run, format, out);
	bool failed = fflush(out) || ferror(out);
	int code = errno ? -errno : -EIO;
	if (c) {
		uselocale(before);
		freelocale(c);
	}
	return failed ? err_set(e, code, "cannot write the report: %s", strerror(-code)) : 0;
}

static int write_file(const json_t *run, const char *format, const char *path, struct err *e)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f) {
		int code = -errno;
		if (fd >= 0) {
			close(fd);
		}
		return err_set(e, code, "cannot write %s: %s", path, strerror(-code));
	}
	int r = report_write(run, format, f, e);
	if (!r && fsync(fd)) {
		r = err_set(e, -errno, "cannot write %s: %s", path, strerror(errno));
	}
	if (fclose(f) && !r) {
		r = err_set(e, -errno, "cannot write %s: %s", path, strerror(errno));
	}
	return r;
}

int report_save(const json_t *run, const char *format, const char *path, struct err *e)
{
	auto_free char *temporary = NULL;
	if (asprintf(&temporary, "%s.new.%d", path, getpid()) < 0) {
		temporary = NULL;
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	}
	unlink(temporary);
	int r = write_file(run, format, temporary, e);
	if (!r && rename(temporary, path)) {
		r = err_set(e, -errno, "cannot write %s: %s", path, strerror(errno));
	}
	if (r) {
		unlink(temporary);
	}
	return r;
}
