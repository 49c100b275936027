/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of queueing disciplines: the kind at an interface's root, and the parameters of that
 * kind. Only kinds that this file knows are replaced, since others could not be put back as they
 * were: a tree of classes is left alone. A parameter that the present kind does not have reads as 0
 * and may be set to 0 only. Called by tunable.c through qdisc_ops.
 */
#include "cleanup.h"
#include "netlink_private.h"
#include "tunable_private.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

enum width { W8, W32, W64, CODEL /* u32: a time that is kept in units of 1024 ns */ };

static const struct param {
	const char *kind, *name;
	int attr; /* 0: the limit of a fifo, which has a structure for it */
	enum width width;
	int per; /* catalogue units in one of the kernel's: bits of a byte */
} params[] = {
	{"fq", "limit", TCA_FQ_PLIMIT, W32, 1},
	{"fq", "flow_limit", TCA_FQ_FLOW_PLIMIT, W32, 1},
	{"fq", "quantum", TCA_FQ_QUANTUM, W32, 1},
	{"fq", "initial_quantum", TCA_FQ_INITIAL_QUANTUM, W32, 1},
	{"fq", "pacing", TCA_FQ_RATE_ENABLE, W32, 1},
	{"fq", "maxrate", TCA_FQ_FLOW_MAX_RATE, W32, 8},
	{"fq", "low_rate_threshold", TCA_FQ_LOW_RATE_THRESHOLD, W32, 8},
	{"fq", "refill_delay", TCA_FQ_FLOW_REFILL_DELAY, W32, 1},
	{"fq", "buckets_log", TCA_FQ_BUCKETS_LOG, W32, 1},
	{"fq", "orphan_mask", TCA_FQ_ORPHAN_MASK, W32, 1},
	{"fq", "ce_threshold", TCA_FQ_CE_THRESHOLD, W32, 1},
	{"fq", "timer_slack", TCA_FQ_TIMER_SLACK, W32, 1},
	{"fq", "horizon", TCA_FQ_HORIZON, W32, 1},
	{"fq", "horizon_drop", TCA_FQ_HORIZON_DROP, W8, 1},
	{"fq_codel", "limit", TCA_FQ_CODEL_LIMIT, W32, 1},
	{"fq_codel", "target", TCA_FQ_CODEL_TARGET, CODEL, 1},
	{"fq_codel", "interval", TCA_FQ_CODEL_INTERVAL, CODEL, 1},
	{"fq_codel", "ecn", TCA_FQ_CODEL_ECN, W32, 1},
	{"fq_codel", "quantum", TCA_FQ_CODEL_QUANTUM, W32, 1},
	{"fq_codel", "drop_batch", TCA_FQ_CODEL_DROP_BATCH_SIZE, W32, 1},
	{"fq_codel", "memory_limit", TCA_FQ_CODEL_MEMORY_LIMIT, W32, 1},
	{"cake", "bandwidth", TCA_CAKE_BASE_RATE64, W64, 8},
	{"cake", "rtt", TCA_CAKE_RTT, W32, 1},
	{"cake", "target", TCA_CAKE_TARGET, W32, 1},
	{"cake", "memory_limit", TCA_CAKE_MEMORY, W32, 1},
	{"cake", "split_gso", TCA_CAKE_SPLIT_GSO, W32, 1},
	{"pfifo", "limit", 0, W32, 1},
	{"bfifo", "limit", 0, W32, 1},
};

/* Kinds that a device gets by itself stand first: a reset gives them, and makes them whole again
 * (mq with its children), which asking for them by name does not. */
static const char *const kinds[] = {"noqueue",	"mq",	"pfifo_fast", "fq",
				    "fq_codel", "cake", "pfifo",      "bfifo"};
enum { BY_RESET = 3 };

struct root {
	int ifindex;
	char kind[32];
	uint32_t handle;
	bool set_by_hand; /* what is below it */
	char data[2048];  /* TCA_OPTIONS */
	int size;
};

static const char *param_name(const struct setting *s)
{
	return strcmp(s->name, "qdisc.root") ? s->name + strlen("qdisc.root.") : NULL;
}

static void take(struct nlmsghdr *h, void *ctx)
{
	struct root *r = ctx;
	const struct tcmsg *tc = nlmsg_data(h);
	struct nlattr *kind = nlmsg_find_attr(h, sizeof(*tc), TCA_KIND);
	struct nlattr *options = nlmsg_find_attr(h, sizeof(*tc), TCA_OPTIONS);
	if (h->nlmsg_type != RTM_NEWQDISC || tc->tcm_ifindex != r->ifindex || !kind ||
	    tc->tcm_parent == TC_H_INGRESS) {
		return;
	}
	if (tc->tcm_parent != TC_H_ROOT) { /* mq's own children have no number */
		r->set_by_hand = r->set_by_hand || TC_H_MAJ(tc->tcm_handle);
		return;
	}
	snprintf(r->kind, sizeof(r->kind), "%s", nla_get_string(kind));
	r->handle = tc->tcm_handle;
	r->size = options && nla_len(options) <= (int)sizeof(r->data) ? nla_len(options) : 0;
	if (r->size) {
		memcpy(r->data, nla_data(options), (size_t)r->size);
	}
}

static int find_root(const struct sysroot *root, const struct setting *s, struct netlink *n,
		     struct root *r, struct err *e)
{
	char name[IF_NAMESIZE];
	*r = (struct root){0};
	int rc = setting_device(root, s, &r->ifindex, name, e);
	rc = rc ? rc : netlink_open(n, NULL, e);
	if (rc) {
		return rc;
	}
	struct tcmsg tc = {.tcm_ifindex = r->ifindex};
	rc = netlink_ask(n, netlink_rtnl(RTM_GETQDISC, NLM_F_DUMP, &tc, sizeof(tc)), take, r,
			 s->name, e);
	if (!rc && !*r->kind) { /* an interface that was never up */
		snprintf(r->kind, sizeof(r->kind), "noqueue");
	}
	return rc;
}

static const struct param *param_of(const struct root *r, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(params); i++) {
		if (!strcmp(params[i].kind, r->kind) && !strcmp(params[i].name, name)) {
			return &params[i];
		}
	}
	return NULL;
}

static uint64_t value_of(const struct root *r, const struct param *p)
{
	struct tc_fifo_qopt fifo;
	if (!p->attr) {
		memcpy(&fifo, r->data, sizeof(fifo));
		return r->size >= (int)sizeof(fifo) ? fifo.limit : 0;
	}
	const struct nlattr *a = nla_find((const struct nlattr *)r->data, r->size, p->attr);
	if (!a) {
		return 0;
	}
	return nla_len(a) == 8 ? nla_get_u64(a) : nla_len(a) == 4 ? nla_get_u32(a) : nla_get_u8(a);
}

static int qdisc_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		      struct err *e)
{
	auto_netlink struct netlink n = {0};
	struct root r;
	int rc = find_root(root, s, &n, &r, e);
	const char *name = param_name(s);
	if (rc || !name) {
		snprintf(text, size, "%s", rc ? "" : r.kind);
		return rc;
	}
	const struct param *p = param_of(&r, name);
	uint64_t value = p ? value_of(&r, p) : 0;
	bool off = p && p->per == 8 && p->width == W32 && value == UINT32_MAX; /* no rate */
	snprintf(text, size, "%" PRIu64, off ? 0 : value * (p ? (uint64_t)p->per : 1));
	return 0;
}

/* The least number of us that reads back as this one, which would else come back less by one. */
static uint64_t codel_time(uint64_t us)
{
	for (uint64_t w = us; w < us + 3; w++) {
		if (((w * 1000) >> 10 << 10) / 1000 >= us) {
			return w;
		}
	}
	return us;
}

static int send_qdisc(struct netlink *n, const struct root *r, int type, const char *kind,
		      const struct param *p, uint64_t value, const char *what, struct err *e)
{
	struct tcmsg tc = {.tcm_ifindex = r->ifindex, .tcm_parent = TC_H_ROOT};
	struct tc_fifo_qopt fifo = {.limit = (uint32_t)value};
	int flags = type == RTM_DELQDISC ? 0 : p ? 0 : NLM_F_CREATE | NLM_F_REPLACE;
	tc.tcm_handle = p ? r->handle : 0;
	struct nl_msg *msg = netlink_rtnl(type, flags, &tc, sizeof(tc));
	int bad = !msg ? 0 : kind ? nla_put_string(msg, TCA_KIND, kind) : 0;
	struct nlattr *nest = NULL;
	if (msg && p && p->attr) {
		nest = nla_nest_start(msg, TCA_OPTIONS);
		bad |= !nest || (p->width == W64  ? nla_put_u64(msg, p->attr, value)
				 : p->width == W8 ? nla_put_u8(msg, p->attr, (uint8_t)value)
						  : nla_put_u32(msg, p->attr, (uint32_t)value));
	} else if (msg && p) {
		bad |= nla_put(msg, TCA_OPTIONS, sizeof(fifo), &fifo);
	}
	if (msg && bad) {
		nlmsg_free(msg);
		msg = NULL;
	} else if (nest) {
		nla_nest_end(msg, nest);
	}
	return netlink_ask(n, msg, NULL, NULL, what, e);
}

static int kind_index(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i], kind)) {
			return (int)i;
		}
	}
	return -1;
}

/* Children of mq that somebody has set would be lost; so would the classes of other kinds. */
static int check_replaceable(const struct root *r, struct err *e)
{
	if (kind_index(r->kind) < 0) {
		return err_set(e, -EBUSY,
			       "the present queueing discipline %s could not be put back", r->kind);
	}
	if (!strcmp(r->kind, "mq") && r->set_by_hand) {
		return err_set(e, -EBUSY,
			       "what is below the present mq was set by hand, and could not be put "
			       "back");
	}
	return 0;
}

static int write_kind(struct netlink *n, const struct sysroot *root, const struct setting *s,
		      struct root *r, const char *kind, struct err *e)
{
	auto_netlink struct netlink again = {0};
	int index = kind_index(kind), rc = check_replaceable(r, e);
	if (rc || index < 0) {
		return rc ? rc : err_usage(e, "%s cannot be '%.40s'", s->name, kind);
	}
	if (index < BY_RESET) {
		send_qdisc(n, r, RTM_DELQDISC, NULL, NULL, 0, s->name, NULL);
		rc = find_root(root, s, &again, r, e);
		if (rc || !strcmp(r->kind, kind)) {
			return rc;
		}
	}
	return send_qdisc(n, r, RTM_NEWQDISC, kind, NULL, 0, s->name, e);
}

static int write_param(struct netlink *n, const struct setting *s, const struct root *r,
		       const char *text, struct err *e)
{
	const struct param *p = param_of(r, param_name(s));
	int64_t value;
	int rc = scalar_int(text, &value, e);
	if (rc || (!p && !value)) {
		return rc;
	}
	if (!p) {
		return err_set(e, -EOPNOTSUPP, "the queueing discipline %s has no %s", r->kind,
			       param_name(s));
	}
	bool off = p->per == 8 && p->width == W32 && !value;
	uint64_t wire = off ? UINT32_MAX : (uint64_t)value / (uint64_t)p->per;
	wire = p->width == CODEL ? codel_time(wire) : wire;
	if (p->width != W64 && wire > UINT32_MAX) {
		return err_usage(e, "%s: '%s' does not fit", s->name, text);
	}
	return send_qdisc(n, r, RTM_NEWQDISC, r->kind, p, wire, s->name, e);
}

static int qdisc_write(const struct sysroot *root, const struct setting *s, const char *text,
		       struct err *e)
{
	auto_netlink struct netlink n = {0};
	struct root r;
	int rc = find_root(root, s, &n, &r, e);
	if (rc) {
		return rc;
	}
	return param_name(s) ? write_param(&n, s, &r, text, e)
			     : write_kind(&n, root, s, &r, text, e);
}

static int qdisc_probe(const struct sysroot *root, const struct setting *s, const char *field,
		       struct tunable_range *range, struct err *e)
{
	auto_netlink struct netlink n = {0};
	struct root r;
	struct err why = {0};
	(void)e;
	if (!setting_present(root, s, field, &qdisc_ops, range)) {
		return 0;
	}
	for (size_t i = 0; !param_name(s) && i < ARRAY_SIZE(kinds); i++) {
		strcpy(range->choices[range->n_choices++], kinds[i]);
	}
	if (find_root(root, s, &n, &r, &why) || (!param_name(s) && check_replaceable(&r, &why))) {
		range->settable = false;
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
	}
	return 0;
}

/* "qdisc.root.*": what the present kind has, to be put back after the kind. */
static size_t qdisc_expand(const struct sysroot *root, const struct setting *s, const char *pattern,
			   char (*names)[TUNABLE_NAME_MAX], size_t max)
{
	auto_netlink struct netlink n = {0};
	struct root r;
	size_t count = 0;
	if (find_root(root, s, &n, &r, NULL)) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(params) && count < max; i++) {
		if (!strcmp(params[i].kind, r.kind)) {
			snprintf(names[count++], TUNABLE_NAME_MAX, "%.*s%s",
				 (int)strcspn(pattern, "*"), pattern, params[i].name);
		}
	}
	return count;
}

const struct tunable_ops qdisc_ops = {
	.probe = qdisc_probe,
	.read = qdisc_read,
	.write = qdisc_write,
	.expand = qdisc_expand,
};
