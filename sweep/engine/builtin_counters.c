/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a host has counted beside the sockets (its interface, the protocols, the CPUs' input queues)
 * as a series over the sample. Pure; builtin_pair.c fills it.
 */
#include "builtin_private.h"
#include "json_util.h"
#include <math.h>

void builtin_counters_add(struct builtin_counters *c, const struct builtin_read *r)
{
	json_t *host = json_object_get(r->json, "host");
	/* Never full in a sample that keeps its time. */
	if (host && c->n < BUILTIN_COUNTERS_MAX) {
		c->point[c->n].t = r->t;
		c->point[c->n++].host = json_incref(host);
	}
}

void builtin_counters_clear(struct builtin_counters *c)
{
	for (size_t i = 0; i < c->n; i++) {
		json_decref(c->point[i].host);
	}
	c->n = 0;
}

static double growth(const struct builtin_counters *c, size_t i, const char *name)
{
	return json_get_number(c->point[i].host, name) -
	       json_get_number(c->point[i - 1].host, name);
}

static json_t *column(const struct builtin_counters *c, const char *name)
{
	json_t *list = json_array();
	bool grown = false;
	for (size_t i = 1; i < c->n; i++) {
		double d = growth(c, i, name);
		grown |= d > 0;
		json_array_append_new(list, isfinite(d) ? json_integer(llround(d)) : json_null());
	}
	if (!grown) {
		json_decref(list);
		return NULL;
	}
	return list;
}

json_t *builtin_counters_json(const struct builtin_counters *c, double start)
{
	const char *name;
	json_t *v, *list, *t = json_array(), *o = json_object();
	json_object_set_new(o, "begins", json_number_or_null(c->n ? c->point[0].t - start : NAN));
	json_object_set_new(o, "t", t);
	for (size_t i = 1; i < c->n; i++) {
		json_array_append_new(t, json_number_or_null(c->point[i].t - c->point[0].t));
	}
	json_object_foreach(c->n > 2 ? c->point[1].host : NULL, name, v)
	{
		list = json_is_number(v) ? column(c, name) : NULL;
		if (list) {
			json_object_set_new(o, name, list);
		}
	}
	if (c->n > 2) {
		return o;
	}
	json_decref(o);
	return json_null();
}
