/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a night is to end: the user, the clock, or somebody who needs the machine. It ends
 * nothing by itself. Asked before each measurement of a night.
 */
#include "json_util.h"
#include "nightly_private.h"
#include <stdarg.h>
#include <string.h>

void night_end_with(struct night *n, const char *status, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_object_set_new(n->summary, "status", json_string(status));
	json_object_set_new(n->summary, "reason", json_text_or_null(text));
	n->w->note(n->w->ctx, text);
}

bool night_ends(struct night *n, double *left)
{
	char name[16], why[512] = "";
	if (n->w->interrupted(n->w->ctx)) {
		night_end_with(n, "interrupted", "interrupted");
		return true;
	}
	bool night = nightly_is_night(n->c, n->w->now(n->w->ctx), name, left);
	bool another = n->c->from != n->c->to && strcmp(name, n->name) != 0;
	if (!night || another) {
		night_end_with(n, n->first ? "outside the window" : "cut short",
			       n->first
				       ? "it is not night: nothing was measured"
				       : "the night is over: what is left goes on in the next one");
		return true;
	}
	n->w->in_use(n->w->ctx, &n->c->in_use, n->first, why, sizeof(why));
	if (*why) {
		night_end_with(n, n->first ? "in use" : "cut short", "this machine is in use: %s",
			       why);
		return true;
	}
	return false;
}
