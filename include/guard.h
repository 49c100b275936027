/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user has to allow by a word of its own, and the devices on which a change that may drop
 * the link is refused without one: others depend on them, or on the way to this machine. Specs and
 * profiles name the words; the agent, on the host itself, decides.
 */
#ifndef TUNESWEEP_GUARD_H
#define TUNESWEEP_GUARD_H

#include "err.h"
#include "sysfile.h"
#include "tunable.h"

enum { /* bits, in the order of allow_words */
       ALLOW_DISRUPTIVE = 1,
       ALLOW_UNSAFE = 2,
       ALLOW_UNLISTED = 4,
       ALLOW_DRIVER_REBIND = 8,
       ALLOW_MEMBER = 16,   /* a member of a bond, team, bridge or switch */
       ALLOW_XDP = 32,	    /* a device with an XDP program or AF_XDP sockets */
       ALLOW_VFS = 64,	    /* a physical function that has virtual ones */
       ALLOW_RDMA = 128,    /* a device that RDMA uses, too */
       ALLOW_ROOT = 256,    /* a card, where the root file system comes over the network */
       ALLOW_CONTROL = 512, /* the device that carries the control connection */
       ALLOW_WORDS_MAX = 10,
};

extern const char *const allow_words[ALLOW_WORDS_MAX + 1]; /* NULL-terminated */

/* 0, or -EPERM with the reason and the word, if this setting may drop the link of a device that
 * needs more than is allowed. control: address of the other end of the control connection, or "".
 * Settings that drop no link are never refused here. */
int guard_check(const struct sysroot *root, const struct setting *s, unsigned allowed,
		const char *control, struct err *e);

#endif
