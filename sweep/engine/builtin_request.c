/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine's requests of stream.h, as JSON: what a host is to open, with which values
 * and on which CPUs. Sends nothing (builtin_ask.c does) and decides nothing about the sample.
 */
#include "builtin_private.h"
#include "cleanup.h"
#include "json_util.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

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

json_t *builtin_open_request(const struct builtin_host *h, const struct builtin_test *t,
			     const struct engine_run *run)
{
	const struct spec_test *test = t->test;
	json_t *request = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:b, s:o}", "op", h->side,
				    "type", test->type, "address", t->address, "port", t->port,
				    "streams", test->streams, "token", t->token, "drive",
				    test->light ? "light" : "classic", "autotune", t->autotune,
				    "socket", socket_values(h, test, run));
	if (!request) {
		return NULL;
	}
	json_object_set_new(request, "send", json_string(*test->send ? test->send : "plain"));
	json_object_set_new(request, "receive",
			    json_string(test->discard ? "discard"
					: test->gro   ? "gro"
						      : "copy"));
	json_object_set_new(request, "rate", json_real(test->rate));
	json_object_set_new(request, "cpus", cpus_of(h, t));
	json_t *numa = builtin_numa(h, run);
	if (numa) {
		json_object_set_new(request, "numa", numa);
	}
	if (t->local_ports && strcmp(h->side, "connect") == 0) {
		json_object_set(request, "local_ports", t->local_ports);
	}
	return request;
}

int builtin_open_answer(const struct builtin_host *h, struct builtin_test *t, const json_t *answer,
			struct err *e)
{
	t->port = (int)json_integer_value(json_object_get(answer, "port"));
	if (strcmp(h->side, "connect") == 0) {
		json_decref(t->local_ports);
		t->local_ports = json_incref(json_object_get(answer, "local_ports"));
	}
	return t->port > 0 ? 0 : err_set(e, -EPROTO, "%s: no port in its answer", h->role);
}

json_t *builtin_plain_request(const struct builtin_host *h, const char *op, bool cpu)
{
	return json_pack("{s:s, s:s, s:b}", "op", op, "side", h->side, "cpu", cpu);
}
