/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The nodes of a pool that wants Slurm's: those of the job that this runs in, once partition and
 * constraint have been held against them, or new ones, asked for with salloc and given back when
 * this process ends, however it ends. Which node becomes which host is fleet.h's. Called by run.
 */
#ifndef TUNESWEEP_ALLOCATION_H
#define TUNESWEEP_ALLOCATION_H

#include "spec.h"

struct allocation {
	int in, out;	  /* of salloc's keeper; -1: there is none */
	char job[32];	  /* number of a job that was asked for here; "": srun knows its own */
	char nodes[4096]; /* "n[1-4,9]" */
};

/* Waits for salloc as long as it takes; -EINTR once interrupt_fd is readable. ERR_USAGE: the job
 * that this runs in is not what the spec wants. out is to be closed in every case. */
int allocation_open(const struct spec *s, struct launcher *l, int interrupt_fd,
		    struct allocation *out, struct err *e);
void allocation_close(struct allocation *a);

/* Has a node of these features ("a,b") what a constraint ("a&b|c", & before |) asks for? -EINVAL
 * if it is more than that: counts and brackets are of many nodes. */
int allocation_fits(const char *constraint, const char *features);

#endif
