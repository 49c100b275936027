/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A gain over several boots: what each boot's pairs have shown stands in result.json's object under
 * "boots", and the gain over all of them is a mean of boots, not of pairs, since a boot shifts the
 * level of all that is measured in it. Arithmetic on that object only; the run command measures.
 */
#ifndef TUNESWEEP_BOOTS_H
#define TUNESWEEP_BOOTS_H

#include "stats.h"
#include <jansson.h>
#include <stdbool.h>

struct boot_gain {	  /* of one boot */
	const char *boot; /* boot ids of the hosts, joined */
	int pairs;
	struct interval score, throughput, service_demand; /* percent */
};

/* The boot ids out of {name: fingerprint}, sorted and joined by " + "; "" if none is known. */
void boots_id(const json_t *hosts, char *out, size_t size);

/* "boots": {"wanted": N, "each": [...], "percent": null, "interval": null, "significant": false} */
void boots_begin(json_t *result, int wanted);

/* Adds a boot and computes the whole anew: percent and its interval (Student's t over the boots'
 * logarithms, 95 %) from two boots on. */
void boots_add(json_t *result, const struct boot_gain *g);

int boots_counted(const json_t *result);
int boots_wanted(const json_t *result); /* 0: nobody asked for boots */
bool boots_has(const json_t *result, const char *boot);

#endif
