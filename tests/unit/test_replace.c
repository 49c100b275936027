/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a file goes that is renamed into its place: what is no file stays, links lead on.
 */
#include "cleanup.h"
#include "profile.h"
#include "replace.h"
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tunesweep-test-XXXXXX");
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command);
}

static void touch(const char *name)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fclose(f);
}

static const char *place_of(const char *path)
{
	static char place[PATH_MAX];
	struct err e = {0};
	if (replace_place(path, place, &e)) {
		fail_msg("%s", e.text);
	}
	return place;
}

static void files_are_their_own_place(void **state)
{
	(void)state;
	touch("file");
	assert_string_equal(place_of("file"), "file");
	assert_string_equal(place_of("new"), "new");
	assert_string_equal(place_of("none/new"), "none/new");
}

static void links_lead_to_theirs(void **state)
{
	char expected[128];
	(void)state;
	touch("file");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(symlink("link", "second"), 0);
	snprintf(expected, sizeof(expected), "%s/file", folder);
	assert_string_equal(place_of("second"), expected);
}

static void assert_refused(const char *path)
{
	char place[PATH_MAX];
	struct err e = {0};
	struct profile p;
	assert_true(replace_place(path, place, &e) < 0);
	assert_non_null(strstr(e.text, path));
	profile_init(&p);
	strcpy(p.name, "mine");
	assert_true(profile_save(&p, path, &e) < 0);
	profile_clear(&p);
}

static void what_is_no_file_stays(void **state)
{
	struct stat st;
	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(symlink("pipe", "link"), 0);
	assert_int_equal(symlink("nowhere", "broken"), 0);
	assert_refused("pipe");
	assert_refused("folder");
	assert_refused("link");
	assert_refused("broken");
	assert_true(stat("pipe", &st) == 0 && S_ISFIFO(st.st_mode));
	assert_true(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
	assert_true(lstat("broken", &st) == 0 && S_ISLNK(st.st_mode));
}

static void a_profile_is_saved_behind_its_link(void **state)
{
	struct stat st;
	struct err e = {0};
	struct profile p;
	(void)state;
	touch("file");
	assert_int_equal(symlink("file", "link"), 0);
	profile_init(&p);
	strcpy(p.name, "mine");
	assert_int_equal(profile_save(&p, "link", &e), 0);
	profile_clear(&p);
	assert_true(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
	assert_true(stat("file", &st) == 0 && st.st_size > 0);
	assert_int_equal(profile_load("file", &p, &e), 0);
	assert_string_equal(p.name, "mine");
	profile_clear(&p);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	char path[PATH_MAX + 10], place[PATH_MAX];
	struct err e = {0};
	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(replace_place(path, place, &e), -ENAMETOOLONG);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(files_are_their_own_place),
		IN_FOLDER(links_lead_to_theirs),
		IN_FOLDER(what_is_no_file_stays),
		IN_FOLDER(a_profile_is_saved_behind_its_link),
		IN_FOLDER(a_path_that_is_too_long_is_refused),
	};
	return cmocka_run_group_tests_name("replace", tests, NULL, NULL);
}
