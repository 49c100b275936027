/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading requests strictly, by the catalogue and the host's policy and not by who asks. It changes
 * nothing. Used by the
 * agent's operations.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include <errno.h>
#include <string.h>

int ops_misunderstood(struct err *e, const json_error_t *why)
{
	return err_usage(e, "a request that the agent does not understand: %s", why->text);
}

int ops_only_head(json_t *request, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD "}", OPS_HEAD_INTO(h))) {
		return ops_misunderstood(e, &why);
	}
	return 0;
}

/* Names with ".." are refused here, whatever the catalogue's own reading of names says. */
int ops_resolve(const char *name, const char *field, const char *device, struct setting *out,
		struct err *e)
{
	if (strstr(name, "..")) {
		err_usage(e, "\"%s\": a name with \"..\" is refused", name);
		e->code = -EPERM;
		return -EPERM;
	}
	int rc = tunable_resolve(name, field, device, out, e);
	if (rc == 0 && out->tunable->scope != SCOPE_HOST) {
		rc = err_usage(e, "%s is set by the program itself, not on a host", out->name);
	}
	return rc;
}

int ops_check_policy(const struct agent_state *s, const struct setting *setting, struct err *e)
{
	if (s->policy_error.code) {
		*e = s->policy_error;
		return e->code;
	}
	return policy_check_setting(s->policy, setting, e);
}

int ops_take_settings(const struct agent_state *s, const json_t *list, struct setting *out,
		      size_t *n, struct err *e)
{
	*n = json_array_size(list);
	if (!json_is_array(list) || *n > OPS_SETTINGS_MAX) {
		return err_usage(e, "settings must be a list of at most %d", OPS_SETTINGS_MAX);
	}
	for (size_t i = 0; i < *n; i++) {
		const char *name, *device;
		json_error_t why;
		if (json_unpack_ex(json_array_get(list, i), &why, JSON_STRICT, "{s:s, s:s}", "set",
				   &name, "device", &device)) {
			return ops_misunderstood(e, &why);
		}
		int rc = ops_resolve(name, "", device, &out[i], e);
		rc = rc ? rc : ops_check_policy(s, &out[i], e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

static int take_assignment(const struct agent_state *s, json_t *j, struct assignment *out,
			   struct err *e)
{
	const char *name, *device, *field;
	const json_t *value;
	json_error_t why;
	if (json_unpack_ex(j, &why, JSON_STRICT, "{s:s, s:s, s:s, s:o}", "set", &name, "device",
			   &device, "field", &field, "value", &value)) {
		return ops_misunderstood(e, &why);
	}
	int rc = ops_resolve(name, field, device, &out->setting, e);
	rc = rc ? rc : ops_check_policy(s, &out->setting, e);
	if (rc) {
		return rc;
	}
	if (strlen(field) >= sizeof(out->field)) {
		return err_usage(e, "%s has no field \"%s\"", name, field);
	}
	strcpy(out->field, field);
	rc = value_from_json(value, &out->value, e);
	rc = rc ? rc : tunable_check(&out->setting, field, &out->value, e);
	return rc ? rc : policy_check_value(s->policy, &out->setting, field, &out->value, e);
}

/* The caller frees *out. */
int ops_take_assignments(const struct agent_state *s, json_t *request, struct assignment **out,
			 size_t *n, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	const json_t *list;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:o}", OPS_HEAD_INTO(h),
			   "values", &list)) {
		return ops_misunderstood(e, &why);
	}
	*n = json_array_size(list);
	if (!json_is_array(list) || *n > OPS_SETTINGS_MAX) {
		return err_usage(e, "values must be a list of at most %d", OPS_SETTINGS_MAX);
	}
	*out = calloc(*n + 1, sizeof(**out));
	if (!*out) {
		return err_set(e, -ENOMEM, "no memory");
	}
	for (size_t i = 0; i < *n; i++) {
		int rc = take_assignment(s, json_array_get(list, i), &(*out)[i], e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}
