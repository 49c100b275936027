/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks the endpoints of both hosts with as few and as early messages as can be: what goes to one
 * agent in a row is one line, and two agents work at the same time where the order between them
 * does not matter. Each turn of a line costs a few wake-ups of processes that compete with the
 * streams. Called by builtin.c.
 */
#include "builtin_private.h"
#include "cleanup.h"
#include "json_util.h"
#include <errno.h>
#include <string.h>

#define BATCH_CPUS_MAX 400 /* two answers of hosts with more CPUs are too long for one line */

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

/* How many from the first on go into one line. */
static size_t group_of(const struct builtin_ask *list, size_t n)
{
	size_t k = 1;
	while (k < n && list[k].h->agent == list[0].h->agent &&
	       agent_info(list[0].h->agent)->cpus <= BATCH_CPUS_MAX) {
		k++;
	}
	return k;
}

static int group_ms(const struct builtin_ask *list, size_t n)
{
	int ms = 0;
	for (size_t i = 0; i < n; i++) {
		ms += list[i].timeout_ms;
	}
	return ms;
}

static int group_send(struct builtin_ask *list, size_t n, struct err *e)
{
	auto_json json_t *batch = NULL;
	json_t *request = list[0].request;
	for (size_t i = 0; i < n; i++) {
		if (!list[i].request) {
			return err_set(e, -ENOMEM, "builtin: no memory for a request");
		}
	}
	if (n > 1) {
		json_t *all = json_array();
		for (size_t i = 0; i < n; i++) {
			json_array_append(all, list[i].request);
		}
		batch = json_pack("{s:s, s:o}", "op", "batch", "requests", all);
		request = batch;
	}
	return agent_stream_send(list[0].h->agent, request, group_ms(list, n), e);
}

static int no_answer(const struct builtin_ask *list, size_t n, const struct builtin_test *t,
		     struct err *e)
{
	struct err ping;
	/* The agent itself is there: its endpoint hangs. */
	if (agent_ping(list[0].h->agent, &ping) < 0) {
		e->code = -EHOSTDOWN;
		return e->code;
	}
	return err_set(e, -EIO, "%s: its endpoint does not answer within %g s (test to %s port %d)",
		       list[0].h->role, group_ms(list, n) / 1000.0, t->address, t->port);
}

/* It died, or died and was started again, which knows nothing of this test. */
static bool is_endpoint_gone(int code)
{
	return code == -ESRCH || code == -ENOTCONN;
}

static int group_take(struct builtin_ask *list, size_t n, const struct builtin_test *t,
		      struct err *e)
{
	auto_json json_t *answer = NULL;
	int r = agent_stream_take(list[0].h->agent, group_ms(list, n), &answer, e);
	int late = r == -ETIMEDOUT ? no_answer(list, n, t, e) : 0;
	if (is_endpoint_gone(r)) {
		r = err_set(e, -EIO, "%s: its endpoints' process is gone (test to %s port %d)",
			    list[0].h->role, t->address, t->port);
	}
	for (size_t i = 0; i < n; i++) {
		list[i].h->is_hung = r == -ETIMEDOUT;
	}
	if (r < 0) {
		return late ? late : r;
	}
	for (size_t i = 0; i < n; i++) {
		json_t *own = n > 1 ? json_array_get(json_object_get(answer, "replies"), i)
				    : answer;
		list[i].answer = json_incref(own);
		if (!own) {
			return err_set(e, -EPROTO, "%s: too few answers", list[i].h->role);
		}
	}
	return 0;
}

static int ask_in_turn(struct builtin_ask *list, size_t n, const struct builtin_test *t,
		       struct err *e)
{
	int r = 0;
	for (size_t i = 0, k; r == 0 && i < n; i += k) {
		k = group_of(list + i, n - i);
		r = group_send(list + i, k, e);
		r = r < 0 ? r : group_take(list + i, k, t, e);
	}
	return r;
}

/* At most one line an agent is under way. The first error counts; all answers are taken. */
static int ask_together(struct builtin_ask *list, size_t n, const struct builtin_test *t,
			struct err *e)
{
	struct err other = {0};
	size_t k = group_of(list, n);
	int r = group_send(list, k, e);
	int r2 = k < n ? group_send(list + k, n - k, &other) : 0;
	r = r < 0 ? r : group_take(list, k, t, e);
	if (k < n && r2 == 0) {
		r2 = group_take(list + k, n - k, t, &other);
	}
	if (r == 0 && r2 < 0) {
		*e = other;
		r = r2;
	}
	return r;
}

int builtin_ask(struct builtin_ask *list, size_t n, bool in_turn, const struct builtin_test *t,
		struct err *e)
{
	size_t first = group_of(list, n), rest = n - first;
	bool two = rest > 0 && list[first].h->agent != list[0].h->agent &&
		   group_of(list + first, rest) == rest;
	int r = in_turn || !two ? ask_in_turn(list, n, t, e) : ask_together(list, n, t, e);
	for (size_t i = 0; i < n; i++) {
		json_decref(list[i].request);
		list[i].request = NULL;
	}
	return r < 0 ? code_sort(e) : 0;
}

void builtin_ask_clear(struct builtin_ask *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_decref(list[i].answer);
		list[i].answer = NULL;
	}
}
