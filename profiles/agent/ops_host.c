/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's operations that want no session: greet, probe, streams, restore what crashed
 * runs left. Reached by dispatch.c's table.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include <errno.h>
#include <string.h>

#define STREAM_MS_MAX	 600000
#define RESTORE_WAIT_MAX 60000

int op_hello(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	int rc = ops_only_head(request, e);
	return rc ? rc : hello_fill(s, answer, e);
}

/* Several words may stand for the same: the one that is meant is told, if it does. */
static void prefer(const struct agent_state *s, const struct setting *setting, const json_t *meant,
		   struct value *present)
{
	struct value v;
	char want[SETTING_TEXT_MAX], now[SETTING_TEXT_MAX];
	if (!meant || value_from_json(meant, &v, NULL) || v.type != VALUE_TEXT) {
		return;
	}
	snprintf(want, sizeof(want), "%s", v.text);
	if (!tunable_check(setting, "", &v, NULL) &&
	    !tunable_plan(&s->place.root, setting, want, sizeof(want), NULL) &&
	    !tunable_read(&s->place.root, setting, now, sizeof(now), NULL) &&
	    value_text_equal(want, now)) {
		*present = v;
	}
}

int op_probe(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	const char *name, *device, *field;
	const json_t *meant = NULL;
	struct setting setting;
	struct tunable_range r = {0};
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:s, s:s, s:s, s?o}",
			   OPS_HEAD_INTO(h), "set", &name, "device", &device, "field", &field,
			   "meant", &meant)) {
		return ops_misunderstood(e, &why);
	}
	struct err why_not = {0};
	int rc = ops_resolve(name, field, device, &setting, e);
	if (rc == 0) {
		rc = tunable_probe(&s->place.root, &setting, field, &r, e);
	}
	if (rc) {
		return rc;
	}
	if (r.settable &&
	    (ops_check_policy(s, &setting, &why_not) || ops_guard(s, &setting, &why_not))) {
		r.settable = false;
		snprintf(r.why_not, sizeof(r.why_not), "%.159s", why_not.text);
	}
	prefer(s, &setting, meant, &r.present);
	json_t *choices = json_array();
	for (size_t i = 0; i < r.n_choices; i++) {
		json_array_append_new(choices, json_string(r.choices[i]));
	}
	auto_json json_t *told = json_pack("{s:b, s:s, s:o, s:I, s:I, s:o}", "settable", r.settable,
					   "why_not", r.why_not, "present",
					   value_to_json(&r.present), "min", (json_int_t)r.min,
					   "max", (json_int_t)r.max, "choices", choices);
	return json_object_update(answer, told);
}

/* Any request to the endpoints, as stream.h has it: the child checks it. */
int op_stream(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	json_t *inner;
	int timeout_ms, wake[2] = {s->signal_fd, s->input};
	auto_json json_t *reply = NULL;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:o, s:i}", OPS_HEAD_INTO(h),
			   "request", &inner, "timeout_ms", &timeout_ms)) {
		return ops_misunderstood(e, &why);
	}
	if (!json_is_object(inner) || timeout_ms < 0 || timeout_ms > STREAM_MS_MAX) {
		return err_usage(e, "a stream request must be an object with a sane time limit");
	}
	int rc = endpoints_start(&s->endpoints, e);
	if (rc == 0) {
		rc = endpoints_ask(&s->endpoints, inner, timeout_ms, wake, &reply, e);
	}
	rc = rc ? rc : protocol_result(reply, e);
	if (rc == 0) {
		json_object_del(reply, "id");
		json_object_del(reply, "ok");
		json_object_set(answer, "reply", reply);
	}
	return rc;
}

static int take_restore(json_t *request, int *wait_ms, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	*wait_ms = 0;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s?i}", OPS_HEAD_INTO(h),
			   "wait_ms", wait_ms)) {
		return ops_misunderstood(e, &why);
	}
	bool sane = *wait_ms >= 0 && *wait_ms <= RESTORE_WAIT_MAX;
	return sane ? 0 : err_usage(e, "a restore that waits for %d ms", *wait_ms);
}

/* Both layers of crashed runs, the upper one first. Needs no session and opens none. */
int op_restore(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	static const char *const LAYERS[] = {"sweep", "applied"};
	json_t *layers = json_array();
	int wait_ms, worst = take_restore(request, &wait_ms, e);
	json_object_set_new(answer, "layers", layers);
	for (size_t i = 0; worst != -EINVAL && i < ARRAY_SIZE(LAYERS); i++) {
		struct session_report report = {0};
		struct err why = {0};
		int rc = wait_ms ? session_await(&s->place, LAYERS[i], wait_ms, &why) : 0;
		rc = rc ? rc : session_restore(&s->place, LAYERS[i], &report, &why);
		if (report.n || report.note[0] || rc) {
			json_array_append_new(layers,
					      json_pack("{s:s, s:o, s:s}", "layer", LAYERS[i],
							"items", session_report_json(&report),
							"note", rc ? why.text : report.note));
		}
		session_report_clear(&report);
		if (rc) {
			*e = why;
			worst = rc;
		}
	}
	return worst;
}

int op_ping(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	(void)s;
	(void)answer;
	return ops_only_head(request, e);
}
