/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs of hosts out of the nodes of a Slurm allocation (allocation.h), which is not asked itself.
 * Called by the run command before the hosts are opened.
 */
#include "cleanup.h"
#include "fleet.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 2 * FLEET_MAX, NODE_SIZE = 64 };

struct nodes {
	size_t n;
	char name[NODES_MAX][NODE_SIZE];
};

static void add_node(struct nodes *out, const char *prefix, size_t length, const char *number)
{
	if (out->n < NODES_MAX && length + strlen(number) < NODE_SIZE) {
		snprintf(out->name[out->n++], NODE_SIZE, "%.*s%s", (int)length, prefix, number);
	}
}

/* "1-4,09" behind a prefix; numbers keep their leading zeros. 0, or -EINVAL. */
static int add_ranges(struct nodes *out, const char *prefix, size_t length, const char *text)
{
	while (*text != ']') {
		char *end, number[32];
		int digits = (int)strspn(text, "0123456789");
		unsigned long from = strtoul(text, &end, 10), to = from;
		if (digits == 0 || digits > 9) {
			return -EINVAL;
		}
		if (*end == '-') {
			to = strtoul(end + 1, &end, 10);
		}
		for (unsigned long i = from; i <= to && out->n < NODES_MAX; i++) {
			snprintf(number, sizeof(number), "%0*lu", digits, i);
			add_node(out, prefix, length, number);
		}
		text = *end == ',' ? end + 1 : end;
		if (*end != ',' && *end != ']') {
			return -EINVAL;
		}
	}
	return 0;
}

/* "a1,n[1-3,07],b": Slurm's own way of writing many names, with one pair of brackets a name. */
static int read_nodes(const char *text, struct nodes *out)
{
	while (*text) {
		size_t length = strcspn(text, "[,");
		if (length == 0) {
			return -EINVAL;
		}
		const char *next = text + length;
		if (*next == '[') {
			const char *close = strchr(next, ']');
			if (!close || (close[1] && close[1] != ',') ||
			    add_ranges(out, text, length, next + 1) < 0) {
				return -EINVAL;
			}
			next = close + 1;
		} else {
			add_node(out, text, length, "");
		}
		text = *next == ',' ? next + 1 : next;
	}
	return 0;
}

static int reach_by_srun(struct spec_host *h, const char *node, const char *job)
{
	char list[NODE_SIZE + 16], id[64];
	snprintf(list, sizeof(list), "--nodelist=%s", node);
	snprintf(id, sizeof(id), "--jobid=%s", job);
	const char *words[] = {"srun", "--overlap", "-N1", "-n1", list, *job ? id : NULL};
	char **argv = calloc(ARRAY_SIZE(words) + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < ARRAY_SIZE(words) && words[i]; i++) {
		argv[i] = strdup(words[i]);
	}
	bool push = h->via.push;
	h->via = (struct host_via){.kind = VIA_COMMAND, .argv = argv, .push = push};
	return argv ? 0 : -ENOMEM;
}

int fleet_from_slurm(struct spec *spec, const char *nodes, const char *job, struct err *e)
{
	size_t pairs = spec->slurm_pairs;
	auto_free struct nodes *all = calloc(1, sizeof(*all));
	int ends[2] = {spec->test.from, spec->test.to};
	if (!all) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (!*nodes || read_nodes(nodes, all) < 0) {
		return err_usage(e, "pool: slurm: a list of nodes that is not understood: '%.200s'",
				 nodes);
	}
	if (all->n < 2 * pairs) {
		return err_usage(e, "pool: slurm: %zu pairs want %zu nodes, the allocation has %zu",
				 pairs, 2 * pairs, all->n);
	}
	spec->pairs = calloc(pairs, sizeof(*spec->pairs));
	int rc = spec->pairs ? 0 : -ENOMEM;
	for (size_t i = 0; rc == 0 && i < pairs; i++) {
		struct spec_host *hosts = i ? spec->pairs[i - 1].hosts : spec->hosts;
		if (i) {
			memcpy(hosts, spec->hosts, sizeof(spec->hosts));
			spec->n_pairs = i;
		}
		for (int end = 0; rc == 0 && end < 2; end++) {
			rc = reach_by_srun(&hosts[ends[end]], all->name[2 * i + (size_t)end], job);
		}
	}
	return rc ? err_set(e, rc, "out of memory") : 0;
}
