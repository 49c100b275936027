/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of route metrics: of all unicast routes in the main table that lead out of the
 * interface, IPv4 and IPv6, so that whoever the test talks to by it is covered. Not those that
 * routers announce (they expire and come again), link-local ones, and routes over several next
 * hops. All of them hold one value, or the entry cannot be set here. 0 is: not set. Called by
 * tunable.c through route_ops.
 */
#include "route.h"
#include "cleanup.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct metric {
	const char *name; /* after "route." */
	int attr;
	int per; /* catalogue units in one of the kernel's: us of a millisecond */
} metrics[] = {
	{"initcwnd", RTAX_INITCWND, 1}, {"initrwnd", RTAX_INITRWND, 1},
	{"quickack", RTAX_QUICKACK, 1}, {"rto_min", RTAX_RTO_MIN, 1000},
	{"features", RTAX_FEATURES, 1}, {"congctl", RTAX_CC_ALGO, 1},
};

static const struct metric *metric_of(const struct setting *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		if (!strcmp(metrics[i].name, s->name + strlen("route."))) {
			return &metrics[i];
		}
	}
	return NULL;
}

static bool is_word(const struct metric *m)
{
	return m->attr == RTAX_CC_ALGO;
}

static void metric_text(const struct route *r, const struct metric *m, char *text, size_t size)
{
	struct nlattr *all = route_attr(r, RTA_METRICS);
	struct nlattr *a = all ? nla_find(nla_data(all), nla_len(all), m->attr) : NULL;
	if (is_word(m)) {
		snprintf(text, size, "%s", a ? nla_get_string(a) : "default");
	} else if (m->attr == RTAX_FEATURES) {
		snprintf(text, size, "%s",
			 a && (nla_get_u32(a) & RTAX_FEATURE_ECN) ? "ecn" : "none");
	} else {
		snprintf(text, size, "%" PRIu64,
			 a ? (uint64_t)nla_get_u32(a) * (uint64_t)m->per : 0);
	}
}

/* What all routes say alike. -ENOENT without a route, -EBUSY where they differ. */
static int common_text(const struct routes *list, const struct metric *m, const char *device,
		       char *text, size_t size, struct err *e)
{
	char other[64];
	if (!list->n) {
		return err_set(e, -ENOENT, "%s has no route of its own in the main table", device);
	}
	metric_text(list->item[0], m, text, size);
	for (size_t i = 1; i < list->n; i++) {
		metric_text(list->item[i], m, other, sizeof(other));
		if (strcmp(text, other)) {
			return err_set(e, -EBUSY,
				       "the routes of %s differ in %s (%s and %s): one value could "
				       "not put them back",
				       device, m->name, text, other);
		}
	}
	return list->shared ? err_set(e, -EBUSY,
				      "a route of %s has a twin by another device, and could not "
				      "be changed alone",
				      device)
			    : 0;
}

static int route_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		      struct err *e)
{
	auto_netlink struct netlink n = {0};
	auto_routes struct routes list = {0};
	char name[IF_NAMESIZE];
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	rc = rc ? rc : netlink_open(&n, NULL, e);
	rc = rc ? rc : routes_load(&n, ifindex, &list, e);
	return rc ? rc : common_text(&list, metric_of(s), name, text, size, e);
}

static bool is_metric(const struct nlattr *a, const struct metric *m)
{
	return nla_type(a) == m->attr;
}

static int put_metric(struct nl_msg *msg, const struct metric *m, const char *text)
{
	if (is_word(m)) {
		return strcmp(text, "default") ? nla_put_string(msg, m->attr, text) : 0;
	}
	if (m->attr == RTAX_FEATURES) {
		return strcmp(text, "ecn") ? 0 : nla_put_u32(msg, m->attr, RTAX_FEATURE_ECN);
	}
	int64_t value = 0;
	if (scalar_int(text, &value, NULL)) {
		return -EINVAL;
	}
	value = (value + m->per - 1) / m->per;
	return value ? nla_put_u32(msg, m->attr, (uint32_t)value) : 0;
}

/* The other metrics of the route, and this one. */
static int put_metrics(struct nl_msg *msg, const struct route *r, const struct metric *m,
		       const char *text)
{
	struct nlattr *old = route_attr(r, RTA_METRICS), *a;
	struct nlattr *nest = nla_nest_start(msg, RTA_METRICS);
	int left, bad = !nest;
	if (old) {
		nla_for_each_nested(a, old, left)
		{
			bad = bad || (!is_metric(a, m) &&
				      nla_put(msg, nla_type(a), nla_len(a), nla_data(a)));
		}
	}
	bad = bad || put_metric(msg, m, text);
	if (!bad) {
		nla_nest_end(msg, nest);
	}
	return bad ? -EINVAL : 0;
}

static int change_one(struct netlink *n, const struct route *r, const struct setting *s,
		      const char *text, struct err *e)
{
	struct nl_msg *msg = route_change(r);
	if (msg && put_metrics(msg, r, metric_of(s), text)) {
		nlmsg_free(msg);
		return err_usage(e, "%s: '%.40s' does not fit", s->name, text);
	}
	return netlink_ask(n, msg, NULL, NULL, s->name, e);
}

static int route_write(const struct sysroot *root, const struct setting *s, const char *text,
		       struct err *e)
{
	auto_netlink struct netlink n = {0};
	auto_routes struct routes list = {0};
	char name[IF_NAMESIZE];
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	rc = rc ? rc : netlink_open(&n, NULL, e);
	rc = rc ? rc : routes_load(&n, ifindex, &list, e);
	if (!rc && !list.n) {
		return err_set(e, -ENOENT, "%s has no route of its own in the main table", name);
	}
	for (size_t i = 0; !rc && i < list.n; i++) {
		rc = change_one(&n, list.item[i], s, text, e);
	}
	return rc;
}

/* Congestion controls that the kernel knows and lets be set; the system's own is "default". */
static void add_choices(const struct sysroot *root, struct tunable_range *range)
{
	char words[512], *save = NULL;
	strcpy(range->choices[range->n_choices++], "default");
	if (sysfile_read(root, "/proc/sys/net/ipv4/tcp_allowed_congestion_control", words,
			 sizeof(words), NULL)) {
		return;
	}
	for (char *w = strtok_r(words, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save)) {
		if (range->n_choices < TUNABLE_CHOICES_MAX) {
			snprintf(range->choices[range->n_choices++], sizeof(range->choices[0]),
				 "%.31s", w);
		}
	}
}

static int route_probe(const struct sysroot *root, const struct setting *s, const char *field,
		       struct tunable_range *range, struct err *e)
{
	(void)e;
	if (setting_present(root, s, field, &route_ops, range) && is_word(metric_of(s))) {
		add_choices(root, range);
	}
	return 0;
}

const struct tunable_ops route_ops = {
	.probe = route_probe,
	.read = route_read,
	.write = route_write,
};
