/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much a host is used by others right now: what a night looks at before it measures. Facts
 * only; what is too much is the user's to say. Called by the agent and by the night itself.
 */
#ifndef TUNESWEEP_HOST_USE_H
#define TUNESWEEP_HOST_USE_H

#include "sysfile.h"

/* While it is there, its host is not measured. */
#define HOST_USE_INHIBIT "/etc/tunesweep/inhibit"

struct host_use {
	double load;	 /* average of the last minute */
	double runnable; /* processes that want a CPU, beside the asking one; while it looks */
	double logins;
	double traffic; /* bit/s over all interfaces but the loopback, the larger way */
	bool inhibited;
};

/* Looks for a second where runnable and traffic are to be known (watch); else they are 0. */
void host_use_look(const struct sysroot *root, bool watch, struct host_use *out);

#endif
