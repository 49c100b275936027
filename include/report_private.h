/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The family of report writers: one traversal (report/body.c) tells a writer what is said, in
 * order; the writer knows how its format says it, and escapes whatever it is given, since names,
 * values and reasons come from users and other programs. Seen by results/ only: by the report, and
 * by the tables that are written the same way (timeline, compare, export-runs).
 */
#ifndef TUNESWEEP_REPORT_PRIVATE_H
#define TUNESWEEP_REPORT_PRIVATE_H

#include "err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPORT_COLUMNS_MAX = 24 };

struct report_table {
	const char *heads[REPORT_COLUMNS_MAX]; /* borrowed */
	bool numeric[REPORT_COLUMNS_MAX];      /* right-aligned */
	size_t columns, n_cells;
	char **cells; /* row by row; owned */
	bool failed;  /* out of memory: some cells are missing */
};

/* heads: NULL-terminated; one that begins with '#' is a column of numbers. */
void report_table_init(struct report_table *t, const char *const *heads);
void report_table_add(struct report_table *t, const char *cell);
void report_table_clear(struct report_table *t);

struct report_writer {
	void (*begin)(FILE *out, const char *title, const char *subtitle);
	void (*section)(FILE *out, const char *heading);
	void (*headline)(FILE *out, const char *text, bool good); /* the one sentence that counts */
	void (*paragraph)(FILE *out, const char *text);
	void (*table)(FILE *out, const struct report_table *t);
	/* Pictures and sortable tables of data; NULL for formats that have none. Once, before end.
	 */
	void (*pictures)(FILE *out, const json_t *data);
	bool pictures_hold_samples; /* then no table of samples is wanted beside them */
	void (*end)(FILE *out);
};

extern const struct report_writer report_text, report_html, report_md;

/* A section of one table, which is freed; nothing is written where the table is empty. paragraph:
 * what is said before it, or NULL. */
void report_section(const struct report_writer *w, FILE *out, const char *heading,
		    const char *paragraph, struct report_table *t);

/* The writer of "text", "html" or "md"; NULL for others. */
const struct report_writer *report_writer_find(const char *format);
/* In report_write's frame (decimal points, errors of writing): runs body, then looks at out. */
int report_framed(void (*body)(const void *what, FILE *out), const void *what, FILE *out,
		  struct err *e);

/* What the pictures of a run are drawn from, a new object: {"kind": "run", "tunables": [keys],
 * "rows": [[sample, trial, phase 0..3, ok 0 or 1, score, throughput, service demand, values...]],
 * "best": [values], "details": [{"title", "detail"}], "outliers": report_outliers(),
 * "failures": {reason: [samples]}}. */
json_t *report_data(const json_t *run);

/* report/choice.c: the samples whose details are wanted, by their numbers in the run: shown over
 * time, or held against an outlier. Returns how many, up to max, those that are shown first. */
#define REPORT_DETAILS 64
size_t report_detail_samples(const json_t *run, int64_t *sample, size_t max);

/* A sample's detail, borrowed; NULL where the run was read without it. */
const json_t *report_detail(const json_t *run, const json_t *sample);

/* report/choice.c: the details of samples that are shown, best, baseline and outliers first. */
#define REPORT_SHOWN 24
json_t *report_details(const json_t *run);
const json_t *report_best_values(const json_t *run);

/* report/outliers.c: outliers_find of each trial, a new reference: [{"sample": number in the run,
 * "trial", "phase", "metric", "percent", "why"}]; nothing is said where there are none. */
json_t *report_outliers(const json_t *run);
void report_say_outliers(const json_t *run, const struct report_writer *w, FILE *out);

/* The report of a run through a writer. */
void report_body(const json_t *run, const struct report_writer *w, FILE *out);

/* report/parts.c: proved parts of the gain, and the search's beliefs; nothing where there are none.
 */
void report_say_parts(const json_t *result, const struct report_writer *w, FILE *out);
void report_say_panel(const json_t *result, const struct report_writer *w, FILE *out);
void report_say_model(const json_t *result, const struct report_writer *w, FILE *out);

/* A row a sample, RFC 4180, numbers to their last digit. */
void report_csv(const json_t *run, FILE *out);

/* report/interrupts.c: those that came to CPUs they were not meant for; nothing where none did. */
void report_say_interrupts(const json_t *run, const struct report_writer *w, FILE *out);
/* Adds what one sample's detail says under "interrupts" to the sums, which go to the run's key of
 * that name. */
void report_add_interrupts(json_t *sums, const json_t *interrupts);

/* One field of a CSV line, quoted where needed. */
void report_csv_field(FILE *out, const char *text, bool first);

/* A setting's value or any other scalar as text, numbers in full; "" for null. Returns buf. */
const char *report_value(const json_t *value, char *buf, size_t size);

#endif
