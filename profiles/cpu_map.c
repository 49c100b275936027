/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPUs of a device's parts as text, and the policies that choose them. It neither reads nor writes
 * a device. Called by the back ends irq, rps and xps.
 */
#include "cpu_map.h"
#include "topology.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_SIZE = 1024 };

int cpu_map_init(struct cpu_map *m, struct err *e)
{
	*m = (struct cpu_map){.parts = calloc(CPU_MAP_MAX, sizeof(*m->parts))};
	return m->parts ? 0 : err_set(e, -ENOMEM, "out of memory");
}

void cpu_map_clear(struct cpu_map *m)
{
	free(m->parts);
	*m = (struct cpu_map){0};
}

struct cpu_map_part *cpu_map_add(struct cpu_map *m, const char *name, int queue)
{
	if (m->n == CPU_MAP_MAX) {
		return NULL;
	}
	struct cpu_map_part *p = &m->parts[m->n++];
	snprintf(p->name, sizeof(p->name), "%.15s", name);
	p->queue = queue;
	CPU_ZERO(&p->cpus);
	return p;
}

int cpu_map_format(const struct cpu_map *m, char *text, size_t size, struct err *e)
{
	size_t used = 0;
	*text = 0;
	for (size_t i = 0; i < m->n; i++) {
		char list[LIST_SIZE];
		if (cpus_format_list(&m->parts[i].cpus, list, sizeof(list))) {
			return err_set(e, -ENAMETOOLONG, "a list of CPUs is too long");
		}
		int n = snprintf(text + used, size - used, "%s%s=%s", used ? " " : "",
				 m->parts[i].name, *list ? list : "-");
		if (n < 0 || (size_t)n >= size - used) {
			return err_set(e, -ENAMETOOLONG,
				       "the CPUs of %zu queues are too long a text", m->n);
		}
		used += (size_t)n;
	}
	return 0;
}

int cpu_map_parse(const char *text, struct cpu_map *m, struct err *e)
{
	m->n = 0;
	for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
		char name[16], list[LIST_SIZE];
		size_t name_len = strcspn(p, "= "), len = strcspn(p, " ");
		if (p[name_len] != '=' || name_len >= sizeof(name) ||
		    len - name_len > sizeof(list)) {
			return err_set(e, -EINVAL, "'%.40s' does not say NAME=CPUS", p);
		}
		snprintf(name, sizeof(name), "%.*s", (int)name_len, p);
		snprintf(list, sizeof(list), "%.*s", (int)(len - name_len - 1), p + name_len + 1);
		struct cpu_map_part *part = cpu_map_add(m, name, 0);
		if (!part) {
			return err_set(e, -E2BIG, "more than %d parts", CPU_MAP_MAX);
		}
		if (strcmp(list, "-") != 0 && cpus_parse_list(list, &part->cpus, e)) {
			return -EINVAL;
		}
		p += len;
	}
	return 0;
}

/* The CPUs of a word, in the order in which they are handed out. */
struct hand {
	size_t n;
	int cpu[CPU_SETSIZE];
	bool whole; /* a list that the user wrote */
};

static void hand_add(const struct sysroot *root, struct hand *h, const cpu_set_t *set)
{
	int order[CPU_SETSIZE];
	size_t n = topology_cores_first(root, set, order);
	for (size_t i = 0; i < n; i++) {
		h->cpu[h->n++] = order[i];
	}
}

static int hand_of_list(const char *word, const cpu_set_t *online, struct hand *h, struct err *e)
{
	cpu_set_t set;
	if (cpus_parse_list(word, &set, NULL) || !CPU_COUNT(&set)) {
		return err_usage(e,
				 "'%.40s' is neither a list of CPUs such as 0-3,8 nor one of "
				 "spread, local-node, one, none",
				 word);
	}
	if (!cpus_within(&set, online)) {
		char list[LIST_SIZE] = "";
		cpus_format_list(online, list, sizeof(list));
		return err_usage(e, "not all CPUs of '%.40s' are online (%.100s)", word, list);
	}
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set)) {
			h->cpu[h->n++] = i;
		}
	}
	h->whole = true;
	return 0;
}

static int hand_of(const struct sysroot *root, const char *device, const char *word, struct hand *h,
		   struct err *e)
{
	cpu_set_t online, local, rest;
	*h = (struct hand){0};
	int r = topology_online(root, &online, e);
	r = r ? r : topology_local_cpus(root, device, &local, e);
	if (r || !strcmp(word, "none")) {
		return r;
	}
	CPU_XOR(&rest, &online, &local);
	if (!strcmp(word, "spread")) {
		hand_add(root, h, &local);
		hand_add(root, h, &rest);
	} else if (!strcmp(word, "local-node") || !strcmp(word, "one")) {
		hand_add(root, h, &local);
		h->n = !strcmp(word, "one") ? 1 : h->n;
	} else {
		return hand_of_list(word, &online, h, e);
	}
	return 0;
}

/* How many queues there are; parts that share one count once. */
static int queues_of(const struct cpu_map *m)
{
	int last = -1;
	for (size_t i = 0; i < m->n; i++) {
		last = m->parts[i].queue > last ? m->parts[i].queue : last;
	}
	return last + 1;
}

static void deal(const struct hand *h, enum cpu_map_way way, int queues, struct cpu_map_part *p)
{
	CPU_ZERO(&p->cpus);
	if (!h->n) {
		return;
	}
	size_t first = (size_t)p->queue % h->n;
	size_t step = way == ONE_EACH ? h->n : h->whole ? 1 : (size_t)queues;
	for (size_t i = h->whole && way == SHARES ? 0 : first; i < h->n; i += step) {
		CPU_SET(h->cpu[i], &p->cpus);
	}
}

int cpu_map_policy(const struct sysroot *root, const char *device, const char *word,
		   enum cpu_map_way way, struct cpu_map *m, struct err *e)
{
	struct hand h;
	int r = hand_of(root, device, word, &h, e);
	int queues = queues_of(m);
	for (size_t i = 0; !r && i < m->n; i++) {
		deal(&h, way, queues, &m->parts[i]);
	}
	return r;
}

static bool same_cpus(const struct cpu_map *a, const struct cpu_map *b)
{
	for (size_t i = 0; i < a->n; i++) {
		if (!CPU_EQUAL(&a->parts[i].cpus, &b->parts[i].cpus)) {
			return false;
		}
	}
	return true;
}

static bool is_policy(const struct sysroot *root, const char *device, const char *word,
		      enum cpu_map_way way, const struct cpu_map *m)
{
	auto_cpu_map struct cpu_map would = {0};
	if (cpu_map_init(&would, NULL)) {
		return false;
	}
	memcpy(would.parts, m->parts, m->n * sizeof(*m->parts));
	would.n = m->n;
	return !cpu_map_policy(root, device, word, way, &would, NULL) && same_cpus(m, &would);
}

bool cpu_map_word(const struct sysroot *root, const char *device, enum cpu_map_way way,
		  const struct cpu_map *m, struct value *out)
{
	static const char *const words[] = {"none", "one", "spread", "local-node"};
	char list[LIST_SIZE];
	for (size_t i = 0; m->n && i < sizeof(words) / sizeof(words[0]); i++) {
		bool fits = way == SHARES ? strcmp(words[i], "one") : strcmp(words[i], "none");
		if (fits && is_policy(root, device, words[i], way, m)) {
			*out = value_text(words[i]);
			return true;
		}
	}
	if (!m->n || cpus_format_list(&m->parts[0].cpus, list, sizeof(list)) || !*list ||
	    strlen(list) >= sizeof(out->text) || !is_policy(root, device, list, way, m)) {
		return false;
	}
	*out = value_text(list);
	return true;
}
