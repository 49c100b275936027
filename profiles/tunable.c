/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only door to what can be set on a host: hands probing, reading and writing to the back ends.
 * The only file that names them.
 */
#include "tunable.h"
#include "cleanup.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct tunable_ops *ops_of(const struct tunable *t)
{
	static const struct tunable_ops none = {0};
	switch (t->backend) {
	case BACKEND_SYSCTL:
		return &sysctl_ops;
	case BACKEND_LINK:
		return &link_ops;
	case BACKEND_ETHTOOL:
		return &ethtool_ops;
	case BACKEND_ROUTE:
		return &route_ops;
	case BACKEND_QDISC:
		return &qdisc_ops;
	case BACKEND_IRQ:
		return &irq_ops;
	case BACKEND_IRQBALANCE:
		return &irqbalance_ops;
	case BACKEND_MSIX:
		return &msix_ops;
	case BACKEND_MSIX_VECTORS:
		return &msix_vectors_ops;
	case BACKEND_IPOIB:
		return &ipoib_ops;
	case BACKEND_STEER:
		return &rps_ops;
	case BACKEND_STEER_FLOWS:
		return &rps_flow_ops;
	case BACKEND_NAPI:
		return &napi_ops;
	case BACKEND_CPU:
		return &cpu_ops;
	case BACKEND_CPU_LATENCY:
		return &cpu_latency_ops;
	default:
		return &none;
	}
}

/* The setting as its back end wants it: of a device that was renamed, by its present name. */
static int name_now(const struct sysroot *root, const struct setting *s, struct setting *now,
		    struct err *e)
{
	*now = *s;
	return ops_of(s->tunable)->by_name && s->ifindex
		       ? setting_device(root, s, &now->ifindex, now->device, e)
		       : 0;
}

int tunable_probe(const struct sysroot *root, const struct setting *s, const char *field,
		  struct tunable_range *range, struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	memset(range, 0, sizeof(*range));
	range->min = s->tunable->min;
	range->max = s->tunable->max;
	if (tunable_check_field(s, field, e)) {
		return -EINVAL;
	}
	if (!ops->probe) { /* of the run's own scope: nothing on the host stands against it */
		range->settable = s->tunable->scope == SCOPE_RUN;
		return 0;
	}
	struct setting now;
	int r = name_now(root, s, &now, e);
	return r ? r : ops->probe(root, &now, field, range, e);
}

int tunable_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		 struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	char kernel[SETTING_TEXT_MAX];
	if (!ops->read) {
		return err_set(e, -EOPNOTSUPP, "%s is not a setting of the host", s->name);
	}
	struct setting now;
	int r = name_now(root, s, &now, e);
	r = r ? r : ops->read(root, &now, kernel, sizeof(kernel), e);
	if (r) {
		return r;
	}
	r = setting_canonical(kernel, text, size);
	return r ? err_set(e, r, "%s holds more text than expected", s->name) : 0;
}

int tunable_write(const struct sysroot *root, const struct setting *s, const char *text,
		  struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	if (!ops->write) {
		return err_set(e, -EOPNOTSUPP, "%s is not a setting of the host", s->name);
	}
	if (!text[strspn(text, " \t\n")]) {
		return err_set(e, -EINVAL, "%s: an empty value cannot be written", s->name);
	}
	struct setting now;
	int r = name_now(root, s, &now, e);
	return r ? r : ops->write(root, &now, text, e);
}

int tunable_plan(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		 struct err *e)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	struct setting now;
	int r = name_now(root, s, &now, e);
	return r || !ops->plan ? r : ops->plan(root, &now, text, size, e);
}

bool tunable_word(const struct sysroot *root, const struct setting *s, const char *text,
		  struct value *out)
{
	const struct tunable_ops *ops = ops_of(s->tunable);
	struct setting now;
	return ops->word && !name_now(root, s, &now, NULL) && ops->word(root, &now, text, out);
}

bool tunable_covers(const struct setting *a, const struct setting *b)
{
	const struct tunable_ops *ops = ops_of(a->tunable);
	return ops->covers && !strcmp(a->device, b->device) && ops->covers(a, b);
}

uint64_t tunable_capabilities(const struct setting *s)
{
	uint64_t all = s->tunable->capabilities;
	for (size_t i = 0; i < ARRAY_SIZE(s->tunable->affects) && s->tunable->affects[i]; i++) {
		struct setting along;
		if (!tunable_resolve(s->tunable->affects[i], "", "", &along, NULL)) {
			all |= along.tunable->capabilities;
		}
	}
	return all;
}

/* What a device's entry changes along with it belongs to the same device, if it is of a device at
 * all, and may be lacking. */
static bool is_there(const struct sysroot *root, const char *name, const struct setting *s,
		     struct setting *out)
{
	char text[SETTING_TEXT_MAX];
	if (tunable_resolve(name, "", "", out, NULL) ||
	    (out->tunable->device && tunable_resolve(name, "", s->device, out, NULL))) {
		return false;
	}
	out->ifindex = out->tunable->device ? s->ifindex : 0;
	return !*s->device || !tunable_read(root, out, text, sizeof(text), NULL);
}

size_t tunable_affected(const struct sysroot *root, const struct setting *s, struct setting *out,
			size_t max)
{
	enum { NAMES_MAX = 512 };
	const struct tunable_ops *ops = ops_of(s->tunable);
	auto_free char(*names)[TUNABLE_NAME_MAX] = calloc(NAMES_MAX, sizeof(*names));
	size_t count = 0;
	for (size_t i = 0; names && i < ARRAY_SIZE(s->tunable->affects); i++) {
		const char *name = s->tunable->affects[i];
		if (!name) {
			break;
		}
		size_t n = 1;
		if (strchr(name, '*') && ops->expand) {
			n = ops->expand(root, s, name, names, NAMES_MAX);
		} else {
			snprintf(names[0], sizeof(names[0]), "%s", name);
		}
		for (size_t k = 0; k < n && count < max; k++) {
			count += is_there(root, names[k], s, &out[count]);
		}
	}
	return count;
}
