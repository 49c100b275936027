/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The surfaces of the simulated engine: true throughput and service demand as functions of a
 * configuration, without noise. Pure and deterministic, so that a test can compare what a search
 * found with what there was to find. Used by the engine, by the spec (names), and by tests.
 */
#ifndef TUNESWEEP_SIMULATED_H
#define TUNESWEEP_SIMULATED_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct surface_point {
	size_t n;
	const double *z;       /* [n] place on each dimension, 0 to 1 (a category: its index) */
	const bool *category;  /* [n] */
	const int *levels;     /* [n] of categories */
	double log2_a, log2_b; /* log2 of the first two numeric values (wmem, rmem by name);
				  0 if there are none: table and bottleneck need both */
	uint64_t seed;	       /* where ridges and best categories lie */
};

struct surface_value {
	double throughput;     /* bit/s */
	double service_demand; /* us/KB */
	bool fails;	       /* this configuration cannot be measured */
};

/* table, bottleneck, ridge, flat, mixed. */
const char *const *surface_names(void);	    /* NULL-terminated */
bool surface_needs_sizes(const char *name); /* wants two numeric dimensions */

/* name is one of surface_names. */
struct surface_value surface_at(const char *name, const struct surface_point *p);

#endif
