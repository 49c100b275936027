/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UDP results by message size and MTU: which size is best at each MTU, chosen fairly.
 */
#ifndef TUNESWEEP_UDP_TABLE_H
#define TUNESWEEP_UDP_TABLE_H

#include "observation.h"

/*
 * Of all observations whose labels have a message size ("socket.message_size") and an MTU
 * ("link.mtu", also with a host behind), by kernel and the rest of their labels:
 * [{"labels", "mtu", "sizes": [{"message_size", "samples", "throughput"}], "best_size",
 *   "throughput", "as_good": [sizes], "fair": bool}], [] if there is none.
 * The largest of several medians is the maximum of noise, too. So the size is chosen by one half of
 * each cell's samples and its level read from the other half, both ways round, and the two
 * averaged; as_good lists the sizes whose level cannot be told from the best's (t interval of the
 * difference of logarithms, Bonferroni over the sizes). With one sample in a cell, neither can be
 * done: fair is false where there was a choice.
 */
json_t *udp_table_json(const struct observations *o);

#endif
