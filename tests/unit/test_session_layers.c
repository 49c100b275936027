/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layers and the way back: who may open which layer while the other is held, what stays on record
 * of a conflict until it is put back by force, in which order values go back, and whose journal is
 * not believed.
 */
#include "session_fake.h"

static char order[256];

static void note_order(const char *name)
{
	size_t used = strlen(order);
	snprintf(order + used, sizeof(order) - used, "%s ", name);
}

static void test_back_in_reverse_order(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct assignment a[] = {assign(SOMX, "", value_int(99)),
				 assign(CONG, "", value_text("bbr")),
				 assign(WMEM, "max", value_int(8 << 20))};
	for (size_t i = 0; i < ARRAY_SIZE(a); i++) {
		must_set(s, &a[i], 1);
	}
	order[0] = 0;
	on_write = note_order;
	must_roll_back(s);
	on_write = NULL;
	assert_string_equal(order, WMEM " " CONG " " SOMX " ");
	assert_true(at_baseline());
}

/* Under a sweep nothing is applied, and nothing is swept in the middle of an apply. */
static void test_one_layer_waits_for_the_other(void **state)
{
	(void)state;
	struct session *other = NULL;
	struct err e = {0};
	struct session *sweep = must_open("sweep");
	assert_int_equal(session_open(&here, "applied", "x", &other, NULL, &e), -EBUSY);
	assert_null(other);
	assert_non_null(strstr(e.text, "sweep settings"));
	session_close(sweep);
	struct session *applied = must_open("applied");
	assert_int_equal(session_open(&here, "sweep", "x", &other, NULL, &e), -EBUSY);
	assert_null(other);
	assert_non_null(strstr(e.text, "applied settings"));
	session_close(applied);
	session_close(must_open("sweep"));
	assert_true(nothing_left());
}

static struct session *applied_and_changed(void)
{
	struct session *s = must_open("applied");
	struct assignment a[] = {assign(SOMX, "", value_int(99)),
				 assign(CONG, "", value_text("bbr"))};
	struct err e = {0};
	must_set(s, a, 2);
	assert_int_equal(session_commit(s, &e), 0);
	put(CONG, "reno"); /* by somebody else */
	return s;
}

/* The only copy of the old value stays, in the next process, too, until it is used. */
static void test_conflict_stays_on_record(void **state)
{
	(void)state;
	struct session_report report;
	struct err e = {0};
	struct session *s = applied_and_changed();
	assert_int_equal(session_rollback(s, false, &report, &e), -EIO);
	assert_int_equal(e.class, ERR_RESTORE);
	assert_non_null(strstr(e.text, CONG));
	assert_null(strstr(e.text, SOMX));
	assert_int_equal(report.n_conflict, 1);
	session_report_clear(&report);
	assert_string_equal(got(CONG), "reno");
	assert_true(same_text(got(SOMX), "4096"));
	session_close(s);
	s = must_open("applied");
	assert_true(session_committed(s));
	put(SOMX, "77"); /* is not this session's any more */
	assert_int_equal(session_rollback(s, true, &report, &e), 0);
	assert_int_equal(report.n, 1);
	session_report_clear(&report);
	assert_string_equal(got(CONG), "cubic");
	assert_string_equal(got(SOMX), "77");
	session_close(s);
	assert_true(nothing_left());
}

/* A namespace that has got the number of one that is gone. */
static void test_journal_of_another_namespace(void **state)
{
	(void)state;
	struct session_report report;
	struct journal_header other;
	struct journal *j;
	struct err e = {0};
	struct session *s = must_open("sweep");
	char dir[sizeof(s->dir)];
	other = s->header;
	other.netns_cookie++;
	snprintf(dir, sizeof(dir), "%s", s->dir);
	session_close(s);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(journal_create(dir, &other, &j, &e), 0);
	static const char *const ops[][2] = {{"old", "reno"}, {"set", "cubic"}, {"took", "cubic"}};
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		auto_json json_t *record = json_pack("{s:s, s:s, s:s, s:s}", "op", ops[i][0], "set",
						     CONG, "device", "", "text", ops[i][1]);
		assert_int_equal(journal_append(j, record, true, &e), 0);
	}
	journal_close(j);
	assert_int_equal(session_open(&here, "sweep", "x", &s, &report, &e), 0);
	assert_int_equal(report.n, 0);
	assert_non_null(strstr(report.note, "another boot or namespace"));
	session_report_clear(&report);
	assert_string_equal(got(CONG), "cubic");
	session_close(s);
	assert_true(nothing_left());
}

/* What was only looked at is not ours: its baseline is what it is when it is first set. */
static void test_baseline_is_of_the_first_set(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct assignment a = assign(SOMX, "", value_int(99));
	struct err e = {0};
	assert_int_equal(session_track(s, &a.setting, 1, &e), 0);
	put(SOMX, "50"); /* by somebody else */
	must_set(s, &a, 1);
	must_roll_back(s);
	assert_string_equal(got(SOMX), "50");
}

/* What somebody changes, or takes away, under the session. */
static void test_drift(void **state)
{
	(void)state;
	struct session *s = must_open("sweep");
	struct assignment a[] = {assign(SOMX, "", value_int(99)),
				 assign(CONG, "", value_text("bbr")),
				 assign(RMEM, "max", value_int(8 << 20))};
	struct err e = {0};
	json_t *drifted;
	must_set(s, a, 3);
	put(RMEM, "4096 131072\t8388608"); /* the same */
	assert_int_equal(session_drifted(s, &drifted, &e), 0);
	assert_int_equal(json_array_size(drifted), 0);
	json_decref(drifted);
	put(SOMX, "100");
	behave(CONG, GONE_NOW);
	assert_int_equal(session_drifted(s, &drifted, &e), 0);
	assert_int_equal(json_array_size(drifted), 2);
	json_t *first = json_array_get(drifted, 0);
	assert_string_equal(json_string_value(json_object_get(first, "set")), SOMX);
	assert_string_equal(json_string_value(json_object_get(first, "meant")), "99");
	assert_string_equal(json_string_value(json_object_get(first, "found")), "100");
	json_decref(drifted);
	behave(CONG, OBEYS);
	put(SOMX, "99");
	must_roll_back(s);
	assert_true(at_baseline());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_back_in_reverse_order),	 TEST(test_one_layer_waits_for_the_other),
		TEST(test_conflict_stays_on_record),	 TEST(test_journal_of_another_namespace),
		TEST(test_baseline_is_of_the_first_set), TEST(test_drift),
	};
	return cmocka_run_group_tests_name("session_layers", tests, NULL, NULL);
}
