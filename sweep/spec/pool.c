/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The block pool of a spec: further pairs of hosts that are like the first one, or how many are to
 * come from a Slurm allocation. Called by spec.c; nothing is connected here.
 */
#include "fleet.h"
#include "spec_private.h"

#include "cleanup.h"
#include <errno.h>
#include <string.h>

static int parse_pair(struct spec *s, struct spec_pair *p, struct yaml_at map, struct err *e)
{
	memcpy(p->hosts, s->hosts, sizeof(p->hosts));
	for (size_t i = 0; i < s->n_hosts; i++) {
		p->hosts[i].via = (struct host_via){0};
		*p->hosts[i].address = '\0';
	}
	if (yaml_kind(map) != YAML_MAP || yaml_count(map) != s->n_hosts) {
		return yaml_error(map, e, "a pair of a pool names each of the %zu hosts once",
				  s->n_hosts);
	}
	for (size_t i = 0; i < yaml_count(map); i++) {
		int host = -1;
		int rc = spec_find_host(s, yaml_key(map, i), &host, e);
		rc = rc ? rc : spec_parse_host(&p->hosts[host], yaml_value(map, i), e);
		if (rc == 0 && p->hosts[host].via.kind == VIA_LAB) {
			return yaml_error(yaml_value(map, i), e, "there is one lab only: no pool");
		}
		if (rc) {
			return rc;
		}
	}
	return 0;
}

static int parse_list(struct spec *s, struct yaml_at list, size_t from, struct err *e)
{
	size_t n = yaml_count(list);
	if (n < 1 || n > FLEET_MAX) {
		return yaml_error(list, e, "a pool has 1 to %d pairs", FLEET_MAX);
	}
	s->pairs = calloc(n, sizeof(*s->pairs));
	if (!s->pairs) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	for (size_t i = from; i < n; i++) {
		int rc = parse_pair(s, &s->pairs[s->n_pairs++], yaml_item(list, i), e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

/* What salloc is to be told; blanks would make several words of it. */
static int parse_word(struct yaml_at map, const char *key, char *buf, size_t size, struct err *e)
{
	struct yaml_at at = yaml_get(map, key);
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	int rc = yaml_as_text(at, buf, size, e);
	return rc == 0 && (!*buf || strpbrk(buf, " \t\n"))
		       ? yaml_error(at, e, "%s is one word, as salloc takes it", key)
		       : rc;
}

static int parse_slurm(struct spec *s, struct yaml_at map, struct err *e)
{
	static const char *const outer[] = {"slurm", NULL};
	static const char *const keys[] = {"pairs", "partition", "constraint", NULL};
	int64_t pairs = 1;
	int rc = yaml_check_keys(map, outer, e);
	struct yaml_at slurm = yaml_get(map, "slurm");
	rc = rc ? rc : yaml_check_keys(slurm, keys, e);
	rc = rc ? rc : yaml_as_int(yaml_get(slurm, "pairs"), 1, FLEET_MAX, &pairs, e);
	s->slurm_pairs = (size_t)pairs;
	rc = rc ? rc
		: parse_word(slurm, "partition", s->slurm_partition, sizeof(s->slurm_partition), e);
	return rc ? rc
		  : parse_word(slurm, "constraint", s->slurm_constraint,
			       sizeof(s->slurm_constraint), e);
}

/* Two hosts that an allocation, or the first pair of the pool, will say how to reach. */
static int name_hosts(struct spec *s, struct yaml_at pool, struct err *e)
{
	static const char *const names[] = {"sender", "receiver"};
	bool list = yaml_kind(pool) == YAML_LIST;
	struct yaml_at first = yaml_item(pool, 0);
	size_t n = list ? yaml_count(first) : 2;
	if (n != 2) {
		return yaml_error(pool, e, "without 'hosts', a pair of a pool has two hosts");
	}
	for (size_t i = 0; i < n; i++) {
		struct spec_host *h = &s->hosts[s->n_hosts++];
		int rc = 0;
		h->place = spec_place_of(pool);
		snprintf(h->name, sizeof(h->name), "%s", names[i]);
		if (list) {
			rc = yaml_as_text(yaml_key(first, i), h->name, sizeof(h->name), e);
			rc = rc ? rc : spec_parse_host(h, yaml_value(first, i), e);
		}
		if (rc) {
			return rc;
		}
	}
	return 0;
}

int spec_parse_pool(struct spec *s, struct yaml_at pool, struct err *e)
{
	if (yaml_kind(pool) == YAML_ABSENT) {
		return 0;
	}
	bool named = s->n_hosts > 0, list = yaml_kind(pool) == YAML_LIST;
	if (list && yaml_count(pool) == 0) {
		return yaml_error(pool, e, "a pool has 1 to %d pairs", FLEET_MAX);
	}
	if (named && !list) {
		return yaml_error(pool, e, "the hosts come from the allocation: leave 'hosts' out");
	}
	int rc = named ? 0 : name_hosts(s, pool, e);
	if (rc) {
		return rc;
	}
	return list ? parse_list(s, pool, named ? 0 : 1, e) : parse_slurm(s, pool, e);
}
