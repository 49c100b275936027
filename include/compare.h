/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two runs (or groups of runs) side by side: how much better the second is, with an interval, in
 * words; and whether what was measured is enough to say so. Pure.
 */
#ifndef TUNESWEEP_COMPARE_H
#define TUNESWEEP_COMPARE_H

#include "err.h"
#include "observation.h"
#include <stdio.h>

/* What two runs are compared by, as the store and the command line name it. */
enum compare_metric { COMPARE_THROUGHPUT, COMPARE_SERVICE_DEMAND, COMPARE_SCORE, COMPARE_METRICS };
extern const char *const compare_metric_names[COMPARE_METRICS];

/* An observation's value (bits/s, us/KB, score); NaN unless it is above zero, since only then it
 * has a ratio to another's. */
double compare_value(const struct observation *o, enum compare_metric m);

/*
 * Both read with OBSERVE_ALL and values. Configurations that both have measured are pairs: from 6
 * on, the interval is that of the median log ratio within pairs. With fewer, the samples of the
 * configuration that both have measured most are compared unpaired (their baselines, where they
 * have none in common). Where both sides have several boots and no boot in common, boots are what
 * is compared (Welch's t on their mean logarithms).
 *
 * {"a", "b", "how": "paired" | "unpaired" | "boots", "pairs": n, "samples": [na, nb],
 *  "boots": [na, nb], "same_boot": bool or null where not known,
 *  "metrics": {"throughput" | "service_demand" | "score": {"percent": of b against a, "interval":
 *    [lo, hi] or null, "level", "a", "b" (medians), "significant": bool}},
 *  "differences": ["kernel: 6.1.0 in A, 6.2.0 in B", ...], "enough": bool, "words": [sentences]}
 * ERR_USAGE where they have nothing in common that could be compared.
 */
int compare_make(const struct observations *a, const struct observations *b, const char *name_a,
		 const char *name_b, json_t **out, struct err *e);

/* format: text, md, html, json. */
int compare_write(const json_t *comparison, const char *format, FILE *out, struct err *e);

#endif
