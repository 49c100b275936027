/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The controller's side of one host: start an agent there through a transport, ask it, and end it.
 * Everything that is set on any machine goes through here. All waits have a limit; an answer that
 * does not come is an error that names the host. While idle for long, call agent_ping.
 */
#ifndef TUNESWEEP_AGENT_H
#define TUNESWEEP_AGENT_H

#include "device.h"
#include "err.h"
#include "launcher.h"
#include "tunable.h"
#include <jansson.h>

struct agent;

struct agent_info { /* what the host says of itself on hello */
	char version[16], boot_id[40], hostname[64], kernel[64];
	char address[64];  /* first global address of an interface that is up, or "127.0.0.1" */
	json_t *addresses; /* of all interfaces that are up, but no loopback; IPv4 first; borrowed
			    */
	char netns_path[128];
	uint64_t netns_cookie;
	int cpus;
	json_t *host; /* fingerprint pieces: cpu model, numa nodes, nics; borrowed */
};

/* Starts the agent and greets it. name is what the spec calls the host, for messages. */
int agent_connect(struct launcher *l, const struct host_via *via, const char *name,
		  struct agent **out, struct err *e);
const struct agent_info *agent_info(const struct agent *a);
const char *agent_name(const struct agent *a);

/* Opens its session of a layer ("sweep" or "applied") for these settings: old values are journaled
 * when this returns. n may be 0. restored: what a crashed run had left and was put back (JSON
 * array, may be NULL). */
int agent_open(struct agent *a, const char *layer, const char *profile,
	       const struct setting *settings, size_t n, json_t **restored, struct err *e);

/* What the user allows on devices that others depend on: ALLOW_* of guard.h. Before probing. */
int agent_allow(struct agent *a, unsigned allowed, struct err *e);

/* The host's way to an address. */
int agent_way(struct agent *a, const char *address, struct device_way *out, struct err *e);

int agent_probe(struct agent *a, const struct setting *s, const char *field,
		struct tunable_range *out, struct err *e);

/* As agent_probe for a value that is meant: where it stands for what is there now, it is what is
 * told as present, and no other word for the same (0-3, spread). */
int agent_probe_for(struct agent *a, const struct assignment *meant, struct tunable_range *out,
		    struct err *e);

/* While an answer of this one is waited for, the others hear a heartbeat: they would take the
 * silence for the end and put back. The list is the caller's; NULL and 0 before it or they go. */
void agent_wait_with(struct agent *a, struct agent *const *others, size_t n);

/* As session_set; effective[n] may be NULL. */
int agent_set(struct agent *a, const struct assignment *v, size_t n, struct value *effective,
	      struct err *e);
int agent_replace(struct agent *a, const struct assignment *v, size_t n, struct err *e);

/* report: array of {set, device, old, found, outcome, reason}. */
int agent_rollback(struct agent *a, bool force, json_t **report, struct err *e);
int agent_commit(struct agent *a,
		 struct err *e); /* layer "applied": keep what is set when the agent leaves */
int agent_status(struct agent *a, json_t **out,
		 struct err *e); /* see session_status; also {"profile","since"} */

/* One request to the endpoints' child (stream.h lists them); reply is the caller's. */
int agent_stream(struct agent *a, json_t *request, int timeout_ms, json_t **reply, struct err *e);
/* The same in two steps, so that several hosts work at a time: nothing else is asked of an agent
 * before its answer has been taken. */
int agent_stream_send(struct agent *a, json_t *request, int timeout_ms, struct err *e);
int agent_stream_take(struct agent *a, int timeout_ms, json_t **reply, struct err *e);

/* Clears what one trial would hand to the next (the tcp_metrics cache). 0 also where the kernel
 * has nothing to clear. */
int agent_settle(struct agent *a, struct err *e);

/* At the end of a trial: {"drifted": [{set, device, meant, found}], "suspects": [text],
 * "interrupts": {device: {...}}}, the last as irq_watch_json since agent_settle. */
int agent_check(struct agent *a, json_t **out, struct err *e);

/* Is the host fit to measure: doctor_examine's object, a new reference. device may be "". */
int agent_doctor(struct agent *a, const char *device, json_t **out, struct err *e);
/* Who else sets tunables there: doctor_owners' array, a new reference. */
int agent_owners(struct agent *a, json_t **out, struct err *e);

/* How much others use that host: {"load", "runnable", "logins", "traffic", "inhibited"},
 * host_use.h's numbers. Takes a second. */
int agent_use(struct agent *a, json_t **out, struct err *e);

int agent_ping(struct agent *a, struct err *e);

/* Puts back what crashed runs have left on that host. wait_ms: how long somebody who is alive (a
 * guardian at work) may still hold it; 0 leaves such alone, else -EBUSY names the holder. layers:
 * array of {layer, items, note}; may be NULL. */
int agent_restore(struct agent *a, int wait_ms, json_t **layers, struct err *e);

/* Orderly end: the agent rolls an uncommitted session back, reports, and leaves. a may be NULL.
 * 0, or -EIO (ERR_RESTORE) with what could not be restored. Of an agent that was killed or does not
 * answer the host is asked once more: -EHOSTDOWN if all that it had set was put back. */
int agent_close(struct agent *a, json_t **report, struct err *e);

#endif
