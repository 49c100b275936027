/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Giving privilege up, for good: every call takes from the bounding set as well and sets
 * no_new_privs. Used by the agent (keeps what its settings need), its endpoints' child and the
 * lab's link (keep nothing), and by the controller after the launcher has been forked.
 */
#ifndef TUNESWEEP_PRIVILEGE_H
#define TUNESWEEP_PRIVILEGE_H

#include "err.h"
#include <stddef.h>
#include <sys/capability.h>
#include <sys/types.h>

/* Keeps only those of these n capabilities that the process has. n = 0 empties all sets. */
int privilege_keep(const cap_value_t *keep, size_t n, struct err *e);

/* A fixed unprivileged user (65534) without groups or capabilities; dies with its parent. Where no
 * second user is mapped (user namespace) or for an ordinary user, the user stays and the
 * capabilities go. parent: who must still be alive; -ESRCH if it is not. */
int privilege_become_nobody(pid_t parent, struct err *e);

#endif
