/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the timeline share: groups of measurements while their levels and changes are
 * found. Nobody else includes this.
 */
#ifndef TUNESWEEP_TIMELINE_PRIVATE_H
#define TUNESWEEP_TIMELINE_PRIVATE_H

#include "timeline.h"
#include <stdbool.h>

struct timeline_unit { /* one boot of one group; of unknown boot: all of the group's */
	size_t group;
	double level; /* median throughput */
};

struct timeline_group {
	size_t table, series, key; /* numbers: of the table, the series in it, the group's place */
	const char *name;	   /* of the group */
	const json_t *labels;	   /* of its first sample, borrowed */
	const char *variant;	   /* "" for plain */
	size_t plain_of;	   /* series number without the variant */
	size_t first_unit, units, samples;
	double level, lo, hi, service_demand;
	bool changed;
	double p, change; /* percent; NaN where there is nothing before it */
	double plain;	  /* level of the same group without the variant; NaN */
};

struct timeline { /* groups by table, series, key; units in the same order */
	struct timeline_group *group;
	struct timeline_unit *unit;
	size_t n_groups, n_units, n_tables;
	size_t unnamed; /* samples without the label by, which are left out */
	const char *by;
};

/* Is this label no part of what makes a series (the group itself, boot, remarks)? */
bool timeline_label_is_aside(const char *label, const char *by);
/* The name of the variant: the labels "variant" and "label". Returns buf. */
const char *timeline_variant(const json_t *labels, const char *by, char *buf, size_t size);

/* The group's name: the label by; "label" also means the variants of imported tables. Returns buf.
 */
const char *timeline_key(const json_t *labels, const char *by, char *buf, size_t size);
/* The labels that make a table (its name and machine) or a series in it, as one text, the
 * caller's. variants: with those that name a variant. */
char *timeline_identity(const json_t *labels, const char *by, bool table, bool variants);

/* Levels, intervals and changes of groups whose units are filled in. x: throughputs of the group's
 * samples, sd: their service demands. */
void timeline_group_level(struct timeline_group *g, const struct timeline_unit *units,
			  const double *x, const double *sd);
int timeline_find_changes(struct timeline *t, struct err *e);

json_t *timeline_table_json(const struct timeline *t, size_t table);
/* The rows of "variants" of one table; and how boots of the same group differ (null if none has
 * several). */
json_t *timeline_variants_json(const struct timeline *t, size_t table);
json_t *timeline_boot_spread_json(const struct timeline *t, size_t table);

#endif
