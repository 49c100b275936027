/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's table of operations. Called by serve.c.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include <string.h>

static const struct {
	const char *op;
	agent_operation *run;
} OPERATIONS[] = {
	{"hello", op_hello},   {"open", op_open},	{"probe", op_probe},
	{"set", op_set},       {"replace", op_replace}, {"rollback", op_rollback},
	{"commit", op_commit}, {"status", op_status},	{"stream", op_stream},
	{"settle", op_settle}, {"restore", op_restore}, {"ping", op_ping},
	{"bye", op_bye},       {"allow", op_allow},	{"device", op_device},
	{"check", op_check},   {"doctor", op_doctor},	{"owners", op_owners},
	{"use", op_use},
};

int agent_dispatch(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	json_int_t v = json_integer_value(json_object_get(request, "v"));
	if (v != PROTOCOL_VERSION) {
		return err_usage(e, "this agent speaks protocol %d, and was asked in %d",
				 PROTOCOL_VERSION, (int)v);
	}
	for (size_t i = 0; op && i < ARRAY_SIZE(OPERATIONS); i++) {
		if (strcmp(op, OPERATIONS[i].op) == 0) {
			return OPERATIONS[i].run(s, request, answer, e);
		}
	}
	return err_usage(e, "the agent has no operation \"%.40s\"", op ? op : "");
}
