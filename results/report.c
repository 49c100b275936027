/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door to the report writers: format by its name, to a stream or to a file. Called by the run
 * and report commands.
 */
#include "report.h"
#include "cleanup.h"
#include "replace.h"
#include "report_private.h"
#include "value.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <string.h>

static const char *const formats[] = {"text", "html", "json", "csv", "md"};

static int check_format(const char *format, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(format, formats[i])) {
			return 0;
		}
	}
	const char *near = nearest_word(format, formats, ARRAY_SIZE(formats));
	return err_usage(e, "there is no report format \"%s\": text, html, json, csv or md%s%s%s",
			 format, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

struct wanted { /* a run in a format */
	const json_t *run;
	const char *format;
};

static void write_format(const void *what, FILE *out)
{
	const struct wanted *w = what;
	if (!strcmp(w->format, "json")) {
		json_dumpf(w->run, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
		fputc('\n', out);
	} else if (!strcmp(w->format, "csv")) {
		report_csv(w->run, out);
	} else {
		report_body(w->run, report_writer_find(w->format), out);
	}
}

const struct report_writer *report_writer_find(const char *format)
{
	return !strcmp(format, "text")	 ? &report_text
	       : !strcmp(format, "html") ? &report_html
	       : !strcmp(format, "md")	 ? &report_md
					 : NULL;
}

int report_framed(void (*body)(const void *what, FILE *out), const void *what, FILE *out,
		  struct err *e)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", NULL), before = NULL;
	if (c) {
		before = uselocale(c);
	}
	errno = 0;
	body(what, out);
	bool failed = fflush(out) || ferror(out);
	int code = errno ? -errno : -EIO;
	if (c) {
		uselocale(before);
		freelocale(c);
	}
	return failed ? err_set(e, code, "cannot write the report: %s", strerror(-code)) : 0;
}

int report_write(const json_t *run, const char *format, FILE *out, struct err *e)
{
	int r = check_format(format, e);
	struct wanted w = {run, format};
	return r ? r : report_framed(write_format, &w, out, e);
}

/* Into a new file beside the one that is wanted, which alone is named in an error. */
static int write_file(const json_t *run, const char *format, const char *beside, const char *path,
		      struct err *e)
{
	int fd = open(beside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
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
	char place[PATH_MAX];
	int bad = replace_place(path, place, e);
	if (bad) {
		return bad;
	}
	if (asprintf(&temporary, "%s.new.%d", place, getpid()) < 0) {
		temporary = NULL;
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	}
	unlink(temporary);
	int r = write_file(run, format, temporary, path, e);
	if (!r && rename(temporary, place)) {
		r = err_set(e, -errno, "cannot write %s: %s", path, strerror(errno));
	}
	if (r) {
		unlink(temporary);
	}
	return r;
}
