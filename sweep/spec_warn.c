/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Warnings of a spec: tunables of one space that work against each other in the kernel, so that
 * one of them has no effect, and defaults that the search cannot try. Called by spec.c at the end;
 * they are told, not refused.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A row: both are in the space (other NULL: the first alone, without the one named in unless). */
static const struct clash {
	const char *name, *other, *unless, *sentence;
} clashes[] = {
	{"socket.receive_buffer", "net.ipv4.tcp_rmem", NULL,
	 "a receive buffer that is set switches the kernel's autotuning off: where "
	 "socket.receive_buffer is not 0, net.ipv4.tcp_rmem has no effect"},
	{"socket.send_buffer", "net.ipv4.tcp_wmem", NULL,
	 "a send buffer that is set switches the kernel's autotuning off: where "
	 "socket.send_buffer is not 0, net.ipv4.tcp_wmem has no effect"},
	{"socket.receive_lowat", "net.ipv4.tcp_rmem", NULL,
	 "socket.receive_lowat grows the receive buffer by itself and hides the default of "
	 "net.ipv4.tcp_rmem"},
	{"net.core.rmem_max", NULL, "socket.receive_buffer",
	 "net.core.rmem_max caps receive buffers that a program sets, not the autotuned ones of "
	 "net.ipv4.tcp_rmem: without socket.receive_buffer it has no effect on TCP"},
	{"net.core.wmem_max", NULL, "socket.send_buffer",
	 "net.core.wmem_max caps send buffers that a program sets, not the autotuned ones of "
	 "net.ipv4.tcp_wmem: without socket.send_buffer it has no effect on TCP"},
	{"net.core.rmem_default", NULL, NULL,
	 "net.core.rmem_default is overridden for TCP by the default of net.ipv4.tcp_rmem: it has "
	 "no effect on TCP"},
	{"net.core.wmem_default", NULL, NULL,
	 "net.core.wmem_default is overridden for TCP by the default of net.ipv4.tcp_wmem: it has "
	 "no effect on TCP"},
};

static const struct spec_tunable *find(const struct spec *s, const char *name)
{
	for (size_t i = 0; i < s->n_tunables; i++) {
		if (strcmp(s->tunables[i].target.setting.name, name) == 0) {
			return &s->tunables[i];
		}
	}
	return NULL;
}

static int add(struct spec *s, const struct spec_tunable *t, const char *sentence, struct err *e)
{
	if (s->n_warnings == SPEC_WARNINGS_MAX) {
		return 0;
	}
	char **w = &s->warnings[s->n_warnings];
	if (asprintf(w, "%s:%u:%u: %s", s->path, t->place.line, t->place.column, sentence) < 0) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	s->n_warnings++;
	return 0;
}

/* A parameter's baseline where the search itself cannot come. */
static bool is_default_outside(const struct spec_tunable *t)
{
	const struct value *v = &t->target.value;
	if (t->domain != DOMAIN_RANGE || (v->type != VALUE_INT && v->type != VALUE_REAL)) {
		return false;
	}
	double d = v->type == VALUE_REAL ? v->r : (double)v->i;
	return d < t->lo || d > t->hi;
}

int spec_warn(struct spec *s, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->n_tunables; i++) {
		if (is_default_outside(&s->tunables[i])) {
			rc = add(s, &s->tunables[i],
				 "the default is outside the range: the search does not try it", e);
		}
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(clashes); i++) {
		const struct clash *c = &clashes[i];
		const struct spec_tunable *t = find(s, c->name);
		if (t && (!c->other || find(s, c->other)) && (!c->unless || !find(s, c->unless))) {
			rc = add(s, t, c->sentence, e);
		}
	}
	return rc;
}
