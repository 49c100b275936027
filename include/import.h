/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of other programs and published tables, as rows that the store takes: CSV with a header,
 * netperf's output (classic and omni's key=value), iperf3's JSON, flent's JSON. All or nothing: the
 * first thing that cannot be read is an error with file:line:column.
 */
#ifndef TUNESWEEP_IMPORT_H
#define TUNESWEEP_IMPORT_H

#include "err.h"
#include "store.h"
#include <jansson.h>

/*
 * format: "csv", "netperf", "iperf3", "flent", or NULL: told by the content. out, a new array:
 * [{"labels": {name: text or integer}, "values": {key: value}, "metrics": {name: number}}],
 * metrics by the names and in the units of sample.h. ERR_USAGE.
 *
 * CSV: lines that begin with # are remarks. Columns are metrics (by sample.h's name, or with a
 * unit: throughput_MBps (10^6), throughput_Mbps, throughput_KBps (1024, as netperf's),
 * receive_Mbps, local_cpu_pct, local_sd_us_per_KB, ...), settings (a name with a dot in it;
 * rmem_max, message_bytes, mtu, ... for those of published tables), and anything else, which is a
 * label.
 */
int import_parse(const char *file, const char *text, size_t size, const char *format, json_t **out,
		 struct err *e);

/* Writes rows as one run of status "imported"; labels (may be NULL) are added to each row's own.
 * id gets the run's. One transaction. */
int import_store(struct store *s, const char *name, const char *text, const json_t *rows,
		 const json_t *labels, char *id, size_t size, struct err *e);

#endif
