/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The controller's requests about values and devices: what is allowed and can be set there, setting
 * it, what is set and whether it still stands, and whether the host is fit to measure. How a
 * request travels is client.c's. Used by the commands, the trial and the engines.
 */
#include "agent.h"
#include "cleanup.h"
#include "client_private.h"
#include "guard.h"
#include "protocol.h"
#include <errno.h>
#include <stdio.h>

int agent_allow(struct agent *a, unsigned allowed, struct err *e)
{
	json_t *words = json_array();
	for (unsigned i = 0; allow_words[i]; i++) {
		if (allowed & 1u << i) {
			json_array_append_new(words, json_string(allow_words[i]));
		}
	}
	return client_call_plain(a, "allow", json_pack("{s:o}", "words", words), ANSWER_MS, e);
}

int agent_way(struct agent *a, const char *address, struct device_way *out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(a, "device", json_pack("{s:s}", "toward", address), ANSWER_MS, &answer,
			     e);
	const char *device = json_string_value(json_object_get(answer, "device"));
	if (rc == 0) {
		*out = (struct device_way){
			.own = json_is_true(json_object_get(answer, "own")),
			.direct = json_is_true(json_object_get(answer, "direct"))};
		snprintf(out->device, sizeof(out->device), "%.15s", device ? device : "");
	}
	return rc;
}

static int call_for(struct agent *a, const char *op, json_t *request, const char *key, json_t **out,
		    struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(a, op, request, RESTORE_MS, &answer, e);
	if (rc == 0) {
		*out = json_incref(json_object_get(answer, key));
		rc = *out ? 0 : err_set(e, -EBADMSG, "no \"%s\" in the answer", key);
	}
	return rc;
}

int agent_doctor(struct agent *a, const char *device, json_t **out, struct err *e)
{
	return call_for(a, "doctor", json_pack("{s:s}", "device", device), "examination", out, e);
}

int agent_owners(struct agent *a, json_t **out, struct err *e)
{
	return call_for(a, "owners", json_object(), "owners", out, e);
}

int agent_use(struct agent *a, json_t **out, struct err *e)
{
	return call_for(a, "use", json_object(), "use", out, e);
}

static int take_range(struct agent *a, const json_t *answer, struct tunable_range *out,
		      struct err *e)
{
	int settable;
	const char *why_not;
	json_t *present, *choices;
	json_int_t min, max;
	json_error_t why;
	*out = (struct tunable_range){0};
	if (json_unpack_ex((json_t *)answer, &why, 0, "{s:b, s:s, s:o, s:I, s:I, s:o}", "settable",
			   &settable, "why_not", &why_not, "present", &present, "min", &min, "max",
			   &max, "choices", &choices)) {
		return err_set(e, -EBADMSG, "host %s: its answer is not understood: %s",
			       agent_name(a), why.text);
	}
	out->settable = settable;
	snprintf(out->why_not, sizeof(out->why_not), "%s", why_not);
	out->min = min;
	out->max = max;
	for (size_t i = 0; i < json_array_size(choices) && i < TUNABLE_CHOICES_MAX; i++) {
		const char *word = json_string_value(json_array_get(choices, i));
		snprintf(out->choices[out->n_choices++], sizeof(out->choices[0]), "%s",
			 word ? word : "");
	}
	return value_from_json(present, &out->present, e);
}

int agent_probe(struct agent *a, const struct setting *s, const char *field,
		struct tunable_range *out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(
		a, "probe",
		json_pack("{s:s, s:s, s:s}", "set", s->name, "device", s->device, "field", field),
		ANSWER_MS, &answer, e);
	return rc ? rc : take_range(a, answer, out, e);
}

int agent_probe_for(struct agent *a, const struct assignment *meant, struct tunable_range *out,
		    struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = agent_probe(a, &meant->setting, meant->field, out, e);
	if (rc || meant->value.type != VALUE_TEXT || value_equal(&out->present, &meant->value) ||
	    !tunable_takes_more(meant->setting.tunable)) {
		return rc;
	}
	rc = client_call(a, "probe",
			 json_pack("{s:s, s:s, s:s, s:o}", "set", meant->setting.name, "device",
				   meant->setting.device, "field", meant->field, "meant",
				   value_to_json(&meant->value)),
			 ANSWER_MS, &answer, e);
	return rc ? rc : take_range(a, answer, out, e);
}

static json_t *json_values(const struct assignment *v, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o}", "set", v[i].setting.name,
						"device", v[i].setting.device, "field", v[i].field,
						"value", value_to_json(&v[i].value)));
	}
	return json_pack("{s:o}", "values", list);
}

/* Each that may drop the link waits for it, and once more if all is undone. */
static int patience_ms(const struct assignment *v, size_t n)
{
	int ms = RESTORE_MS;
	for (size_t i = 0; i < n; i++) {
		ms += v[i].setting.tunable->cost == COST_CALL ? 0 : 2 * PROTOCOL_CARRIER_MS;
	}
	return ms;
}

int agent_set(struct agent *a, const struct assignment *v, size_t n, struct value *effective,
	      struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(a, "set", json_values(v, n), patience_ms(v, n), &answer, e);
	const json_t *list = json_object_get(answer, "effective");
	if (rc || !effective) {
		return rc;
	}
	if (json_array_size(list) != n) {
		return err_set(e, -EBADMSG, "host %s: it set %zu values instead of %zu",
			       agent_name(a), json_array_size(list), n);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = value_from_json(json_array_get(list, i), &effective[i], e);
	}
	return rc;
}

int agent_replace(struct agent *a, const struct assignment *v, size_t n, struct err *e)
{
	return client_call_plain(a, "replace", json_values(v, n), patience_ms(v, n), e);
}

static int call_whole(struct agent *a, const char *op, json_t **out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(a, op, json_object(), ANSWER_MS, &answer, e);
	if (rc) {
		return rc;
	}
	json_object_del(answer, "id");
	json_object_del(answer, "ok");
	*out = json_incref(answer);
	return 0;
}

int agent_status(struct agent *a, json_t **out, struct err *e)
{
	return call_whole(a, "status", out, e);
}

int agent_check(struct agent *a, json_t **out, struct err *e)
{
	return call_whole(a, "check", out, e);
}
