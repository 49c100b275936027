/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the two files of export-runs. Nobody else includes this.
 */
#ifndef TUNESWEEP_EXPORT_PRIVATE_H
#define TUNESWEEP_EXPORT_PRIVATE_H

#include <jansson.h>
#include <stdio.h>

/* list: store_list_runs's, newest first. */
void export_prometheus(const json_t *list, const char *name, FILE *out);

#endif
