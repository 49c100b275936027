/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The controller's end of an agent's line: one request and its answer at a time, each wait with a
 * limit, each error with the host's name. It decides nothing. Used by the commands, the trial and
 * the engines.
 */
#include "agent.h"
#include "cleanup.h"
#include "client_private.h"
#include "clock_ms.h"
#include "protocol.h"
#include <errno.h>
#include <string.h>

#define HELLO_MS 30000 /* a log-in over ssh may take its time */
#define SLACK_MS 2000  /* a stream's own limit comes first */

void client_keep_end(struct agent *a, json_t *line)
{
	const char *op = json_string_value(json_object_get(line, "op"));
	if (op && strcmp(op, "end") == 0) {
		json_decref(a->end);
		a->end = json_incref(line);
	}
}

void agent_wait_with(struct agent *a, struct agent *const *others, size_t n)
{
	a->others = others;
	a->n_others = n;
}

/* Whether they are still there is asked by whoever wants something of them. */
static void keep_others(const struct agent *a)
{
	for (size_t i = 0; i < a->n_others; i++) {
		struct agent *o = a->others[i];
		if (o && o != a && o->open && !o->asked) {
			client_call_plain(o, "ping", json_object(), PROTOCOL_HEARTBEAT_MS, NULL);
		}
	}
}

/* The answer to the last request; those that come too late for theirs are passed over. */
static int await_answer(struct agent *a, int timeout_ms, json_t **answer, struct err *e)
{
	int64_t deadline = clock_ms() + timeout_ms;
	for (;;) {
		int64_t left = deadline - clock_ms(), slice = left > 0 ? left : 0;
		bool more = a->n_others > 0 && left > PROTOCOL_HEARTBEAT_MS;
		slice = more ? PROTOCOL_HEARTBEAT_MS : slice;
		int rc = channel_recv(&a->channel, (int)slice, answer, e);
		if (rc == -ETIMEDOUT && more) {
			keep_others(a);
			continue;
		}
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
		client_keep_end(a, *answer);
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
	a->asked = rc == 0;
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
	a->asked = false;
	if (rc) {
		return rc;
	}
	rc = protocol_result(*answer, e);
	if (rc) {
		err_wrap(e, "host %s", a->name);
	}
	return rc;
}

int client_call(struct agent *a, const char *op, json_t *request, int timeout_ms, json_t **answer,
		struct err *e)
{
	*answer = NULL;
	int rc = call_send(a, op, request, e);
	return rc ? rc : call_take(a, timeout_ms, answer, e);
}

int client_call_plain(struct agent *a, const char *op, json_t *request, int timeout_ms,
		      struct err *e)
{
	auto_json json_t *answer = NULL;
	return client_call(a, op, request, timeout_ms, &answer, e);
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
			   "{s:s, s:s, s:s, s:s, s:s, s:s, s:O, s:I, s:i, s:O}", "version",
			   &version, "boot_id", &boot_id, "hostname", &hostname, "kernel", &kernel,
			   "address", &address, "netns_path", &path, "addresses", &i->addresses,
			   "netns_cookie", &cookie, "cpus", &i->cpus, "host", &i->host)) {
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

void client_release(struct agent *a)
{
	for (char **w = a->via.argv; w && *w; w++) {
		free(*w);
	}
	free(a->via.argv);
	channel_clear(&a->channel);
	cleanup_close(&a->in);
	cleanup_close(&a->out);
	json_decref(a->end);
	json_decref(a->info.host);
	json_decref(a->info.addresses);
	free(a);
}

static int greet(struct agent *a, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = channel_init(&a->channel, a->out, a->in);
	if (rc) {
		return err_set(e, rc, "no memory");
	}
	rc = client_call(a, "hello", json_object(), HELLO_MS, &answer, e);
	return rc ? rc : take_info(a, answer, e);
}

static int keep_via(struct agent *a, const struct host_via *via)
{
	size_t n = 0;
	a->via = *via;
	while (via->argv && via->argv[n]) {
		n++;
	}
	a->via.argv = calloc(n + 1, sizeof(char *));
	for (size_t i = 0; a->via.argv && i < n; i++) {
		a->via.argv[i] = strdup(via->argv[i]);
		if (!a->via.argv[i]) {
			return -ENOMEM;
		}
	}
	return a->via.argv ? 0 : -ENOMEM;
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
	a->launcher = l;
	int rc = keep_via(a, via) ? err_set(e, -ENOMEM, "no memory") : 0;
	rc = rc ? rc : launcher_open_agent(l, via, &a->in, &a->out, &a->pid, e);
	if (rc) {
		err_wrap(e, "host %s", name);
	} else {
		rc = greet(a, e);
	}
	if (rc) {
		client_release(a);
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
	for (size_t i = 0; i < n; i++) {
		a->links += settings[i].tunable->cost != COST_CALL;
	}
	int rc = client_call(a, "open",
			     json_pack("{s:s, s:s, s:o}", "layer", layer, "profile",
				       profile ? profile : "", "settings", list),
			     RESTORE_MS, &answer, e);
	if (restored) {
		*restored = json_incref(json_object_get(answer, "restored"));
	}
	return rc;
}

void client_take_report(const json_t *answer, json_t **report)
{
	if (report) {
		*report = json_incref(json_object_get(answer, "report"));
	}
}

int agent_rollback(struct agent *a, bool force, json_t **report, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(a, "rollback", json_pack("{s:b}", "force", force),
			     client_restore_ms(a), &answer, e);
	client_take_report(answer, report);
	return rc;
}

int agent_commit(struct agent *a, struct err *e)
{
	return client_call_plain(a, "commit", json_object(), ANSWER_MS, e);
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
	return client_call_plain(a, "settle", json_object(), ANSWER_MS, e);
}

int agent_ping(struct agent *a, struct err *e)
{
	return client_call_plain(a, "ping", json_object(), ANSWER_MS, e);
}
