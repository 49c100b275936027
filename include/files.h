/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of results on disk: folders made with those above them, and JSON that is there whole or not
 * at all. Called by whoever keeps something beside the store.
 */
#ifndef TUNESWEEP_FILES_H
#define TUNESWEEP_FILES_H

#include "err.h"
#include <jansson.h>

/* Makes a folder and those above it (mode 0755). */
int files_make_folders(const char *path, struct err *e);

/* Written beside it, synced, renamed. */
int files_save_json(const char *path, const json_t *j, struct err *e);

/* -ENOENT if there is no such file; ERR_USAGE if it is no JSON object. */
int files_load_json(const char *path, json_t **out, struct err *e);

#endif
