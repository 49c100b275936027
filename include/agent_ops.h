/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the agent's operations: what every request has, and reading settings and assignments out
 * of one. Used by ops*.c alone.
 */
#ifndef TUNESWEEP_AGENT_OPS_H
#define TUNESWEEP_AGENT_OPS_H

#include "agent_private.h"

#define OPS_SETTINGS_MAX 256

/* For json_unpack_ex with JSON_STRICT: unknown keys are refused by it. */
#define OPS_HEAD	 "s:i, s:I, s:s"
#define OPS_HEAD_INTO(h) "v", &(h).v, "id", &(h).id, "op", &(h).op

struct ops_head {
	int v;
	json_int_t id;
	const char *op;
};

int ops_misunderstood(struct err *e, const json_error_t *why);
int ops_only_head(json_t *request, struct err *e); /* for requests without more */

/* By the catalogue alone; of scope host. */
int ops_resolve(const char *name, const char *field, const char *device, struct setting *out,
		struct err *e);
/* -EPERM where the host's policy does not let it be set, and where that is not to be trusted. */
int ops_check_policy(const struct agent_state *s, const struct setting *setting, struct err *e);
/* At most OPS_SETTINGS_MAX into out, each as the policy lets it be set. */
int ops_take_settings(const struct agent_state *s, const json_t *list, struct setting *out,
		      size_t *n, struct err *e);
/* The request's "values", likewise. The caller frees *out, also after an error. */
int ops_take_assignments(const struct agent_state *s, json_t *request, struct assignment **out,
			 size_t *n, struct err *e);

/* -EPERM for a device that others depend on, unless that is allowed (guard.h). */
int ops_guard(const struct agent_state *s, const struct setting *setting, struct err *e);
int ops_guard_all(const struct agent_state *s, const struct assignment *a, size_t n, struct err *e);

/* An operation fills answer, also on an error where there is more to tell than the sentence. */
typedef int agent_operation(struct agent_state *s, json_t *request, json_t *answer, struct err *e);
agent_operation op_open, op_set, op_replace, op_rollback, op_commit, op_status, op_bye;
agent_operation op_allow, op_device, op_check;
agent_operation op_hello, op_probe, op_stream, op_settle, op_restore, op_ping;
agent_operation op_doctor, op_owners, op_use;

#endif
