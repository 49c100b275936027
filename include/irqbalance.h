/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The daemon that moves interrupts by itself, as a setting irq.irqbalance of the host: "running",
 * "paused", or "spares 24,25", which goes on with all other interrupts. It is paused by SIGSTOP
 * through a pidfd, and told what to spare through its own socket: at once, without its
 * configuration or its service manager being touched, and undone exactly, also from a journal. Used
 * by the back end irq alone.
 */
#ifndef TUNESWEEP_IRQBALANCE_H
#define TUNESWEEP_IRQBALANCE_H

#include "sysfile.h"
#include <sys/types.h>

#define IRQBALANCE_SPARED_MAX 512

/* Takes these interrupts out of its hands, besides those that it spares already; where it cannot be
 * told so, it is paused. 0 also where none runs, or it is paused already. */
int irqbalance_spare(const struct sysroot *root, const int *irqs, size_t n, struct err *e);

/* The conversation with one daemon, below /run/irqbalance of the root: what it spares, in its own
 * order (how many, at most IRQBALANCE_SPARED_MAX), and what it shall spare from now on. -errno
 * where it has no socket or does not answer within two seconds; -E2BIG for more than one message of
 * its takes. */
int irqbalance_ask(const struct sysroot *root, pid_t daemon, int *irqs, struct err *e);
int irqbalance_tell(const struct sysroot *root, pid_t daemon, const int *irqs, size_t n,
		    struct err *e);

#endif
