/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's operations that look at its host as a whole: is it fit to measure, who else sets what
 * is tuned, and how much others use it. Reached by dispatch.c's table, best before a session is
 * open: afterwards the agent may see less.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include "doctor.h"
#include "host_use.h"

int op_doctor(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	const char *device;
	json_t *told = NULL;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:s}", OPS_HEAD_INTO(h),
			   "device", &device)) {
		return ops_misunderstood(e, &why);
	}
	struct doctor_source source = doctor_kernel(&s->place.root);
	int rc = doctor_examine(&source, device, &told, e);
	return rc ? rc : json_object_set_new(answer, "examination", told);
}

int op_owners(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	int rc = ops_only_head(request, e);
	return rc ? rc : json_object_set_new(answer, "owners", doctor_owners(&s->place.root));
}

int op_use(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct host_use u;
	int rc = ops_only_head(request, e);
	if (rc) {
		return rc;
	}
	host_use_look(&s->place.root, true, &u);
	json_t *told = json_pack("{s:f, s:f, s:f, s:f, s:b}", "load", u.load, "runnable",
				 u.runnable, "logins", u.logins, "traffic", u.traffic, "inhibited",
				 u.inhibited);
	return json_object_set_new(answer, "use", told);
}
