/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of reading a spec, one file a block of the YAML: each takes its node (which may be
 * absent) and fills its part of struct spec. spec.c calls them in this order, since later ones
 * look at what the earlier ones found. Seen by sweep/spec.c and sweep/spec/ only.
 */
#ifndef TUNESWEEP_SPEC_PRIVATE_H
#define TUNESWEEP_SPEC_PRIVATE_H

#include "spec.h"
#include "yaml.h"

struct spec_place spec_place_of(struct yaml_at at);
int spec_parse_hosts(struct spec *s, struct yaml_at hosts, struct err *e);
int spec_parse_pool(struct spec *s, struct yaml_at pool, struct err *e);
/* How one host is reached: a word, a command, or a map with via, address and agent. */
int spec_parse_host(struct spec_host *h, struct yaml_at at, struct err *e);
int spec_parse_link(struct spec *s, struct yaml_at link, struct err *e);
int spec_parse_test(struct spec *s, struct yaml_at test, struct err *e);
int spec_parse_objective(struct spec *s, struct yaml_at objective, struct err *e);
int spec_parse_search(struct spec *s, struct yaml_at search, struct err *e);
int spec_parse_proof(struct spec *s, struct yaml_at proof, struct err *e);
int spec_parse_allow(struct spec *s, struct yaml_at allow, struct err *e);
int spec_parse_tunables(struct spec *s, struct yaml_at tunables, struct err *e);

/* Range, choices, scale, step, type and default of one tunable whose target is known. */
int spec_parse_domain(struct spec_tunable *t, struct yaml_at at, struct err *e);

/* spec/value.c. One value for a tunable whose target (and, of the catalogue's, type) is known. */
int spec_parse_value(const struct spec_tunable *t, struct yaml_at at, struct value *out,
		     struct err *e);
/* A command's parameter, which has no row of its own in the catalogue. */
int spec_parse_param_value(struct yaml_at at, struct value *out, struct err *e);
bool spec_is_param(const struct spec_tunable *t);

/* spec/when.c: the conditions of tunables, once all tunables are known. */
int spec_parse_when(struct spec *s, struct yaml_at tunables, struct err *e);

/* spec/forbid.c: combinations that are not to be tried. */
int spec_parse_forbid(struct spec *s, struct yaml_at forbid, struct err *e);

/* A value that a tunable whose domain is known may be compared with, from its text. No place is
 * put in front of the sentence. */
int spec_comparable(const struct spec_tunable *t, const char *text, struct value *out,
		    struct err *e);

/* A list of words to a NULL-terminated array for execvp; free with spec_free_argv. */
int spec_parse_argv(struct yaml_at list, char ***out, struct err *e);
void spec_free_argv(char **argv);

/* Index of a host by name, -1 with the nearest name in the error. */
int spec_find_host(const struct spec *s, struct yaml_at at, int *out, struct err *e);

/* Pairs that exclude each other, and what needs to know where the endpoints are. */
int spec_check_machine(const struct spec *s, struct err *e);

/* Fills warnings. */
int spec_warn(struct spec *s, struct err *e);

/* spec/ways.c: how the streams of a test send and receive, beyond their type. */
int spec_parse_ways(struct spec_test *t, struct yaml_at test, struct err *e);

#endif
