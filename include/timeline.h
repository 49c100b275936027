/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table over kernels (or drivers, firmware, labels, dates): the level of each group in order of
 * release, and where it changes by more than chance; groups with and without a patch side by side.
 * Pure: from observations to an object, and from the object to text, CSV or HTML.
 */
#ifndef TUNESWEEP_TIMELINE_H
#define TUNESWEEP_TIMELINE_H

#include "err.h"
#include "observation.h"
#include <stdio.h>

/*
 * by: "kernel", "driver", "firmware", "date", "label" (the label of that name, or "variant"), or
 * any other label's name. ERR_USAGE where nothing has it (the sentence says what there is).
 * {"by", "tables": [{"labels": what all rows have in common, "columns": [names of the labels that
 *  differ], "rows": [{"group", "labels", "samples", "boots", "throughput" (median, bit/s),
 *    "interval": [lo, hi] or null, "service_demand", "change_percent" (against the group before it
 *    in its series, or for a variant "against_plain_percent" against the same group without it),
 *    "changed": bool, "p"}],
 *  "boot_spread": {"percent", "largest_percent", "groups"} or null,
 *  "variants": [{"group", "labels", "variant", "plain": bit/s, "with": bit/s, "difference_percent",
 *    "before": level before the first drop or null, "regained_percent", "left_percent"}],
 *  "udp": [as udp_table_json], "notes": [sentences]}]}
 * Unknown is null. A series is what has all other labels in common; its spread is its own.
 */
int timeline_make(const struct observations *o, const char *by, json_t **out, struct err *e);

/* format: text, html, csv, json. variants: the side-by-side table instead of the timeline. */
int timeline_write(const json_t *timeline, const char *format, bool variants, FILE *out,
		   struct err *e);

#endif
