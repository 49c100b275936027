/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorded run that reports are tested with, and a report of any run as text.
 */
#ifndef TUNESWEEP_REPORT_FIXTURE_H
#define TUNESWEEP_REPORT_FIXTURE_H

#include "cleanup.h"
#include "report.h"
#include "report_private.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static json_t *recorded(void)
{
	json_error_t error;
	json_t *run = json_load_file("tests/golden/report.json", 0, &error);
	if (!run) {
		fail_msg("tests/golden/report.json:%d: %s", error.line, error.text);
	}
	return run;
}

static char *as(const json_t *run, const char *format)
{
	char *text = NULL;
	size_t size;
	struct err e = {0};
	FILE *f = open_memstream(&text, &size);
	if (report_write(run, format, f, &e)) {
		fail_msg("%s: %s", format, e.text);
	}
	fclose(f);
	return text;
}

#endif
