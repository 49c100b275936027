/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorded machine as a folder of its own that a test may write in: made from one text file, a
 * line for each file ("PATH|CONTENT", "PATH|ro|CONTENT" without the right to write) or link
 * ("PATH -> TARGET"); a number range {A..B} in a line stands for one line each, with the number
 * wherever a # stands ("#+8", "#-8" with that added). tests/sysroot/README.md tells the files.
 */
#ifndef TUNESWEEP_SYSROOT_FIXTURE_H
#define TUNESWEEP_SYSROOT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "sysfile.h"
#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static char sysroot_folder[64];

static void sysroot_make_parents(char *full)
{
	for (char *p = full + strlen(sysroot_folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(full, 0755);
	}
}

static void sysroot_put(const char *path, const char *text)
{
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s%s", sysroot_folder, path);
	sysroot_make_parents(full);
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static inline void sysroot_drop(const char *path)
{
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s%s", sysroot_folder, path);
	assert_int_equal(unlink(full), 0);
}

static inline const char *sysroot_got(const char *path)
{
	static char text[8192];
	struct sysroot root = {sysroot_folder};
	assert_int_equal(sysfile_read(&root, path, text, sizeof(text), NULL), 0);
	return text;
}

static void sysroot_line(char *line)
{
	char full[PATH_MAX], *arrow = strstr(line, " -> "), *bar = strchr(line, '|');
	if (arrow) {
		*arrow = 0;
		snprintf(full, sizeof(full), "%s%s", sysroot_folder, line);
		sysroot_make_parents(full);
		assert_int_equal(symlink(arrow + 4, full), 0);
		return;
	}
	assert_non_null(bar);
	*bar++ = 0;
	bool locked = !strncmp(bar, "ro|", 3);
	sysroot_put(line, bar + (locked ? 3 : 0));
	snprintf(full, sizeof(full), "%s%s", sysroot_folder, line);
	assert_int_equal(locked ? chmod(full, 0444) : 0, 0);
}

/* The line for each number of its range. */
static void sysroot_lines(const char *line)
{
	int from = 0, to = 0, used = 0;
	const char *range = strchr(line, '{');
	if (!range || sscanf(range, "{%d..%d}%n", &from, &to, &used) != 2) {
		char one[4096];
		snprintf(one, sizeof(one), "%s", line);
		sysroot_line(one);
		return;
	}
	for (int i = from; i <= to; i++) {
		char one[4096] = "";
		size_t n = 0;
		for (const char *p = line; *p && n + 12 < sizeof(one);) {
			if (p == range || *p == '#') {
				bool offset = *p == '#' && (p[1] == '+' || p[1] == '-') &&
					      p[2] >= '0' && p[2] <= '9';
				char *end = NULL;
				int shift = offset ? (int)strtol(p + 1, &end, 10) : 0;
				n += (size_t)sprintf(one + n, "%d", i + shift);
				p = offset ? end : p + (p == range ? used : 1);
			} else {
				one[n++] = *p++;
				one[n] = 0;
			}
		}
		sysroot_line(one);
	}
}

/* Makes tests/sysroot/NAME.tree; the tests run in the project's folder. */
static struct sysroot sysroot_make(const char *name)
{
	char path[128], line[4096];
	snprintf(sysroot_folder, sizeof(sysroot_folder), "/tmp/test-sysroot-XXXXXX");
	assert_non_null(mkdtemp(sysroot_folder));
	snprintf(path, sizeof(path), "tests/sysroot/%s.tree", name);
	auto_fclose FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (*line == '/') {
			sysroot_lines(line);
		}
	}
	return (struct sysroot){sysroot_folder};
}

static int sysroot_teardown(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", sysroot_folder);
	return *sysroot_folder ? system(command) : 0;
}

#endif
