/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of sysctls: canonical spelling, path, and the matching of patterns. For tunable.c and
 * the sysctl back end.
 */
#ifndef TUNESWEEP_NAME_PRIVATE_H
#define TUNESWEEP_NAME_PRIVATE_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

/* The one spelling of a name: dots between components, or slashes where a component holds a dot.
 * By sysctl.d(5) the first separator decides which of both separates. -EINVAL (ERR_USAGE) for a
 * name that could leave /proc/sys, or that means a device with dots in dotted spelling. */
int name_canonical(const char *name, char *out, size_t size, struct err *e);

/* "/proc/sys/..." of a canonical name. -ENAMETOOLONG */
int name_path(const char *canonical, char *out, size_t size);

/* A canonical name against a catalogue name, in which "*" stands for one component. */
bool name_matches(const char *pattern, const char *canonical);

#endif
