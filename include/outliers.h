/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples that lie far from the others of the same configuration. They are kept and counted like
 * all others (medians bear them); this names them, with what else was not as in the others. Pure.
 */
#ifndef TUNESWEEP_OUTLIERS_H
#define TUNESWEEP_OUTLIERS_H

#include "sample.h"
#include <jansson.h>

#define OUTLIERS_FROM 8 /* good samples; of fewer none is called far */

/*
 * [{"sample": number from 1 on, "metric": "throughput" or "service_demand", "percent": how far from
 * the median, "why": [sentence, ...]}, ...]: good samples further than four robust standard
 * deviations (MAD) and a twentieth from the median of either. "why" has what that sample's detail
 * has much more of than the median sample: CPU of others, stolen time, retransmits, drops,
 * pause frames, a longer window; empty where nothing that was measured tells. A new reference.
 */
json_t *outliers_find(const struct sample *s, size_t n);

#endif
