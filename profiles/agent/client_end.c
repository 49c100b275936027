/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of an agent's line, as the controller sees it: an orderly one, or what can be learned of
 * one that was cut. How a request travels is client.c's. Used by whoever has connected an agent.
 */
#include "agent.h"
#include "cleanup.h"
#include "client_private.h"
#include "protocol.h"
#include <errno.h>

#define GUARDIAN_MS 10000 /* a killed agent's guardian may be putting back right now */
#define LAST_MS	    2000  /* last words may be on their way */

int agent_restore(struct agent *a, int wait_ms, json_t **layers, struct err *e)
{
	auto_json json_t *answer = NULL;
	int rc = client_call(a, "restore", json_pack("{s:i}", "wait_ms", wait_ms),
			     RESTORE_MS + wait_ms, &answer, e);
	if (layers) {
		*layers = json_incref(json_object_get(answer, "layers"));
	}
	return rc;
}

/* The agent did not say how it ended, and something may have been set: another one there is asked
 * to put back what is left. 0 if it did, or if the guardian had. */
static int ask_again(const struct agent *a, json_t **report, struct err *e)
{
	struct agent *other;
	auto_json json_t *layers = NULL;
	json_t *items = json_array(), *layer;
	size_t i;
	int rc = agent_connect(a->launcher, &a->via, a->name, &other, e);
	if (rc == 0) {
		rc = agent_restore(other, GUARDIAN_MS, &layers, e);
		client_release(
			other); /* nothing is open there: it leaves at the end of its input */
	}
	json_array_foreach(layers, i, layer)
	{
		json_array_extend(items, json_object_get(layer, "items"));
	}
	if (report) {
		*report = json_incref(items);
	}
	json_decref(items);
	return rc;
}

/* What it may have said before the line was cut. */
static bool hear_end(struct agent *a)
{
	struct err none = {0};
	json_t *line = NULL;
	while (!a->end && channel_recv(&a->channel, LAST_MS, &line, &none) == 0) {
		client_keep_end(a, line);
		json_decref(line);
	}
	return a->end != NULL;
}

/* How it left by its own words, else by those of another agent there. */
static int learn_end(struct agent *a, json_t **report, struct err *e)
{
	if (!hear_end(a)) {
		return ask_again(a, report, e);
	}
	client_take_report(a->end, report);
	return protocol_result(a->end, e);
}

static int lost_end(struct agent *a, json_t **report, struct err *e)
{
	struct err cause = *e, again = {0};
	if (!a->open) {
		return 0;
	}
	if (learn_end(a, report, &again) == 0) {
		return err_set(e, -EHOSTDOWN, "%.300s; what it had set was put back", cause.text);
	}
	err_set(e, -EIO, "%.300s; whether everything was put back is not known here: %.300s",
		cause.text, again.text);
	e->class = ERR_RESTORE;
	return e->code;
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
	int rc = client_call(a, "bye", json_object(), client_restore_ms(a), &answer, e);
	client_take_report(answer, report);
	if (rc && !answer) {
		rc = lost_end(a, report, e);
	}
	client_release(a);
	return rc;
}
