/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where journals, locks and notes of labs are: /run/tunesweep for root, else below
 * $XDG_RUNTIME_DIR. Used by the agent and the launcher.
 */
#ifndef TUNESWEEP_RUN_DIR_H
#define TUNESWEEP_RUN_DIR_H

#include "err.h"
#include <stddef.h>

/* Writes the path; returns buf. */
const char *run_dir_default(char *buf, size_t size);

/* -ENOENT where the folder around it does not exist either, so that nothing can be in it or be
 * made in it: the sentence says what to set. Else 0. */
int run_dir_check(const char *run_dir, struct err *e);

#endif
