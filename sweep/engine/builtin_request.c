/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine's side of stream.h: the requests to the endpoints and their answers. Decides
 * nothing about the sample; builtin.c does.
 */
#include "builtin_private.h"
#include "cleanup.h"
#include "json_util.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define OPEN_MS 8000 /* the endpoint itself gives up after 5 s */
#define READ_MS 2000
#define HUNG_MS 100 /* it gets the request, nobody waits for the answer */

/* Settings that a buffer set on the socket would hide. */
bool builtin_autotune(const struct space *space)
{
	static const char *const names[] = {
		"net.ipv4.tcp_rmem",
		"net.ipv4.tcp_wmem",
		"net.core.rmem_max",
		"net.core.wmem_max",
		"net.ipv4.tcp_moderate_rcvbuf",
		"net.ipv4.tcp_mem",
		"net.ipv4.tcp_app_win",
		"net.ipv4.tcp_adv_win_scale",
	};
	for (size_t i = 0; space && i < space->n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			if (strcmp(space->dims[i].target.setting.name, names[k]) == 0) {
				return true;
			}
		}
	}
	return false;
}

int builtin_token(char token[33], struct err *e)
{
	unsigned char random[16];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		return err_set(e, -errno, "no random numbers: %s", strerror(errno));
	}
	for (size_t i = 0; i < sizeof(random); i++) {
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	}
	return 0;
}

/* The run-scope values for this host: those of its own and those of no host in particular. */
static json_t *socket_values(const struct builtin_host *h, const struct spec_test *test,
			     const struct engine_run *run)
{
	static const char prefix[] = "socket.";
	int end = strcmp(h->side, "listen") == 0;
	json_t *values = json_object();
	for (size_t i = 0; i < test->n_fixed; i++) {
		if (test->fixed[i].end < 0 || test->fixed[i].end == end) {
			json_object_set_new(values, test->fixed[i].name,
					    json_integer(test->fixed[i].value));
		}
	}
	for (size_t i = 0; run->space && run->config && i < run->space->n; i++) {
		const struct dimension *d = &run->space->dims[i];
		const char *name = d->target.setting.name;
		bool ours = d->tunable->host < 0 || d->tunable->host == h->index;
		if (ours && strncmp(name, prefix, sizeof(prefix) - 1) == 0) {
			json_object_set_new(values, name + sizeof(prefix) - 1,
					    value_to_json(&run->config->v[i]));
		}
	}
	return values;
}

/* An agent that is gone ends the sweep; everything else is one failed sample. */
static int code_sort(struct err *e)
{
	if (e->code == -EPIPE || e->code == -EINTR || e->code == -EHOSTDOWN) {
		e->code = -EHOSTDOWN;
	} else if (e->code == -ETIMEDOUT) {
		e->code = -EIO;
	}
	return e->code;
}

static int ask(struct builtin_host *h, const struct builtin_test *t, json_t *request,
	       int timeout_ms, json_t **answer, struct err *e)
{
	struct err ping;
	int r = agent_stream(h->agent, request, timeout_ms, answer, e);
	h->is_hung = r == -ETIMEDOUT;
	if (r >= 0) {
		return 0;
	}
	/* No answer in time, and the agent itself is there: its endpoint hangs. */
	if (r == -ETIMEDOUT && agent_ping(h->agent, &ping) < 0) {
		e->code = -EHOSTDOWN;
	} else if (r == -ETIMEDOUT) {
		err_set(e, -EIO,
			"%s: its endpoint does not answer within %.0f s (test to %s port %d)",
			h->role, timeout_ms / 1000.0, t->address, t->port);
	}
	return code_sort(e);
}

static int ask_plain(struct builtin_host *h, const struct builtin_test *t, const char *op,
		     int timeout_ms, json_t **answer, struct err *e)
{
	auto_json json_t *request = json_pack("{s:s, s:s}", "op", op, "side", h->side);
	return ask(h, t, request, timeout_ms, answer, e);
}

/* The endpoints' CPUs: as asked, else, where that is the engine's choice and both ends share the
 * CPUs, stream i on CPU i at both ends: what one end leaves in the cache is there for the other,
 * and nobody has to be woken on another CPU. */
static json_t *cpus_of(const struct builtin_host *h, const struct builtin_test *t)
{
	int at = strcmp(h->side, "listen") == 0;
	json_t *list = json_array();
	for (int i = 0; i < t->test->n_cpus[at]; i++) {
		json_array_append_new(list, json_integer(t->test->cpus[at][i]));
	}
	for (int i = 0; t->test->own_cpus && t->one_host && i < agent_info(h->agent)->cpus; i++) {
		json_array_append_new(list, json_integer(i));
	}
	return list;
}

int builtin_open(struct builtin_host *h, struct builtin_test *t, const struct engine_run *run,
		 struct err *e)
{
	auto_json json_t *answer = NULL;
	auto_json json_t *request = json_pack(
		"{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:b, s:o}", "op", h->side, "type",
		t->test->type, "address", t->address, "port", t->port, "streams", t->test->streams,
		"token", t->token, "drive", t->test->light ? "light" : "classic", "autotune",
		t->autotune, "socket", socket_values(h, t->test, run));
	const struct spec_test *test = t->test;
	if (!request) {
		return err_set(e, -ENOMEM, "builtin: no memory for a request");
	}
	json_object_set_new(request, "send", json_string(*test->send ? test->send : "plain"));
	json_object_set_new(request, "receive", json_string(test->discard ? "discard" : "copy"));
	json_object_set_new(request, "rate", json_real(test->rate));
	json_object_set_new(request, "cpus", cpus_of(h, t));
	if (t->local_ports && strcmp(h->side, "connect") == 0) {
		json_object_set(request, "local_ports", t->local_ports);
	}
	/* Owed from here on: also an answer that comes too late has opened sockets. */
	h->is_open = true;
	int r = ask(h, t, request, OPEN_MS, &answer, e);
	if (r < 0) {
		return r;
	}
	t->port = (int)json_integer_value(json_object_get(answer, "port"));
	if (strcmp(h->side, "connect") == 0) {
		json_decref(t->local_ports);
		t->local_ports = json_incref(json_object_get(answer, "local_ports"));
	}
	return t->port > 0 ? 0 : err_set(e, -EPROTO, "%s: no port in its answer", h->role);
}

int builtin_start(struct builtin_host *h, const struct builtin_test *t, struct err *e)
{
	auto_json json_t *answer = NULL;
	return ask_plain(h, t, "start", OPEN_MS, &answer, e);
}

int builtin_read_host(struct builtin_host *h, const struct builtin_test *t, bool cpu,
		      struct builtin_read *out, struct err *e)
{
	json_t *answer = NULL;
	auto_json json_t *request = json_pack("{s:s, s:s, s:b}", "op", "read", "side", h->side,
					      "cpu", cpu);
	int r = ask(h, t, request, READ_MS, &answer, e);
	return r < 0 ? r : builtin_read_parse(answer, out, e);
}

void builtin_stop(struct builtin_host *h)
{
	struct err e;
	auto_json json_t *answer = NULL;
	auto_json json_t *request = json_pack("{s:s, s:s, s:b}", "op", "stop", "side", h->side,
					      "cpu", 0);
	if (h->is_open && request) {
		/* Nothing there to stop is as good as stopped. */
		agent_stream(h->agent, request, h->is_hung ? HUNG_MS : READ_MS, &answer, &e);
	}
	h->is_open = false;
}
