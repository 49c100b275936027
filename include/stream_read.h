/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer to "read" (stream.h): what one side of a test has moved and what its host counts
 * besides, as JSON. serve.c keeps the meters and calls it.
 */
#ifndef TUNESWEEP_STREAM_READ_H
#define TUNESWEEP_STREAM_READ_H

#include "cpu_meter.h"
#include "host_meters.h"
#include "pause.h"
#include "stream_private.h"

struct read_meters {
	struct sysroot root;   /* where the host's counters are read; the CPU meter has its own */
	struct cpu_meter *cpu; /* NULL: this host does not say */
	struct spin spin;
	const struct host_meters *host; /* NULL: nothing was opened beforehand */
	struct energy energy;
	struct pause_meter pause;
	bool sharing;
	json_t *shared; /* what the host said at the last end of a window; owned */
};

/* While it is on, the ends of a window that are read one right after the other (of both sides,
 * where one process has them) share what their host says. */
void read_share(struct read_meters *m, bool on);

enum read_depth {
	READ_COUNTS,   /* what the sockets and their threads have counted */
	READ_COUNTERS, /* and what the host has, without its CPUs */
	READ_ENDS,     /* this is an end of a window, with all that takes longer to read */
};

/* Adds to answer. */
void read_answer(struct read_meters *m, struct endpoint *ep, enum read_depth depth, json_t *answer);

/* Of a host with so many CPUs that an answer would be too long for a line of the protocol: leaves
 * out what there is of each CPU. */
void read_shorten(json_t *answer);

#endif
