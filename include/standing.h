/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * At the end of a trial: does what was set on the hosts still stand, and where did the interrupts
 * come? irqbalance, a link that was set up anew, or another program may have undone it. Called by
 * trial.c.
 */
#ifndef TUNESWEEP_STANDING_H
#define TUNESWEEP_STANDING_H

#include "trial.h"

#define STANDING_TRIES 2 /* measured so often again */

/* 0: all stands; 1: something was undone, why (of size) names it and who may have been it; or
 * -errno. The sample's detail gets the interrupts of each host whose affinity is searched. */
int standing_check(const struct trial_env *env, struct sample *out, char *why, size_t size,
		   struct err *e);

#endif
