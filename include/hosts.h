/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hosts of a spec while a run uses them: the lab if one is wanted, an agent each, the space's
 * probe through them, and the way back. Called by the run and test commands.
 */
#ifndef TUNESWEEP_HOSTS_H
#define TUNESWEEP_HOSTS_H

#include "agent.h"
#include "space.h"
#include "spec.h"

struct hosts {
	const struct spec *spec;
	struct launcher *launcher;
	struct agent *agents[SPEC_HOSTS_MAX]; /* hosts that are one place share one */
	bool has_lab;
	struct lab_info lab;
	char receiver_address[64]; /* where the test connects to; "" without hosts */
};

/* Every host behind a command gets this program's own agent, unless the spec names one there. */
void hosts_push_agents(struct spec *spec);

/* Makes the lab and connects the agents; on an error everything is undone. */
int hosts_open(const struct spec *spec, struct launcher *l, struct hosts *out, struct err *e);

/* hosts_address.c, for hosts_open: where the test connects to. The spec's address, else the lab's,
 * else the receiver's address that the sender's routes lead to; loopback within one namespace. */
void hosts_choose_address(struct hosts *h);

/* Names the device of each entry with 'device: auto': on the receiving host the one that has the
 * test's address, on the others the one of the route to it. */
int hosts_find_devices(struct hosts *h, struct spec *spec, struct err *e);

/* A space_source that asks these hosts (ctx is the struct hosts). */
int hosts_probe(void *ctx, int host, const struct setting *s, const char *field,
		struct tunable_range *out, struct err *e);

/* Opens the sweep layer on every host for the space's settings: old values are on disk when this
 * returns. restored (may be NULL): what crashed runs had left. */
int hosts_open_sessions(struct hosts *h, const struct space *space, json_t **restored,
			struct err *e);

/* Rolls back, ends the agents, removes the lab. Goes on after an error; the first is returned, with
 * class ERR_RESTORE if something could not be put back. report: {host: [items]}. */
int hosts_close(struct hosts *h, json_t **report, struct err *e);

/* {name: fingerprint} of all hosts. */
json_t *hosts_fingerprints(const struct hosts *h);

#endif
