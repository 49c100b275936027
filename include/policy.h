/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the owner of a host lets be set there, in /etc/tunesweep/policy.json. Read by the agent
 * alone, whoever started it; it narrows the catalogue and never widens it, and never keeps an old
 * value from being put back. Without the file all of the catalogue may be set by who may.
 *
 *   {"tunesweep_policy": 1,
 *    "everyone": {"names": ["net.ipv4.*", "nic.rings.*"],
 *                 "classes": ["safe", "disruptive"],
 *                 "ranges": {"net.ipv4.tcp_rmem.max": [1048576, 67108864]}},
 *    "users": {"1000": {"names": ["net.ipv4.tcp_*"]}, "*": {"names": []}}}
 *
 * Every key but the first may be left out, and then narrows nothing. A setting must pass "everyone"
 * and, if there is "users", the rule of the agent's user (by number; "*" is for those without one).
 * names: patterns, in which a star stands for any text; [] lets nothing be set. classes: safe,
 * unsafe, disruptive, unlisted, driver-rebind. ranges: least and most of a number, by name or by
 * name.field, in the units of the catalogue; all that match hold.
 *
 * The file and its folder must belong to root and be writable by nobody else; anything about it
 * that is wrong (an unknown key, too) makes the agent refuse whatever wants to set something.
 */
#ifndef TUNESWEEP_POLICY_H
#define TUNESWEEP_POLICY_H

#include "err.h"
#include "tunable.h"
#include <sys/types.h>

struct policy;

/* The policy of this host for a user; *out is NULL if there is no file. Below a root prefix (tests)
 * the file may also belong to the calling user. -EPERM for a file that others may write, -EBADMSG
 * for one that is not understood. */
int policy_load(const struct sysroot *root, uid_t uid, struct policy **out, struct err *e);
void policy_free(struct policy *p);

/* 0, or -EPERM with a sentence that names the file. p may be NULL: everything passes. */
int policy_check_setting(const struct policy *p, const struct setting *s, struct err *e);
int policy_check_value(const struct policy *p, const struct setting *s, const char *field,
		       const struct value *v, struct err *e);

#endif
