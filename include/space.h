/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The space that is searched: the spec's tunables with the ranges, choices and present values that
 * the hosts reported, and the encoding of configurations as points of the unit cube. Log, integer,
 * stepped and categorical dimensions are dealt with here; a search sees only [0,1]^d. Where both
 * default and max of one sysctl are dimensions, max is decoded between default and its upper end,
 * so that min <= default <= max holds by construction.
 */
#ifndef TUNESWEEP_SPACE_H
#define TUNESWEEP_SPACE_H

#include "search.h"
#include "spec.h"
#include <jansson.h>

struct dimension {
	const struct spec_tunable *tunable;
	struct assignment target; /* device resolved; value unused */
	char key[192];		  /* "net.ipv4.tcp_rmem.default@receiver" */
	enum value_type type;	  /* of its values */
	bool category, log, integer;
	double lo, hi, step; /* lo and hi after floor and ceiling */
	size_t levels;	     /* number of distinct values; 0: continuous */
	double *grid;	     /* [levels] ascending, of log scales of integers or with a step; owned,
				NULL for evenly spaced ones */
	struct value *choices; /* category; owned */
	size_t n_choices;
	int above; /* index of the dimension that is its lower bound; -1 if none */
	int below; /* index of the dimension whose lower bound it is; -1 if none */
	int when;  /* index of the dimension that its condition looks at (tunable->when); -1 */
	double floor, ceiling; /* bounds by the fields that are not searched (present values) */
	struct value
		baseline; /* present value; VALUE_NONE if it has none (a param without default) */
};

struct space {
	const struct spec *spec;
	size_t n;
	struct dimension *dims;
	int dim_of[SPEC_TUNABLES_MAX]; /* by the spec's index; -1: left out */
};

struct configuration { /* one value for each dimension */
	size_t n;
	struct value v[SPEC_TUNABLES_MAX];
};

/* What a host says of one tunable: the agent in a sweep, a table in tests. NULL ask for spaces of
 * params only. */
struct space_source {
	int (*probe)(void *ctx, int host, const struct setting *s, const char *field,
		     struct tunable_range *out, struct err *e);
	void *ctx;
};

/* Resolves every tunable; errors have the spec's place. skipped (may be NULL): JSON array of
 * sentences on optional tunables left out, the caller's. ERR_SYSTEM where a host cannot set it,
 * ERR_USAGE where the spec's range does not fit. Ranges are cut to what the fields that are not
 * searched leave (skipped says so). */
int space_create(const struct spec *spec, const struct space_source *source, struct space **out,
		 json_t **skipped, struct err *e);
void space_destroy(struct space *s);

/* Point to configuration and back; points are clipped to the cube. encode(decode(u)) is the
 * canonical point of a configuration: equal configurations have equal points. */
void space_decode(const struct space *s, const double *u, struct configuration *out);
void space_encode(const struct space *s, const struct configuration *c, double *u);

/* Puts settings whose condition does not hold at their baseline (decode does so by itself). */
void space_settle(const struct space *s, struct configuration *c);

/* Is dimension i's condition held by c, or has it none? */
bool space_is_active(const struct space *s, const struct configuration *c, size_t i);

/* No rule of "forbid" holds for it. A comparison with a setting that is left out counts as held. */
bool space_allows(const struct space *s, const struct configuration *c);

/* Every value lies within its dimension, if perhaps between two steps: then the encoded point
 * stands for the configuration. */
bool space_contains(const struct space *s, const struct configuration *c);

/* The baseline; false if some dimension has no baseline value (then its middle is filled in). */
bool space_baseline(const struct space *s, struct configuration *out);
bool configuration_equal(const struct configuration *a, const struct configuration *b);

/* {key: value} */
json_t *space_values(const struct space *s, const struct configuration *c);
int space_values_parse(const struct space *s, const json_t *values, struct configuration *out,
		       struct err *e);

/* The k-th of levels values, and the index of the value that is nearest to v (by ratio on a log
 * scale); for dimensions of numbers with levels > 0. */
double dimension_value(const struct dimension *d, size_t k);
size_t dimension_nearest(const struct dimension *d, double v);

/* Sets levels and grid from lo, hi, step, log and integer. -ENOMEM. Only space.c calls it. */
int dimension_make_grid(struct dimension *d, struct err *e);

/* What a search needs to know of the dimensions. */
void space_describe(const struct space *s, struct search_dim *dims);

/* Text of the space for --dry-run: a line a dimension. */
char *space_text(const struct space *s);

/* Number of distinct configurations; INFINITY if continuous or over 1e15. */
double space_size(const struct space *s);

#endif
