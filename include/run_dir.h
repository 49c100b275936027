/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where journals, locks and notes of labs are: /run/tunesweep for root, else below
 * $XDG_RUNTIME_DIR. Used by the agent and the launcher.
 */
#ifndef TUNESWEEP_RUN_DIR_H
#define TUNESWEEP_RUN_DIR_H

#include <stddef.h>

/* Writes the path; returns buf. */
const char *run_dir_default(char *buf, size_t size);

#endif
