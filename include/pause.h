/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pause frames of an interface (IEEE 802.3 annex 31B; those of single priorities are not among
 * them). Wants no privilege. For profiles/agent/stream/read.c.
 */
#ifndef TUNESWEEP_PAUSE_H
#define TUNESWEEP_PAUSE_H

#include "netlink_private.h"
#include <math.h>
#include <net/if.h>
#include <stdbool.h>

struct pause_count { /* since the driver began to count; NaN: it does not count them */
	double rx, tx;
};

static inline bool pause_known(const struct pause_count *c)
{
	return isfinite(c->rx) || isfinite(c->tx);
}

enum pause_from { PAUSE_UNASKED, PAUSE_NOBODY, PAUSE_KERNEL, PAUSE_DRIVER };

struct pause_meter { /* all zero at first */
	char device[IF_NAMESIZE];
	enum pause_from from;
	struct netlink netlink;
};

/* ends: at an end of a window. Between them a driver's own statistics, all of which must be read
 * for one, are not asked. A source that has failed once is not asked again for this device. */
struct pause_count pause_read(struct pause_meter *p, const char *device, bool ends);
void pause_close(struct pause_meter *p);

/* pause_stats.c: from the driver's own statistics (ethtool -S). False where no name is known. */
bool pause_stats_read(const char *device, struct pause_count *out);

#endif
