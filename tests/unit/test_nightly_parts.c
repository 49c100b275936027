/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a night is made of: kinds of hardware, windows, alarms over a fleet, configurations that are
 * wrong, and old runs that leave the store.
 */
#include "files.h"
#include "nightly_world.h"
#include <errno.h>

static void kinds_of_hardware(void **state)
{
	(void)state;
	char a[64], b[64], c[64];
	auto_json json_t *one = json_pack("{s:{s:s, s:s, s:[{s:s, s:s, s:i}]}}", "rx", "kernel",
					  "1", "cpu", "X", "nics", "device", "eth0", "driver",
					  "ice", "speed", 10000);
	auto_json json_t *other = json_deep_copy(one);
	json_object_set_new(json_object_get(other, "rx"), "kernel", json_string("2"));
	nightly_kind(one, a, sizeof(a));
	nightly_kind(other, b, sizeof(b));
	json_object_set_new(json_object_get(other, "rx"), "cpu", json_string("Y"));
	nightly_kind(other, c, sizeof(c));
	assert_string_equal(a, b); /* a new kernel makes no new hardware */
	assert_string_not_equal(a, c);
	assert_int_equal(strncmp(a, "ice-", 4), 0);
}

static void windows(void **state)
{
	(void)state;
	struct nightly_config c = {.from = 23 * 60, .to = 5 * 60 + 30};
	char name[16];
	double left;
	assert_true(nightly_is_night(&c, night_at(0, 23), name, &left));
	assert_string_equal(name, "2031-03-10");
	assert_true(left == 6.5 * 3600);
	assert_true(nightly_is_night(&c, night_at(1, 5), name, &left));
	assert_string_equal(name, "2031-03-10");
	assert_true(left == 1800);
	assert_false(nightly_is_night(&c, night_at(1, 6), name, &left));
	c = (struct nightly_config){.from = 60, .to = 300};
	assert_true(nightly_is_night(&c, night_at(0, 1), name, &left));
	assert_string_equal(name, "2031-03-10");
	assert_false(nightly_is_night(&c, night_at(0, 0), name, &left));
	c.from = c.to = 0;
	assert_true(nightly_is_night(&c, night_at(0, 12), name, &left));
	assert_true(isinf(left));
}

static void put(const char *name, const char *text)
{
	char full[300];
	struct err e = {0};
	snprintf(full, sizeof(full), "%s%s", folder, name);
	*strrchr(full, '/') = '\0';
	assert_int_equal(files_make_folders(full, &e), 0);
	snprintf(full, sizeof(full), "%s%s", folder, name);
	write_file(full, text);
}

/* Numbers from a recorded tree, and which of them is too much. */
static void use_by_others(void **state)
{
	(void)state;
	char why[256];
	struct host_use u;
	struct sysroot root = {folder};
	const struct nightly_limits none = {INFINITY, INFINITY, INFINITY, ""},
				    some = {2, 0, 1e6, ""};
	put("/proc/loadavg", "3.50 1.00 0.50 5/300 77\n");
	put("/sys/class/net/eth0/statistics/rx_bytes", "100\n");
	put("/sys/class/net/eth0/statistics/tx_bytes", "100\n");
	host_use_look(&root, true, &u);
	assert_true(u.load == 3.5);
	assert_true(fabs(u.runnable - 4) < 1e-9); /* beside the asking one */
	assert_true(u.traffic == 0);
	assert_false(u.inhibited);
	put(HOST_USE_INHIBIT, "");
	host_use_look(&root, false, &u);
	assert_true(u.inhibited);
	assert_true(u.runnable == 0);
	u = (struct host_use){.load = 3.5, .runnable = 1, .logins = 0, .traffic = 5e5};
	nightly_judge_use(&none, &u, true, why, sizeof(why));
	assert_string_equal(why, "");
	nightly_judge_use(&some, &u, true, why, sizeof(why));
	assert_string_equal(why, "a load of 3.50");
	nightly_judge_use(&some, &u, false, why, sizeof(why)); /* the minute's is the night's own */
	assert_string_equal(why, "");
	u.traffic = 2e6;
	nightly_judge_use(&some, &u, false, why, sizeof(why));
	assert_string_equal(why, "traffic of 2 Mbit/s");
	u.logins = 3;
	nightly_judge_use(&some, &u, false, why, sizeof(why));
	assert_string_equal(why, "3 logged in");
	struct nightly_limits inhibited = none;
	snprintf(inhibited.inhibit, sizeof(inhibited.inhibit), "%s%s", folder, HOST_USE_INHIBIT);
	nightly_in_use(&inhibited, &root, true, why, sizeof(why));
	assert_non_null(strstr(why, "forbids it"));
}

static void one_fleet_many_alarms(void **state)
{
	(void)state;
	json_t *all[40];
	struct err e = {0};
	for (int i = 0; i < 40; i++) {
		char host[16];
		snprintf(host, sizeof(host), "h%d", i);
		/* 40 machines of which one has lost; another looks so by chance (p = 3 %) */
		all[i] = json_pack("{s:i, s:s, s:s, s:[{s:s, s:s, s:s, s:f, s:f, s:f, s:f}]}",
				   "tunesweep_nightly", 1, "host", host, "night", "2031-03-10",
				   "comparisons", "host", host, "verdict", "regression", "again",
				   "regression", "threshold", 0.05, "percent", -14.0, "p_worse",
				   i == 0   ? 1e-6
				   : i == 1 ? 0.03
					    : 0.3 + i * 0.01,
				   "p_better", 0.9);
	}
	auto_json json_t *fleet = NULL;
	assert_int_equal(nightly_fleet(all, 40, 0.05, &fleet, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(fleet, "alarms")), 1);
	assert_int_equal(json_integer_value(json_object_get(fleet, "hosts")), 40);
	json_object_set_new(all[0], "night", json_string("2031-03-09"));
	json_object_set_new(all[1], "host", json_string("h0")); /* its newer night speaks for it */
	auto_json json_t *newest = NULL;
	assert_int_equal(nightly_fleet(all, 40, 0.05, &newest, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(newest, "hosts")), 39);
	assert_int_equal(json_integer_value(json_object_get(newest, "alarms")), 0);
	json_object_del(all[3], "tunesweep_nightly");
	auto_json json_t *none = NULL;
	assert_int_equal(nightly_fleet(all, 40, 0.05, &none, &e), -EINVAL);
	for (int i = 0; i < 40; i++) {
		json_decref(all[i]);
	}
}

static void bad_configurations(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"sweeps: [{spec: a.yaml}]\n", "begins with 'tunesweep_nightly: 1'"},
		{"tunesweep_nightly: 1\n", "'sweeps' is a list"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\nwindow: {from: 23:00, to: "
		 "5:00}\n",
		 ":3:16: window: from is a time of the day in quotes"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\nwindw: 1\n", "window"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml, when: {drivr: ice}}]\n", "driver"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\napply: always\n", ":3:8"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\ncompare: {samples: 2}\n",
		 "under 4"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\ncompare: {threshold: 5}\n",
		 ":3:"},
		{"tunesweep_nightly: 1\nsweeps: [{when: {cpu: a}}]\n", "wants its 'spec'"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\nkeep: {size: 1k}\n", ":3:"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct nightly_config c;
		struct err e = {0};
		write_file(config_path, bad[i].text);
		assert_int_equal(nightly_config_load(config_path, "s", &c, &e), -EINVAL);
		if (!strstr(e.text, bad[i].says) || !strstr(e.text, "nightly.yaml:")) {
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, e.text, bad[i].says);
		}
	}
}

static void old_runs_leave_the_store(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	char ids[4][32];
	int removed = 0;
	for (int i = 0; i < 4; i++) {
		struct store_run r = {.name = "n"};
		add(s, begin(s, &r), 1e9);
		snprintf(ids[i], sizeof(ids[i]), "%s", r.id);
		if (i < 3) { /* the last one is under way */
			assert_int_equal(store_end_run(s, r.id, "complete", NULL, &e), 0);
		}
	}
	auto_json json_t *kept = json_pack("{s:b}", ids[1], 1);
	assert_int_equal(store_prune(s, 0, 0, kept, &removed, &e), 0);
	assert_int_equal(removed, 0);
	assert_int_equal(store_prune(s, 4e9, 0, kept, &removed, &e), 0);
	assert_int_equal(removed, 2);
	auto_json json_t *runs = NULL;
	assert_int_equal(store_list_runs(s, &runs, &e), 0);
	assert_int_equal(json_array_size(runs), 2);
	json_decref(get(s, ids[1]));
	json_decref(get(s, ids[3]));
	assert_int_equal(store_prune(s, 0, 1, NULL, &removed, &e), 0); /* by size */
	assert_int_equal(removed, 1);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_hardware),
		cmocka_unit_test(windows),
		IN_FOLDER(use_by_others),
		cmocka_unit_test(one_fleet_many_alarms),
		NIGHT(bad_configurations),
		IN_FOLDER(old_runs_leave_the_store),
	};
	return cmocka_run_group_tests_name("nightly parts", tests, NULL, NULL);
}
