/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panel: the winner under other tests than the one it was tuned for (other numbers of streams,
 * small messages, the other direction, request and response), beside the baseline in a few pairs
 * each. It claims no gain; it says what got worse. Called by the loop after a proved gain.
 */
#ifndef TUNESWEEP_PANEL_H
#define TUNESWEEP_PANEL_H

#include "stats.h"
#include "trial.h"

enum panel_kind {
	PANEL_STREAMS_1,
	PANEL_STREAMS_4,
	PANEL_STREAMS_16,
	PANEL_SMALL_MESSAGES,
	PANEL_REVERSE,
	PANEL_REQUESTS,
	PANEL_KINDS
};

struct panel_item {
	int pairs;  /* 0: not measured */
	bool worse; /* of one of the three the whole interval is on the wrong side */
	/* winner over baseline in percent, Hodges-Lehmann with the 95 % interval of a fixed number
	 * of pairs; NaN where the test does not know it */
	struct interval throughput, service_demand, latency_p99;
};

struct panel {
	struct panel_item item[PANEL_KINDS];
};

const char *panel_name(enum panel_kind k); /* "4 streams" */

struct panel_options {
	double end; /* CLOCK_MONOTONIC seconds: a test is begun only if it will end before */
	uint64_t seed;
	/* An engine for another test of the same hosts; destroyed by the panel. */
	int (*engine)(void *ctx, const struct spec *variant, void **state, struct err *e);
	void *ctx;
};

/* 0, also where time or tests ran out; -EINTR, -EHOSTDOWN as trial_run. */
int panel_run(const struct trial_env *env, const struct configuration *winner,
	      const struct configuration *baseline, const struct panel_options *o,
	      struct panel *out, struct err *e);

#endif
