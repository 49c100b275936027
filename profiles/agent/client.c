/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The controller's end of an agent's line: one request and its answer at a time, each wait with a
 * limit, each error with the host's name. It decides nothing. Used by the commands, the trial and
 * the engines.
 */
#include "agent.h"
#include "cleanup.h"
#include "clock_ms.h"
#include "guard.h"
#include "protocol.h"
#include <errno.h>
#include <string.h>

#define HELLO_MS   30000 /* a log-in over ssh may take its time */
#define ANSWER_MS  10000
#define RESTORE_MS 30000 /* many settings, each read back */
#define SLACK_MS   2000	 /* a stream's own limit comes first */

struct agent {
	char name[64];
	int in, out;
	pid_t pid;
	struct channel channel;
	json_int_t id;
	bool open; /* something may be set there */
	struct agent_info info;
};

/* The answer to the last request; those that come too late for theirs are passed over. */
static int await_answer(struct agent *a, int timeout_ms, json_t **answer, struct err *e)
{
	int64_t deadline = clock_ms() + timeout_ms;
	for (;;) {
		int64_t left = deadline - clock_ms();
		int rc = channel_recv(&a->channel, left > 0 ? (int)left : 0, answer, e);
		if (rc == -ETIMEDOUT) {
			return err_set(e, -EHOSTDOWN, "host %s: no answer within %g s", a->name,
				       timeout_ms / 1000.0);
		}
		if (rc == -EPIPE) {
			return err_set(e, -EHOSTDOWN, "host %s: the agent has gone", a->name);
		}
		if (rc) {
			err_wrap(e, "host %s", a->name);
			return rc;
		}
		if (json_integer_value(json_object_get(*answer, "id")) == a->id) {
			return 0;
		}
		json_decref(*answer);
		*answer = NULL;
	}
}

/* Takes the request. */
static int call_send(struct agent *a, const char *op, json_t *request, struct err *e)
{
	auto_json json_t *mine = request;
	if (!request) {
		return err_usage(e, "host %s: a name that is not UTF-8", a->name);
	}
	json_object_set_new(mine, "v", json_integer(PROTOCOL_VERSION));
	json_object_set_new(mine, "id", json_integer(++a->id));
	json_object_set_new(mine, "op", json_string(op));
	int rc = channel_send(&a->channel, mine, e);
	if (rc == -EPIPE) {
		return err_set(e, -EHOSTDOWN, "host %s: the agent has gone", a->name);
	}
	if (rc) {
		err_wrap(e, "host %s", a->name);
	}
	return rc;
}

/* *answer is the caller's, and there also with an error that the host told. */
static int call_take(struct agent *a, int timeout_ms, json_t **answer, struct err *e)
{
	int rc = await_answer(a, timeout_ms, answer, e);
	if (rc) {
		return rc;
	}
	rc = protocol_result(*answer, e);
	if (rc) {
		err_wrap(e, "host %s", a->name);
	}
	return rc;
}

/* Takes the request. *answer is the caller's, and there also with an error that the host told. */
static int call(struct agent *a, const char *op, json_t *request, int timeout_ms, json_t **answer,
		struct err *e)
{
	*answer = NULL;
	int rc = call_send(a, op, request, e);
	return rc ? rc : call_take(a, timeout_ms, answer, e);
}

static int call_plain(struct agent *a, const char *op, json_t *request, int timeout_ms,
		      struct err *e)
{
	auto_json json_t *answer = NULL;
	return call(a, op, request, timeout_ms, &answer, e);
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static int take_info(struct agent *a, const json_t *answer, struct err *e)
{
	struct agent_info *i = &a->info;
	const char *version, *boot_id, *hostname, *kernel, *address, *path;
	json_int_t cookie;
	json_error_t why;
	if (json_unpack_ex((json_t *)answer, &why, 0,
			   "{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:O}", "version", &version,
			   "boot_id", &boot_id, "hostname", &hostname, "kernel", &kernel, "address",
			   &address, "netns_path", &path, "netns_cookie", &cookie, "cpus", &i->cpus,
			   "host", &i->host)) {
		return err_set(e, -EBADMSG, "host %s: its greeting is not understood: %s", a->name,
			       why.text);
	}
	copy_text(i->version, sizeof(i->version), version);
	copy_text(i->boot_id, sizeof(i->boot_id), boot_id);
	copy_text(i->hostname, sizeof(i->hostname), hostname);
	copy_text(i->kernel, sizeof(i->kernel), kernel);
	copy_text(i->address, sizeof(i->address), address);
	copy_text(i->netns_path, sizeof(i->netns_path), path);
	i->netns_cookie = (uint64_t)cookie;
	return 0;
}

static void release(struct agent *a)
{
	channel_clear(&a->channel);
	cleanup_close(&a->in);
	cleanup_close(&a->out);
	json_decref(a->info.host);
	free(a);
}

static int greet(struct agent *a, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = channel_init(&a->channel, a->out, a->in);
	if (rc) {
		return err_set(e, rc, "no memory");
	}
	rc = call(a, "hello", json_object(), HELLO_MS, &answer, e);
	return rc ? rc : take_info(a, answer, e);
}

int agent_connect(struct launcher *l, const struct host_via *via, const char *name,
		  struct agent **out, struct err *e)
{
	struct agent *a = calloc(1, sizeof(*a));
	if (!a) {
		return err_set(e, -ENOMEM, "no memory");
	}
	a->in = a->out = -1;
	snprintf(a->name, sizeof(a->name), "%s", name);
	int rc = launcher_open_agent(l, via, &a->in, &a->out, &a->pid, e);
	if (rc) {
		err_wrap(e, "host %s", name);
	} else {
		rc = greet(a, e);
	}
	if (rc) {
		release(a);
		return rc;
	}
	*out = a;
	return 0;
}

const struct agent_info *agent_info(const struct agent *a)
{
	return &a->info;
}

const char *agent_name(const struct agent *a)
{
	return a->name;
}

int agent_open(struct agent *a, const char *layer, const char *profile,
	       const struct setting *settings, size_t n, json_t **restored, struct err *e)
{
	auto_json json_t *answer = NULL;
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(list, json_pack("{s:s, s:s}", "set", settings[i].name,
						      "device", settings[i].device));
	}
	a->open = true;
	int rc = call(a, "open",
		      json_pack("{s:s, s:s, s:o}", "layer", layer, "profile",
				profile ? profile : "", "settings", list),
		      RESTORE_MS, &answer, e);
	if (restored) {
		*restored = json_incref(json_object_get(answer, "restored"));
	}
	return rc;
}

int agent_allow(struct agent *a, unsigned allowed, struct err *e)
{
	json_t *words = json_array();
	for (unsigned i = 0; allow_words[i]; i++) {
		if (allowed & 1u << i) {
			json_array_append_new(words, json_string(allow_words[i]));
		}
	}
	return call_plain(a, "allow", json_pack("{s:o}", "words", words), ANSWER_MS, e);
}

int agent_device(struct agent *a, const char *address, char *name, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call(a, "device", json_pack("{s:s}", "toward", address), ANSWER_MS, &answer, e);
	const char *device = json_string_value(json_object_get(answer, "device"));
	if (rc == 0) {
		snprintf(name, IF_NAMESIZE, "%.15s", device ? device : "");
	}
	return rc;
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
		return err_set(e, -EBADMSG, "host %s: its answer is not understood: %s", a->name,
			       why.text);
	}
	out->settable = settable;
	copy_text(out->why_not, sizeof(out->why_not), why_not);
	out->min = min;
	out->max = max;
	for (size_t i = 0; i < json_array_size(choices) && i < TUNABLE_CHOICES_MAX; i++) {
		const char *word = json_string_value(json_array_get(choices, i));
		copy_text(out->choices[out->n_choices++], sizeof(out->choices[0]),
			  word ? word : "");
	}
	return value_from_json(present, &out->present, e);
}

int agent_probe(struct agent *a, const struct setting *s, const char *field,
		struct tunable_range *out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call(
		a, "probe",
		json_pack("{s:s, s:s, s:s}", "set", s->name, "device", s->device, "field", field),
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

int agent_set(struct agent *a, const struct assignment *v, size_t n, struct value *effective,
	      struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call(a, "set", json_values(v, n), RESTORE_MS, &answer, e);
	const json_t *list = json_object_get(answer, "effective");
	if (rc || !effective) {
		return rc;
	}
	if (json_array_size(list) != n) {
		return err_set(e, -EBADMSG, "host %s: it set %zu values instead of %zu", a->name,
			       json_array_size(list), n);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = value_from_json(json_array_get(list, i), &effective[i], e);
	}
	return rc;
}

int agent_replace(struct agent *a, const struct assignment *v, size_t n, struct err *e)
{
	return call_plain(a, "replace", json_values(v, n), RESTORE_MS, e);
}

static void take_report(const json_t *answer, json_t **report)
{
	if (report) {
		*report = json_incref(json_object_get(answer, "report"));
	}
}

int agent_rollback(struct agent *a, bool force, json_t **report, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call(a, "rollback", json_pack("{s:b}", "force", force), RESTORE_MS, &answer, e);
	take_report(answer, report);
	return rc;
}

int agent_commit(struct agent *a, struct err *e)
{
	return call_plain(a, "commit", json_object(), ANSWER_MS, e);
}

static int call_whole(struct agent *a, const char *op, json_t **out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call(a, op, json_object(), ANSWER_MS, &answer, e);
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

int agent_stream_send(struct agent *a, json_t *request, int timeout_ms, struct err *e)
{
	json_t *wrapped = json_pack("{s:O, s:i}", "request", request, "timeout_ms", timeout_ms);
	return call_send(a, "stream", wrapped, e);
}

int agent_stream_take(struct agent *a, int timeout_ms, json_t **reply, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call_take(a, timeout_ms + SLACK_MS, &answer, e);
	json_t *inner = json_object_get(answer, "reply");
	if (rc == 0 && !json_is_object(inner)) {
		rc = err_set(e, -EBADMSG, "host %s: its answer is not understood", a->name);
	}
	if (rc == 0 && reply) {
		*reply = json_incref(inner);
	}
	return rc;
}

int agent_stream(struct agent *a, json_t *request, int timeout_ms, json_t **reply, struct err *e)
{
	int rc = agent_stream_send(a, request, timeout_ms, e);
	return rc ? rc : agent_stream_take(a, timeout_ms, reply, e);
}

int agent_settle(struct agent *a, struct err *e)
{
	return call_plain(a, "settle", json_object(), ANSWER_MS, e);
}

static int call_for(struct agent *a, const char *op, json_t *request, const char *key,
		    json_t **out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = call(a, op, request, RESTORE_MS, &answer, e);
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

int agent_ping(struct agent *a, struct err *e)
{
	return call_plain(a, "ping", json_object(), ANSWER_MS, e);
}

/* Where the agent did not say how it ended, and something may have been set: nobody knows here. */
static int unknown_end(struct err *e)
{
	struct err cause = *e;
	int rc = err_set(e, -EIO,
			 "%.300s; whether everything was put back is not known here: the next "
			 "command on that host makes sure",
			 cause.text);
	e->class = ERR_RESTORE;
	return rc;
}

int agent_close(struct agent *a, json_t **report, struct err *e)
{
	auto_json json_t *answer = NULL;
	if (report) {
		*report = NULL;
	}
	if (!a) {
		return 0;
	}
	int rc = call(a, "bye", json_object(), RESTORE_MS, &answer, e);
	take_report(answer, report);
	if (rc && !answer) {
		rc = a->open ? unknown_end(e) : 0;
	}
	release(a);
	return rc;
}
