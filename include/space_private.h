/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files that make a space share: one step after the other on the same struct space. Seen
 * by sweep/space.c and sweep/space/ only.
 */
#ifndef TUNESWEEP_SPACE_PRIVATE_H
#define TUNESWEEP_SPACE_PRIVATE_H

#include "space.h"

/* "file:line:column: ..." of class ERR_SYSTEM: the spec is right, but the host cannot. */
int space_refuse(const struct spec *spec, struct spec_place at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* One dimension from its tunable and what the host says of it (settable already). */
int space_fill_dimension(const struct spec *spec, struct dimension *d,
			 const struct tunable_range *range, struct err *e);

/* space/rules.c: ties conditions to dimensions and leaves out those whose other one is left out. */
int space_link_conditions(struct space *s, json_t *notes, struct err *e);
/* ERR_USAGE where "forbid" leaves nothing to search. */
int space_check_rules(const struct space *s, json_t *notes, struct err *e);

/* Links fields of one setting so that min <= default <= max, and cuts ranges by the present values
 * of fields that are not searched; notes gets sentences on ranges cut (may be NULL). */
int space_couple_fields(struct space *s, const struct space_source *source, json_t *notes,
			struct err *e);

#endif
