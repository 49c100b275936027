/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which system calls a process of the agent may still make: the smallest list with which each kind
 * does its work. Everything else is answered by EPERM and logged by the kernel (audit), and never
 * kills: a killed agent would leave a tuned machine. Called once, after privileges were given up.
 */
#ifndef TUNESWEEP_CONFINE_H
#define TUNESWEEP_CONFINE_H

#include "err.h"

enum confine_role {
	CONFINE_AGENT = 1,     /* files, netlink, its children; no program is started */
	CONFINE_GUARDIAN = 2,  /* files and netlink, no children; within the agent's list */
	CONFINE_ENDPOINTS = 4, /* sockets, threads, placement; files for reading only */
};

/* For this process, its threads and what it forks from now on; it cannot be undone. 0 also where
 * the kernel has no filters (then no_new_privs and capabilities are what there is). */
int confine(enum confine_role role, struct err *e);

#endif
