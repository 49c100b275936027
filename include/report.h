/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was seen, for people and programs: one run as text, JSON or one HTML file that works
 * offline. It reads the object that store_get_run gives; it measures and decides nothing.
 */
#ifndef TUNESWEEP_REPORT_H
#define TUNESWEEP_REPORT_H

#include "err.h"
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* format: "text", "html", "json", "csv", "md" (Markdown). */
int report_write(const json_t *run, const char *format, FILE *out, struct err *e);
/* To a file: temporary beside it, renamed. */
int report_save(const json_t *run, const char *format, const char *path, struct err *e);

struct store;

/* What a report in this format says of a run (its id, a beginning of it, or "latest"), and no more:
 * a new object as store_get_run's, all of it only for "json". HTML shows some samples over time,
 * and outliers are told with what was different about them: their details stand under the key
 * "details" as {number as text: detail}; "interrupts" has what all details say of those. */
int report_read(struct store *store, const char *id, const char *format, json_t **run,
		struct err *e);

/* Headline numbers with four significant digits: "2.13 Gbit/s", "0.5421 us/KB". Return buf. */
const char *report_rate(double bits_per_s, char *buf, size_t size);
const char *report_number(double x, char *buf, size_t size);

#endif
