/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of settings whose present values capture writes down. Used by cmd_capture.c alone.
 */
#ifndef TUNESWEEP_CLI_CAPTURE_H
#define TUNESWEEP_CLI_CAPTURE_H

#include "err.h"
#include "profile.h"
#include <jansson.h>

struct picks { /* each once; values are not filled in */
	struct assignment *items;
	size_t n;
};

void picks_clear(struct picks *p);
/* The profile's settings for one host, with their fields. */
int picks_of_profile(struct picks *p, const struct profile *profile, const char *host,
		     struct err *e);
/* The catalogue's names that hold a word or match a pattern; those of a device only if one is
 * named (else NULL). A pattern without a match must be a name by itself. */
int picks_of_pattern(struct picks *p, const char *pattern, const char *device, struct err *e);
/* All of class safe. */
int picks_of_all(struct picks *p, const char *device, struct err *e);
/* What agent_status says is set. */
int picks_of_applied(struct picks *p, const json_t *settings, struct err *e);

#endif
