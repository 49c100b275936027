/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a file goes that is written beside its place and renamed. Renaming replaces whatever has
 * the name, a device or a link as well as a file, which root is not hindered from.
 */
#ifndef TUNESWEEP_REPLACE_H
#define TUNESWEEP_REPLACE_H

#include "err.h"
#include <stddef.h>

/* The place that path stands for: itself, or what its link leads to. place has room for PATH_MAX.
 * Refused: what is there and is no file (-EISDIR, -EEXIST), a link that leads nowhere, a path too
 * long. */
int replace_place(const char *path, char *place, struct err *e);

#endif
