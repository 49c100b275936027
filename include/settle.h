/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What has to happen between setting and measuring: no state of the last trial may leak into the
 * next, and a link that a setting has dropped must be up again.
 */
#ifndef TUNESWEEP_SETTLE_H
#define TUNESWEEP_SETTLE_H

#include "trial.h"

/* Flushes the tcp_metrics cache of every host of the trial, since it carries ssthresh and rtt from
 * one connection to the next. 0 or -errno as the agent calls. */
int settle_hosts(const struct trial_env *env, struct err *e);

#endif
