/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back ends of rps.cpus, xps.cpus and rps.flow_entries: a file for each queue of a device below
 * /sys/class/net/DEVICE/queues. The sysctl that sizes the whole flow table is another tunable.
 * Called by tunable.c through rps_ops and rps_flow_ops.
 */
#include "cleanup.h"
#include "cpu_map.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 192 };

static bool is_xps(const struct setting *s)
{
	return !strcmp(s->name, "xps.cpus");
}

static const char *file_of(const struct setting *s)
{
	return is_xps(s) ? "xps_cpus" : !strcmp(s->name, "rps.cpus") ? "rps_cpus" : "rps_flow_cnt";
}

static void path_of(const struct setting *s, int queue, char *path)
{
	snprintf(path, PATH_SIZE, "/sys/class/net/%s/queues/%s-%d/%s", s->device,
		 is_xps(s) ? "tx" : "rx", queue, file_of(s));
}

/* A queue of a device with one queue has the file, and reading it gives ENOENT (xps). */
static int why_not(const struct sysroot *root, const struct setting *s, int r, struct err *e)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "/sys/class/net/%s", s->device);
	if (!sysfile_exists(root, path)) {
		return err_set(e, -ENODEV, "there is no device %s", s->device);
	}
	if (r == -ENOENT && is_xps(s)) {
		return err_set(e, -EOPNOTSUPP,
			       "%s has one transmit queue: there is nothing to choose", s->device);
	}
	return err_set(e, r, "%s: %s cannot be read: %s", s->device, file_of(s), strerror(-r));
}

static int queues_of(const struct sysroot *root, const struct setting *s, struct err *e)
{
	char path[PATH_SIZE];
	int n = 0;
	for (;; n++) {
		path_of(s, n, path);
		if (!sysfile_exists(root, path)) {
			return n ? n : why_not(root, s, -ENOENT, e);
		}
	}
}

static int map_make(const struct sysroot *root, const struct setting *s, struct cpu_map *map,
		    struct err *e)
{
	int n = queues_of(root, s, e), r = n < 0 ? n : cpu_map_init(map, e);
	for (int i = 0; !r && i < n; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%s-%d", is_xps(s) ? "tx" : "rx", i);
		cpu_map_add(map, name, i);
	}
	return r;
}

static int map_read(const struct sysroot *root, const struct setting *s, struct cpu_map *map,
		    struct err *e)
{
	int r = map_make(root, s, map, e);
	for (size_t i = 0; !r && i < map->n; i++) {
		char path[PATH_SIZE], mask[CPU_SETSIZE];
		path_of(s, (int)i, path);
		r = sysfile_read(root, path, mask, sizeof(mask), NULL);
		r = r ? why_not(root, s, r, e) : cpus_parse_mask(mask, &map->parts[i].cpus, e);
	}
	return r;
}

static int rps_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_cpu_map struct cpu_map map = {0};
	int r = map_read(root, s, &map, e);
	return r ? r : cpu_map_format(&map, text, size, e);
}

static const struct cpu_map_part *part_of(const struct cpu_map *map, const char *name)
{
	for (size_t i = 0; i < map->n; i++) {
		if (!strcmp(map->parts[i].name, name)) {
			return &map->parts[i];
		}
	}
	return NULL;
}

/* Goes on after an error: a rollback puts back what it can, and the reading shows the rest. */
static int rps_write(const struct sysroot *root, const struct setting *s, const char *text,
		     struct err *e)
{
	auto_cpu_map struct cpu_map now = {0}, want = {0};
	int r = map_read(root, s, &now, e), bad = 0;
	r = r ? r : cpu_map_init(&want, e);
	r = r ? r : cpu_map_parse(text, &want, e);
	for (size_t i = 0; !r && i < now.n; i++) {
		char path[PATH_SIZE], mask[CPU_SETSIZE];
		const struct cpu_map_part *p = part_of(&want, now.parts[i].name);
		if (!p || CPU_EQUAL(&p->cpus, &now.parts[i].cpus)) {
			continue;
		}
		path_of(s, (int)i, path);
		cpus_format_mask(&p->cpus, mask, sizeof(mask));
		int w = sysfile_write(root, path, mask, bad ? NULL : e);
		bad = bad ? bad : w;
	}
	return r ? r : bad;
}

static int rps_plan(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_cpu_map struct cpu_map map = {0};
	if (strchr(text, '=')) {
		return 0;
	}
	int r = map_make(root, s, &map, e);
	r = r ? r : cpu_map_policy(root, s->device, text, SHARES, &map, e);
	return r ? r : cpu_map_format(&map, text, size, e);
}

static bool rps_word(const struct sysroot *root, const struct setting *s, const char *text,
		     struct value *out)
{
	auto_cpu_map struct cpu_map map = {0};
	*out = value_text(TUNABLE_AS_FOUND);
	if (!cpu_map_init(&map, NULL) && !cpu_map_parse(text, &map, NULL)) {
		for (size_t i = 0; i < map.n; i++) {
			map.parts[i].queue = (int)i;
		}
		cpu_map_word(root, s->device, SHARES, &map, out);
	}
	return true;
}

static void settable(const struct sysroot *root, const struct setting *s,
		     struct tunable_range *range)
{
	char path[PATH_SIZE];
	path_of(s, 0, path);
	range->settable = sysfile_settable(root, path, range->why_not, sizeof(range->why_not));
}

static int rps_probe(const struct sysroot *root, const struct setting *s, const char *field,
		     struct tunable_range *range, struct err *e)
{
	static const char *const words[] = {"none", "spread", "local-node"};
	char text[SETTING_TEXT_MAX];
	struct err why = {0};
	(void)field;
	(void)e;
	if (rps_read(root, s, text, sizeof(text), &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	rps_word(root, s, text, &range->present);
	settable(root, s, range);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		strcpy(range->choices[range->n_choices++], words[i]);
	}
	return 0;
}

/* One number if all queues have the same, else one for each queue. */
static int flow_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		     struct err *e)
{
	char first[32] = "";
	int n = queues_of(root, s, e);
	size_t used = 0;
	bool same = true;
	for (int i = 0; i < n; i++) {
		char path[PATH_SIZE], word[32];
		path_of(s, i, path);
		int r = sysfile_read(root, path, word, sizeof(word), NULL);
		if (r) {
			return why_not(root, s, r, e);
		}
		if (i == 0) {
			strcpy(first, word);
		}
		same = same && !strcmp(first, word);
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", word);
		if (used >= size) {
			return err_set(e, -ENAMETOOLONG, "%s has too many queues", s->device);
		}
	}
	if (n > 0 && same) {
		snprintf(text, size, "%s", first);
	}
	return n < 0 ? n : 0;
}

static int flow_write(const struct sysroot *root, const struct setting *s, const char *text,
		      struct err *e)
{
	int n = queues_of(root, s, e), r = n < 0 ? n : 0;
	const char *p = text;
	for (int i = 0; i < n; i++) {
		char path[PATH_SIZE], word[32];
		size_t len = strcspn(p, " ");
		snprintf(word, sizeof(word), "%.*s", (int)(len < 31 ? len : 31), p);
		path_of(s, i, path);
		int w = sysfile_write(root, path, word, r ? NULL : e);
		r = r ? r : w;
		p += p[len] ? len + 1 : 0; /* the last one is for all that follow */
	}
	return r;
}

static int flow_probe(const struct sysroot *root, const struct setting *s, const char *field,
		      struct tunable_range *range, struct err *e)
{
	char text[SETTING_TEXT_MAX];
	struct err why = {0};
	(void)e;
	if (flow_read(root, s, text, sizeof(text), &why) ||
	    setting_field(s, field, text, &range->present, &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	settable(root, s, range);
	return 0;
}

const struct tunable_ops rps_ops = {
	.by_name = true,
	.probe = rps_probe,
	.read = rps_read,
	.write = rps_write,
	.plan = rps_plan,
	.word = rps_word,
};

const struct tunable_ops rps_flow_ops = {
	.by_name = true,
	.probe = flow_probe,
	.read = flow_read,
	.write = flow_write,
};
