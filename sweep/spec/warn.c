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
	{"nic.coalesce.rx_usecs", NULL, "nic.coalesce.adaptive_rx",
	 "the driver overrides nic.coalesce.rx_usecs where it moderates by itself: unless "
	 "nic.coalesce.adaptive_rx is off, it has no effect"},
	{"nic.coalesce.tx_usecs", NULL, "nic.coalesce.adaptive_tx",
	 "the driver overrides nic.coalesce.tx_usecs where it moderates by itself: unless "
	 "nic.coalesce.adaptive_tx is off, it has no effect"},
	{"nic.coalesce.rx_usecs", "nic.coalesce.adaptive_rx", NULL,
	 "where nic.coalesce.adaptive_rx is on, the driver overrides nic.coalesce.rx_usecs"},
	{"nic.coalesce.tx_usecs", "nic.coalesce.adaptive_tx", NULL,
	 "where nic.coalesce.adaptive_tx is on, the driver overrides nic.coalesce.tx_usecs"},
	{"nic.pause.rx", NULL, "nic.pause.autoneg",
	 "where nic.pause.autoneg is on, both ends agree, and nic.pause.rx has no effect"},
	{"nic.pause.tx", NULL, "nic.pause.autoneg",
	 "where nic.pause.autoneg is on, both ends agree, and nic.pause.tx has no effect"},
	{"xps.cpus", "nic.channels.tx", NULL,
	 "a change of nic.channels.tx throws the CPUs of XPS away: they are set again after it, "
	 "and queues that are gone take none"},
	{"xps.cpus", "nic.channels.combined", NULL,
	 "a change of nic.channels.combined throws the CPUs of XPS away: they are set again after "
	 "it, and queues that are gone take none"},
	{"nic.rss_queues", "nic.channels.combined", NULL,
	 "nic.rss_queues cannot spread over more queues than nic.channels.combined leaves: such "
	 "configurations fail"},
	{"nic.rss_queues", "nic.channels.rx", NULL,
	 "nic.rss_queues cannot spread over more queues than nic.channels.rx leaves: such "
	 "configurations fail"},
	{"qdisc.root.maxrate", "socket.pacing_rate", NULL,
	 "a connection is held to the lower of qdisc.root.maxrate and socket.pacing_rate"},
	{"route.congctl", "net.ipv4.tcp_congestion_control", NULL,
	 "where route.congctl is not default, net.ipv4.tcp_congestion_control has no effect on "
	 "this route"},
	{"link.gro_flush_timeout", NULL, "link.napi_defer_hard_irqs",
	 "link.gro_flush_timeout keeps the interrupt off only where link.napi_defer_hard_irqs is "
	 "not 0"},
	{"napi.gro_flush_timeout", NULL, "napi.defer_hard_irqs",
	 "napi.gro_flush_timeout keeps the interrupt off only where napi.defer_hard_irqs is not 0"},
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

/* It counts only beside one value of the other: the spec has seen to it. */
static bool is_conditional(const struct spec *s, const struct spec_tunable *t,
			   const struct clash *c)
{
	const struct spec_tunable *o = t->when.tunable < 0 ? NULL : &s->tunables[t->when.tunable];
	return o && c->other && strcmp(o->target.setting.name, c->other) == 0;
}

/* What stands alone in its row is so for TCP only; datagrams do use those defaults. */
static bool is_about(const struct spec *s, const struct clash *c)
{
	return c->other || c->unless || strncmp(s->test.type, "udp", 3) != 0;
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
		if (t && is_about(s, c) && !is_conditional(s, t, c) &&
		    (!c->other || find(s, c->other)) && (!c->unless || !find(s, c->unless))) {
			rc = add(s, t, c->sentence, e);
		}
	}
	return rc;
}
