/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store in a temporary folder with a run, trials and samples, for the two tests of the store.
 */
#ifndef TUNESWEEP_TEST_STORE_FIXTURE_H
#define TUNESWEEP_TEST_STORE_FIXTURE_H

#include "cleanup.h"
#include "json_util.h"
#include "store.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char folder[64], path[128];

static inline int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tunesweep-test-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	snprintf(path, sizeof(path), "%s/state/deeper/results.db", folder);
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static inline struct store *open_store(bool write)
{
	struct err e = {0};
	struct store *s = NULL;
	int r = store_open(path, write, &s, &e);
	if (r) {
		fail_msg("store_open: %d %s", r, e.text);
	}
	return s;
}

static inline int64_t begin(struct store *s, struct store_run *r)
{
	struct err e = {0};
	int64_t trial = 0;
	auto_json json_t *values = json_pack("{s:i, s:s}", "net.ipv4.tcp_rmem.max@receiver",
					     6291456, "net.ipv4.tcp_congestion_control@sender",
					     "bbr");
	assert_int_equal(store_begin_run(s, r, &e), 0);
	assert_int_equal(store_add_trial(s, r->id, "search", values, NULL, &trial, &e), 0);
	return trial;
}

static inline void add(struct store *s, int64_t trial, double throughput)
{
	struct err e = {0};
	struct sample m;
	sample_init(&m);
	m.ok = true;
	m.m[METRIC_THROUGHPUT] = throughput;
	m.m[METRIC_SERVICE_DEMAND] = 0.1 + 0.2; /* not 0.3 */
	m.m[METRIC_CWND] = 1e6 / 3;
	strcpy(m.limited_by, "send buffer");
	m.detail = json_pack("{s:[i,i]}", "intervals", 1, 2);
	assert_int_equal(store_add_sample(s, trial, &m, throughput / 3, &e), 0);
	sample_clear(&m);
}

static inline json_t *get(struct store *s, const char *id)
{
	struct err e = {0};
	json_t *run = NULL;
	if (store_get_run(s, id, &run, &e)) {
		fail_msg("store_get_run: %s", e.text);
	}
	return run;
}

static inline const json_t *first_sample(const json_t *run)
{
	const json_t *trial = json_array_get(json_object_get(run, "trials"), 0);
	return json_array_get(json_object_get(trial, "samples"), 0);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

#endif
