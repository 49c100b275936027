/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bringing up the hosts of a spec and putting them back. It prints nothing and measures nothing.
 */
#include "hosts.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

void hosts_push_agents(struct spec *spec)
{
	for (size_t i = 0; i < spec->n_hosts; i++) {
		struct host_via *via = &spec->hosts[i].via;
		via->push = via->kind == VIA_COMMAND && !*via->agent;
	}
}

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

/* Two hosts of the spec that are reached alike are one place, and have one session. */
static bool same_place(const struct host_via *a, const struct host_via *b)
{
	if (a->kind != b->kind) {
		return false;
	}
	return a->kind == VIA_LOCAL || (a->kind == VIA_LAB && a->lab_end == b->lab_end) ||
	       (a->kind == VIA_NETNS && strcmp(a->netns, b->netns) == 0);
}

/* The agent of an earlier host that is the same place. */
static struct agent *shared_agent(const struct hosts *h, size_t host)
{
	for (size_t i = 0; i < host; i++) {
		if (same_place(&h->spec->hosts[i].via, &h->spec->hosts[host].via)) {
			return h->agents[i];
		}
	}
	return NULL;
}

/* An agent that leaves before its first word was not there: the transport's own words stand on
 * standard error. What is no word of its own was somebody else's. */
static int tell_missing(const struct spec_host *host, int rc, struct err *e)
{
	struct err cause = *e;
	if (rc == -EBADMSG && host->via.kind == VIA_COMMAND) {
		return err_set(e, rc,
			       "%.400s: does something else write there first (a start file of the "
			       "shell, a banner)? What answers must be tunesweep-agent alone",
			       cause.text);
	}
	if (rc != -EHOSTDOWN || host->via.kind != VIA_COMMAND || host->via.push) {
		return rc;
	}
	return err_set(e, rc,
		       "%.400s before it said a word: is the host reached, and is %s there? "
		       "('agent:' names its path on that host, --push-agent takes it along)",
		       cause.text, *host->via.agent ? host->via.agent : "tunesweep-agent");
}

static int check_version(const struct spec_host *host, const struct agent *a, struct err *e)
{
	const char *version = agent_info(a)->version;
	return strcmp(version, TUNESWEEP_VERSION) == 0
		       ? 0
		       : err_set(e, -EPROTO,
				 "host %s: its agent is of version %s, this is %s: install the "
				 "same there, or take it along with --push-agent",
				 host->name, version, TUNESWEEP_VERSION);
}

static int connect_agent(struct hosts *h, size_t i, struct err *e)
{
	const struct spec_host *host = &h->spec->hosts[i];
	h->agents[i] = shared_agent(h, i);
	if (h->agents[i]) {
		return 0;
	}
	int rc = agent_connect(h->launcher, &host->via, host->name, &h->agents[i], e);
	return rc ? tell_missing(host, rc, e) : check_version(host, h->agents[i], e);
}

int hosts_open(const struct spec *spec, struct launcher *l, struct hosts *out, struct err *e)
{
	*out = (struct hosts){.spec = spec, .launcher = l};
	if (spec->slurm_pairs && !spec->pairs) {
		return err_usage(e, "pool: slurm: only run gets nodes from Slurm; name hosts here");
	}
	int rc = make_lab(out, e);
	for (size_t i = 0; rc == 0 && i < spec->n_hosts; i++) {
		rc = connect_agent(out, i, e);
		rc = rc ? rc : agent_allow(out->agents[i], spec->allow, e);
	}
	if (rc < 0) {
		struct err ignored = {0};
		hosts_close(out, NULL, &ignored);
		return rc;
	}
	hosts_choose_address(out);
	return 0;
}

static int find_device(struct hosts *h, const struct spec *spec, struct spec_tunable *t,
		       struct err *e)
{
	struct device_way way;
	struct setting with;
	if (!*h->receiver_address) {
		return spec_error(spec, t->place, e,
				  "device: auto wants a test between hosts; name the device");
	}
	int rc = agent_way(h->agents[t->host], h->receiver_address, &way, e);
	rc = rc ? rc : tunable_resolve(t->target.setting.name, "", way.device, &with, e);
	if (rc) {
		return err_wrap(e, "%s on host %s, device: auto", t->target.setting.name,
				spec->hosts[t->host].name);
	}
	t->target.setting = with;
	return 0;
}

int hosts_find_devices(struct hosts *h, struct spec *spec, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < spec->n_tunables; i++) {
		struct spec_tunable *t = &spec->tunables[i];
		if (t->device_auto && t->host >= 0) {
			rc = find_device(h, spec, t, e);
		}
	}
	return rc;
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

static bool is_set_on(const struct hosts *h, const struct dimension *d, const struct agent *agent)
{
	return d->tunable->host >= 0 && h->agents[d->tunable->host] == agent &&
	       d->target.setting.tunable->scope == SCOPE_HOST;
}

/* One setting under two names of one place would be overwritten in turns. */
static int check_clash(const struct hosts *h, const struct dimension *a, const struct dimension *b,
		       struct err *e)
{
	if (a->tunable->host == b->tunable->host ||
	    !setting_same(&a->target.setting, &b->target.setting)) {
		return 0;
	}
	return spec_error(h->spec, b->tunable->place, e,
			  "%s is set on %s and %s, which are one place", b->target.setting.name,
			  h->spec->hosts[a->tunable->host].name,
			  h->spec->hosts[b->tunable->host].name);
}

/* The distinct settings that the space has on one agent. */
static int settings_of(const struct hosts *h, const struct space *space, const struct agent *agent,
		       struct setting *out, size_t *n, struct err *e)
{
	*n = 0;
	for (size_t i = 0; i < space->n; i++) {
		const struct dimension *d = &space->dims[i];
		bool seen = false;
		if (!is_set_on(h, d, agent)) {
			continue;
		}
		for (size_t k = 0; k < i; k++) {
			const struct dimension *before = &space->dims[k];
			if (is_set_on(h, before, agent)) {
				if (check_clash(h, before, d, e) < 0) {
					return -EINVAL;
				}
				seen |= setting_same(&before->target.setting, &d->target.setting);
			}
		}
		if (!seen) {
			out[(*n)++] = d->target.setting;
		}
	}
	return 0;
}

static int open_session(struct hosts *h, const struct space *space, size_t host, json_t *restored,
			struct err *e)
{
	struct setting settings[SPEC_TUNABLES_MAX];
	json_t *one = NULL;
	size_t n;
	int rc = settings_of(h, space, h->agents[host], settings, &n, e);
	if (rc == 0) {
		rc = agent_open(h->agents[host], "sweep", h->spec->name, settings, n, &one, e);
	}
	if (restored && json_array_size(one) > 0) {
		json_object_set(restored, h->spec->hosts[host].name, one);
	}
	json_decref(one);
	return rc;
}

int hosts_open_sessions(struct hosts *h, const struct space *space, json_t **restored,
			struct err *e)
{
	int rc = 0;
	if (restored) {
		*restored = json_object();
	}
	for (size_t i = 0; rc == 0 && i < h->spec->n_hosts; i++) {
		if (!shared_agent(h, i)) {
			rc = open_session(h, space, i, restored ? *restored : NULL, e);
		}
	}
	return rc;
}

/* Keeps the first error, but prefers one that says something was not restored. */
static void keep_worst(struct err *all, int *rc_all, const struct err *one, int rc)
{
	if (rc < 0 && (*rc_all == 0 || (one->class == ERR_RESTORE && all->class != ERR_RESTORE))) {
		*all = *one;
		*rc_all = rc;
	}
}

/* A rollback that went well may still have left a value to someone else, or found none. */
static int check_rolled_back(const char *host, const json_t *items, struct err *e)
{
	const json_t *one;
	size_t i;
	json_array_foreach((json_t *)items, i, one)
	{
		const char *outcome = json_string_value(json_object_get(one, "outcome"));
		const char *old = json_string_value(json_object_get(one, "old"));
		const char *found = json_string_value(json_object_get(one, "found"));
		if (outcome && strcmp(outcome, "restored") != 0 &&
		    strcmp(outcome, "unchanged") != 0) {
			err_set(e, -EIO, "host %s: %s is not as it was: %s (was '%s', is '%s')",
				host, json_string_value(json_object_get(one, "set")), outcome,
				old ? old : "?", found ? found : "?");
			e->class = ERR_RESTORE;
			return -EIO;
		}
	}
	return 0;
}

int hosts_close(struct hosts *h, json_t **report, struct err *e)
{
	int rc_all = 0;
	if (report) {
		*report = json_object();
	}
	/* from the last, so that a shared agent is closed by the host that opened it */
	for (size_t i = h->spec->n_hosts; i-- > 0;) {
		struct err one = {0};
		json_t *items = NULL;
		if (shared_agent(h, i)) {
			h->agents[i] = NULL;
			continue;
		}
		int rc = agent_close(h->agents[i], &items, &one);
		h->agents[i] = NULL;
		keep_worst(e, &rc_all, &one, rc);
		if (rc == 0) {
			rc = check_rolled_back(h->spec->hosts[i].name, items, &one);
			keep_worst(e, &rc_all, &one, rc);
		}
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
		/* values of net.* are this namespace's, not the machine's */
		json_object_set_new(one, "netns",
				    *a->netns_path ? json_string(a->netns_path) : json_null());
		json_object_set_new(one, "netns_cookie", json_integer((json_int_t)a->netns_cookie));
		json_object_set_new(all, h->spec->hosts[i].name, one);
	}
	return all;
}
