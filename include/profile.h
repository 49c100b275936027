/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile: a YAML file of values to apply, and what a sweep exports. Reads it strictly and
 * writes it (INTERFACE, "Profile"). Knows no agent; commands take its assignments host by host.
 */
#ifndef TUNESWEEP_PROFILE_H
#define TUNESWEEP_PROFILE_H

#include "err.h"
#include "guard.h"
#include "tunable.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct profile_effect { /* of one setting, or of the whole; NaN where it was not measured */
	double percent, lo, hi, level;
};

struct profile_setting {
	char host[32]; /* "" if the profile names none */
	struct assignment assignment;
	bool optional;	  /* skipped, and said so, where it cannot be set */
	struct value was; /* VALUE_NONE if not known */
	struct profile_effect effect;
};

struct profile {
	char name[64];
	unsigned allow;			  /* ALLOW_* of guard.h */
	json_t *machine, *evidence;	  /* objects as in the file, or NULL */
	struct profile_setting *settings; /* host scope: what apply sets */
	size_t n_settings;
	struct profile_setting *application; /* run scope: what the program itself must ask for */
	size_t n_application;
};

void profile_init(struct profile *p);
void profile_clear(struct profile *p);

int profile_load(const char *path, struct profile *out, struct err *e);

/* Written to a temporary file beside it, synced, renamed. */
int profile_save(const struct profile *p, const char *path, struct err *e);

/* The same text into a stream that is open. */
void profile_print(const struct profile *p, FILE *f);

/* The distinct hosts of its host-scope settings, in order; "" counts as one. Returns how many. */
size_t profile_hosts(const struct profile *p, const char *hosts[], size_t max);

#endif
