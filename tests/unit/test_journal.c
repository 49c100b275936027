/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The journal: what is written is read back, a torn or changed record is never believed, wherever
 * it is cut, and a disk that refuses is an error before anything else happens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "journal.h"
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const struct journal_header header = {
	.layer = "sweep",
	.boot_id = "11111111-2222-4333-8444-555555555555",
	.netns_cookie = 4026,
	.netns_path = "/run/netns/x",
	.pid = 42,
	.pid_start = 123456789,
	.since = 1700000000,
	.profile = "tcp \"stream\"",
};

static int setup(void **state)
{
	static char folder[64];
	strcpy(folder, "/tmp/test-journal-XXXXXX");
	*state = mkdtemp(folder);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	return system(command);
}

static const char *file_of(const char *dir)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/sweep.journal", dir);
	return path;
}

static void append(struct journal *j, int i)
{
	auto_json json_t *r = json_pack("{s:s, s:i}", "op", "set", "i", i);
	struct err e = {0};
	if (journal_append(j, r, i % 2, &e)) {
		fail_msg("%s", e.text);
	}
}

static void create(const char *dir, int n)
{
	struct journal *j;
	struct err e = {0};
	if (journal_create(dir, &header, &j, &e)) {
		fail_msg("%s", e.text);
	}
	for (int i = 0; i < n; i++) {
		append(j, i);
	}
	journal_close(j);
}

/* Opens, and checks that the believed records are a beginning of those that were written. */
static size_t believed(const char *dir)
{
	struct journal *j;
	struct journal_header h;
	struct err e = {0};
	json_t *records = NULL;
	if (journal_open(dir, "sweep", &h, &records, &j, &e)) {
		fail_msg("%s", e.text);
	}
	size_t n = json_array_size(records);
	for (size_t i = 0; i < n; i++) {
		json_t *r = json_array_get(records, i);
		assert_int_equal(json_integer_value(json_object_get(r, "i")), i);
	}
	json_decref(records);
	journal_close(j);
	return n;
}

static void test_round_trip(void **state)
{
	struct journal *j;
	struct journal_header h;
	struct err e = {0};
	create(*state, 5);
	assert_int_equal(journal_create(*state, &header, &j, &e), -EEXIST);
	assert_null(j);
	assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, &e), 0);
	assert_string_equal(h.layer, header.layer);
	assert_string_equal(h.boot_id, header.boot_id);
	assert_string_equal(h.netns_path, header.netns_path);
	assert_string_equal(h.profile, header.profile);
	assert_true(h.netns_cookie == 4026 && h.pid == 42 && h.pid_start == 123456789 &&
		    h.since == 1700000000);
	append(j, 5); /* goes on where the last one ended */
	journal_close(j);
	assert_int_equal(believed(*state), 6);
	assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, &e), 0);
	assert_int_equal(journal_remove(j, &e), 0);
	journal_close(j);
	assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, &e), -ENOENT);
	create(*state, 0); /* may be made again */
	assert_int_equal(believed(*state), 0);
}

static char *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	char *text = malloc(65536);
	*size = fread(text, 1, 65536, f);
	fclose(f);
	return text;
}

static void spit(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

static size_t lines_in(const char *text, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < size; i++) {
		n += text[i] == '\n';
	}
	return n;
}

static void test_torn_at_every_byte(void **state)
{
	struct journal *j;
	struct journal_header h;
	size_t size, again;
	create(*state, 4);
	auto_free char *text = slurp(file_of(*state), &size);
	for (size_t cut = 0; cut <= size; cut++) {
		size_t lines = lines_in(text, cut);
		spit(file_of(*state), text, cut);
		if (!lines) {
			assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, NULL),
					 -EBADMSG);
			continue;
		}
		assert_int_equal(believed(*state), lines - 1);
		/* The torn end is cut off, so that the next record begins on its own line. */
		auto_free char *left = slurp(file_of(*state), &again);
		assert_int_equal(lines_in(left, again), lines);
		assert_int_equal(left[again - 1], '\n');
		assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, NULL), 0);
		append(j, (int)lines - 1);
		journal_close(j);
		assert_int_equal(believed(*state), lines);
	}
}

static void test_changed_at_every_byte(void **state)
{
	struct journal *j;
	struct journal_header h;
	size_t size;
	create(*state, 3);
	auto_free char *text = slurp(file_of(*state), &size);
	size_t head = (size_t)((char *)memchr(text, '\n', size) - text) + 1;
	for (size_t i = 0; i < size; i++) {
		char old = text[i];
		text[i] ^= 0x01;
		spit(file_of(*state), text, size);
		if (i < head) {
			assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, NULL),
					 -EBADMSG);
		} else {
			/* What comes before the change is believed, nothing from it on. */
			assert_int_equal(believed(*state), lines_in(text, i) - 1);
		}
		text[i] = old;
	}
}

static void test_garbage(void **state)
{
	struct journal *j;
	struct journal_header h;
	struct err e = {0};
	static const char *const bad[] = {"", "\n", "garbage\n", "{}\n", "0000000000000000 {}\n",
					  /* right sum of {}, but no header */
					  "08f44b07b5901a25 {}\n"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		spit(file_of(*state), bad[i], strlen(bad[i]));
		assert_int_equal(journal_open(*state, "sweep", &h, NULL, &j, &e), -EBADMSG);
		assert_null(j);
	}
	/* What cannot be believed is evidence, and stays. */
	assert_int_equal(access(file_of(*state), F_OK), 0);
}

static void test_no_place(void **state)
{
	struct journal *j;
	struct err e = {0};
	char path[200];
	snprintf(path, sizeof(path), "%s/none", (char *)*state);
	assert_int_equal(journal_create(path, &header, &j, &e), -ENOENT);
	spit(path, "x", 1);
	assert_int_equal(journal_create(path, &header, &j, &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "cannot create"));
	if (!mkdir("/proc/self/tunesweep", 0755)) {
		fail();
	}
	assert_int_equal(journal_create("/proc/self", &header, &j, &e), -ENOENT);
}

/* A limit on the size of files stands for a full disk: the write is cut short, then refused. */
static void limit_files(rlim_t size)
{
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_full_disk(void **state)
{
	struct journal *j;
	struct err e = {0};
	struct stat st;
	create(*state, 3);
	assert_int_equal(stat(file_of(*state), &st), 0);
	limit_files((rlim_t)st.st_size + 10);
	int r = journal_open(*state, "sweep", &(struct journal_header){0}, NULL, &j, &e);
	auto_json json_t *record = json_pack("{s:s, s:i}", "op", "set", "i", 3);
	int refused = r ? 0 : journal_append(j, record, true, &e);
	limit_files(RLIM_INFINITY);
	assert_int_equal(r, 0);
	assert_int_equal(refused, -EFBIG);
	assert_non_null(strstr(e.text, "cannot write"));
	/* The half line is gone, and once there is room, it goes on. */
	append(j, 3);
	journal_close(j);
	assert_int_equal(believed(*state), 4);
}

static void test_full_disk_at_creation(void **state)
{
	struct journal *j;
	struct err e = {0};
	limit_files(20);
	int r = journal_create(*state, &header, &j, &e);
	limit_files(RLIM_INFINITY);
	assert_int_equal(r, -EFBIG);
	assert_null(j);
	assert_int_equal(access(file_of(*state), F_OK), -1); /* no half journal is left */
	create(*state, 1);
	assert_int_equal(believed(*state), 1);
}

static void test_too_large_record(void **state)
{
	struct journal *j;
	struct err e = {0};
	auto_free char *many = malloc(10000);
	memset(many, 'x', 9999);
	many[9999] = 0;
	auto_json json_t *record = json_pack("{s:s}", "text", many);
	assert_int_equal(journal_create(*state, &header, &j, &e), 0);
	assert_int_equal(journal_append(j, record, true, &e), -EMSGSIZE);
	append(j, 0);
	journal_close(j);
	assert_int_equal(believed(*state), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_torn_at_every_byte),
		TEST(test_changed_at_every_byte),
		TEST(test_garbage),
		TEST(test_no_place),
		TEST(test_full_disk),
		TEST(test_full_disk_at_creation),
		TEST(test_too_large_record),
	};
	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
