/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of an interface dies with it when its driver is bound anew, as words of a setting's text:
 * "up" or "down", "mtu=1500", "addr=10.0.0.1/24", "route=default,via=10.0.0.254,metric=100". Those
 * that the kernel makes by itself (link-local addresses, routes of addresses) are left out. Used by
 * the back end msix alone.
 */
#ifndef TUNESWEEP_LINK_STATE_H
#define TUNESWEEP_LINK_STATE_H

#include "err.h"
#include <stddef.h>

/* Words with a blank in front of each, sorted; appended to text. */
int link_state_append(const char *device, char *text, size_t size, struct err *e);

/* Gives the new interface the old name and all that these words say; waits for its carrier, if it
 * was up, 5 s at most. */
int link_state_restore(const char *now, const char *device, const char *words, struct err *e);

#endif
