/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bringing up the hosts of a spec and putting them back. It prints nothing and measures nothing.
 */
#include "hosts.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int make_lab(struct hosts *h, struct err *e)
{
	for (size_t i = 0; i < h->spec->n_hosts; i++) {
		if (h->spec->hosts[i].via.kind == VIA_LAB) {
			int rc = launcher_lab_create(h->launcher, &h->spec->link, &h->lab, e);
			h->has_lab = rc == 0;
			return rc;
		}
	}
	return 0;
}

static bool same_namespace(const struct agent *a, const struct agent *b)
{
	const struct agent_info *x = agent_info(a), *y = agent_info(b);
	return strcmp(x->boot_id, y->boot_id) == 0 && x->netns_cookie == y->netns_cookie;
}

/* The spec's address, else the lab's, else what the host says of itself; loopback within one
 * namespace. */
static void choose_address(struct hosts *h)
{
	const struct spec *spec = h->spec;
	if (spec->test.to < 0 || spec->test.from < 0) {
		return;
	}
	const struct spec_host *to = &spec->hosts[spec->test.to];
	const struct agent *receiver = h->agents[spec->test.to];
	const char *address = to->address;
	if (!*address && to->via.kind == VIA_LAB) {
		address = h->lab.address[to->via.lab_end];
	}
	if (!*address) {
		address = same_namespace(h->agents[spec->test.from], receiver)
				  ? "127.0.0.1"
				  : agent_info(receiver)->address;
	}
	snprintf(h->receiver_address, sizeof(h->receiver_address), "%s", address);
}

int hosts_open(const struct spec *spec, struct launcher *l, struct hosts *out, struct err *e)
{
	*out = (struct hosts){.spec = spec, .launcher = l};
	int rc = make_lab(out, e);
	for (size_t i = 0; rc == 0 && i < spec->n_hosts; i++) {
		rc = agent_connect(l, &spec->hosts[i].via, spec->hosts[i].name, &out->agents[i], e);
	}
	if (rc < 0) {
		struct err ignored = {0};
		hosts_close(out, NULL, &ignored);
		return rc;
	}
	choose_address(out);
	return 0;
}

int hosts_probe(void *ctx, int host, const struct setting *s, const char *field,
		struct tunable_range *out, struct err *e)
{
	struct hosts *h = ctx;
	if (host < 0 || !h->agents[host]) {
		return err_set(e, -ENODEV, "%s: no host to ask", s->name);
	}
	return agent_probe(h->agents[host], s, field, out, e);
}

/* The distinct settings of one host in the space. */
static size_t settings_of(const struct space *space, int host, struct setting *out)
{
	size_t n = 0;
	for (size_t i = 0; i < space->n; i++) {
		const struct dimension *d = &space->dims[i];
		bool seen = d->tunable->host != host ||
			    d->target.setting.tunable->scope != SCOPE_HOST;
		for (size_t k = 0; k < n && !seen; k++) {
			seen = setting_same(&out[k], &d->target.setting);
		}
		if (!seen) {
			out[n++] = d->target.setting;
		}
	}
	return n;
}

int hosts_open_sessions(struct hosts *h, const struct space *space, json_t **restored,
			struct err *e)
{
	struct setting settings[SPEC_TUNABLES_MAX];
	if (restored) {
		*restored = json_object();
	}
	for (size_t i = 0; i < h->spec->n_hosts; i++) {
		json_t *one = NULL;
		size_t n = settings_of(space, (int)i, settings);
		int rc = agent_open(h->agents[i], "sweep", h->spec->name, settings, n, &one, e);
		if (one && restored && json_array_size(one) > 0) {
			json_object_set(*restored, h->spec->hosts[i].name, one);
		}
		json_decref(one);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

/* Keeps the first error, but prefers one that says something was not restored. */
static void keep_worst(struct err *all, int *rc_all, const struct err *one, int rc)
{
	if (rc < 0 && (*rc_all == 0 || (one->class == ERR_RESTORE && all->class != ERR_RESTORE))) {
		*all = *one;
		*rc_all = rc;
	}
}

int hosts_close(struct hosts *h, json_t **report, struct err *e)
{
	int rc_all = 0;
	if (report) {
		*report = json_object();
	}
	for (size_t i = 0; i < h->spec->n_hosts; i++) {
		struct err one = {0};
		json_t *items = NULL;
		int rc = agent_close(h->agents[i], &items, &one);
		h->agents[i] = NULL;
		keep_worst(e, &rc_all, &one, rc);
		if (items && report) {
			json_object_set(*report, h->spec->hosts[i].name, items);
		}
		json_decref(items);
	}
	if (h->has_lab) {
		struct err one = {0};
		int rc = launcher_lab_destroy(h->launcher, &one);
		h->has_lab = false;
		keep_worst(e, &rc_all, &one, rc);
	}
	return rc_all;
}

json_t *hosts_fingerprints(const struct hosts *h)
{
	json_t *all = json_object();
	for (size_t i = 0; i < h->spec->n_hosts; i++) {
		const struct agent_info *a = h->agents[i] ? agent_info(h->agents[i]) : NULL;
		if (!a) {
			continue;
		}
		json_t *one = a->host ? json_deep_copy(a->host) : json_object();
		json_object_set_new(one, "hostname", json_string(a->hostname));
		json_object_set_new(one, "kernel", json_string(a->kernel));
		json_object_set_new(one, "boot_id", json_string(a->boot_id));
		json_object_set_new(one, "cpus", json_integer(a->cpus));
		json_object_set_new(all, h->spec->hosts[i].name, one);
	}
	return all;
}
