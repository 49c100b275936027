/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store of imported files, and its observations, for tests of the tables over runs.
 */
#ifndef TUNESWEEP_TEST_OBSERVATION_FIXTURE_H
#define TUNESWEEP_TEST_OBSERVATION_FIXTURE_H

#include "import.h"
#include "observation.h"
#include "store_fixture.h"

static inline char *read_whole(const char *name, size_t *size)
{
	auto_fclose FILE *f = fopen(name, "rb");
	if (!f) {
		fail_msg("no %s", name);
	}
	char *text = calloc(1, 1 << 20);
	*size = fread(text, 1, (1 << 20) - 1, f);
	return text;
}

static inline json_t *parse_text(const char *file, const char *text)
{
	struct err e = {0};
	json_t *rows = NULL;
	if (import_parse(file, text, strlen(text), NULL, &rows, &e)) {
		fail_msg("%s", e.text);
	}
	return rows;
}

static inline void import_into(struct store *s, const char *name, const char *text)
{
	struct err e = {0};
	char id[64];
	auto_json json_t *rows = parse_text(name, text);
	if (import_store(s, name, text, rows, NULL, id, sizeof(id), &e)) {
		fail_msg("%s", e.text);
	}
}

/* The file tests/data/NAME.csv in a new store; its observations. */
static inline struct observations observe_file(const char *name)
{
	char file[128];
	size_t size;
	struct err e = {0};
	struct observations o;
	struct store *s = open_store(true);
	snprintf(file, sizeof(file), "tests/data/%s.csv", name);
	auto_free char *text = read_whole(file, &size);
	import_into(s, name, text);
	struct observe_options which = {.which = OBSERVE_BASELINE};
	assert_int_equal(observations_read(s, &which, &o, &e), 0);
	store_close(s);
	return o;
}

/* The same of a text. */
static inline struct observations observe_text(const char *text)
{
	struct err e = {0};
	struct observations o;
	struct store *s = open_store(true);
	import_into(s, "text", text);
	struct observe_options which = {.which = OBSERVE_BASELINE};
	assert_int_equal(observations_read(s, &which, &o, &e), 0);
	store_close(s);
	return o;
}

#endif
