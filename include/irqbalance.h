/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The daemon that moves interrupts by itself, as a setting irq.irqbalance of the host: running,
 * paused or absent. It is paused by SIGSTOP through a pidfd: at once, without its configuration or
 * its service manager being touched, and undone exactly by SIGCONT, also from a journal. Used by
 * the back end irq alone.
 */
#ifndef TUNESWEEP_IRQBALANCE_H
#define TUNESWEEP_IRQBALANCE_H

#include "sysfile.h"

/* 0 also where none runs, or it is paused already. */
int irqbalance_pause(const struct sysroot *root, struct err *e);

#endif
