/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that was measured, out again: CSV and JSON lines of samples for other programs, and one
 * figure a run in Prometheus' text format for the node exporter's textfile collector.
 */
#ifndef TUNESWEEP_EXPORT_RUNS_H
#define TUNESWEEP_EXPORT_RUNS_H

#include "err.h"
#include "store.h"
#include <stdio.h>

/*
 * format: "csv" (a row a sample, columns of all runs), "json" (an array) or "jsonl" (a line each)
 * (an object a sample: the run's id and name, trial, phase, values, labels, and the sample),
 * "prometheus" (of the newest run of each name). name: only runs of this name; NULL: all. Runs are
 * read one after the other.
 */
int export_runs(struct store *s, const char *format, const char *name, FILE *out, struct err *e);

#endif
