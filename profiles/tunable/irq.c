/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of irq.affinity: on which CPUs the interrupts of one device's queues may come. Its
 * text names the vectors by queue ("q0=0-3 q1=1"), since numbers change when a driver makes its
 * vectors anew. Before the first write they are taken out of irqbalance's hands, which is journaled
 * as a setting of its own.
 * Called by tunable.c through irq_ops.
 */
#include "cleanup.h"
#include "cpu_map.h"
#include "device_irqs.h"
#include "irqbalance.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct vectors { /* of the queues alone; map.parts[i] is about irqs[i] */
	struct device_irq *irqs;
	struct cpu_map map;
};

static void vectors_clear(struct vectors *v)
{
	free(v->irqs);
	cpu_map_clear(&v->map);
}

#define auto_vectors __attribute__((cleanup(vectors_clear)))

static void path_of(int irq, char *path, size_t size)
{
	snprintf(path, size, "/proc/irq/%d/smp_affinity_list", irq);
}

static int read_affinity(const struct sysroot *root, int irq, cpu_set_t *out, struct err *e)
{
	char path[64], text[4096];
	path_of(irq, path, sizeof(path));
	int r = sysfile_read(root, path, text, sizeof(text), e);
	return r ? r : cpus_parse_list(text, out, e);
}

/* "q3" is the first vector of queue 3, "q3b" its second: RX and TX apart. */
static void name_vector(const struct vectors *v, size_t n, int queue, char *name, size_t size)
{
	char suffix[2] = "";
	for (size_t i = 0; i < n; i++) {
		if (v->irqs[i].queue == queue) {
			suffix[0] = suffix[0] ? (char)(suffix[0] + 1) : 'b';
		}
	}
	snprintf(name, size, "q%d%s", queue, suffix);
}

static int vectors_find(const struct sysroot *root, const char *device, struct vectors *v,
			struct err *e)
{
	v->irqs = calloc(DEVICE_IRQS_MAX, sizeof(*v->irqs));
	if (!v->irqs || cpu_map_init(&v->map, e)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int n = device_irqs_list(root, device, v->irqs, DEVICE_IRQS_MAX, e);
	for (int i = 0; i < n; i++) {
		char name[16];
		if (v->irqs[i].queue < 0) {
			continue;
		}
		v->irqs[v->map.n] = v->irqs[i];
		name_vector(v, v->map.n, v->irqs[i].queue, name, sizeof(name));
		if (!cpu_map_add(&v->map, name, v->irqs[v->map.n].queue)) {
			break;
		}
	}
	if (n >= 0 && !v->map.n) {
		return err_set(e, -ENODEV, "%s has no interrupts of its queues now (is it up?)",
			       device);
	}
	return n < 0 ? n : 0;
}

static int vectors_read(const struct sysroot *root, const char *device, struct vectors *v,
			struct err *e)
{
	int r = vectors_find(root, device, v, e);
	for (size_t i = 0; !r && i < v->map.n; i++) {
		r = read_affinity(root, v->irqs[i].irq, &v->map.parts[i].cpus, e);
	}
	return r;
}

static int irq_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_vectors struct vectors v = {0};
	int r = vectors_read(root, s->device, &v, e);
	return r ? r : cpu_map_format(&v.map, text, size, e);
}

static const cpu_set_t *wanted(const struct cpu_map *map, const char *name)
{
	for (size_t i = 0; i < map->n; i++) {
		if (!strcmp(map->parts[i].name, name)) {
			return &map->parts[i].cpus;
		}
	}
	return NULL;
}

struct tally {
	size_t written, managed;
	int refused; /* the first other error */
};

/* EIO (older kernels) and EPERM (newer ones) mean that the kernel places this interrupt itself. */
static void write_vector(const struct sysroot *root, const struct device_irq *irq,
			 const cpu_set_t *want, struct tally *t, struct err *e)
{
	char path[64], list[4096];
	struct err why = {0};
	path_of(irq->irq, path, sizeof(path));
	int r = cpus_format_list(want, list, sizeof(list));
	r = r ? r : sysfile_write(root, path, list, &why);
	if (r == -EIO || r == -EPERM) {
		t->managed++;
	} else if (r && !t->refused) {
		t->refused = err_set(e, r, "%s", why.text);
	}
	t->written += !r;
}

static int take_over(const struct sysroot *root, const struct vectors *v, struct err *e)
{
	int irqs[DEVICE_IRQS_MAX];
	for (size_t i = 0; i < v->map.n; i++) {
		irqs[i] = v->irqs[i].irq;
	}
	return irqbalance_spare(root, irqs, v->map.n, e);
}

static int irq_write(const struct sysroot *root, const struct setting *s, const char *text,
		     struct err *e)
{
	auto_vectors struct vectors v = {0};
	auto_cpu_map struct cpu_map want = {0};
	struct tally t = {0};
	int r = vectors_read(root, s->device, &v, e);
	r = r ? r : cpu_map_init(&want, e);
	r = r ? r : cpu_map_parse(text, &want, e);
	r = r ? r : take_over(root, &v, e);
	for (size_t i = 0; !r && i < v.map.n; i++) {
		const cpu_set_t *cpus = wanted(&want, v.map.parts[i].name);
		if (cpus && CPU_COUNT(cpus) && !CPU_EQUAL(cpus, &v.map.parts[i].cpus)) {
			write_vector(root, &v.irqs[i], cpus, &t, e);
		}
	}
	if (r || t.refused) {
		return r ? r : t.refused;
	}
	return t.managed && !t.written ? err_set(e, -EPERM,
						 "the kernel places the interrupts of %s itself "
						 "(managed), and lets "
						 "nobody else",
						 s->device)
				       : 0;
}

static int irq_plan(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_vectors struct vectors v = {0};
	if (strchr(text, '=')) {
		return 0;
	}
	int r = vectors_find(root, s->device, &v, e);
	r = r ? r : cpu_map_policy(root, s->device, text, ONE_EACH, &v.map, e);
	return r ? r : cpu_map_format(&v.map, text, size, e);
}

static bool irq_word(const struct sysroot *root, const struct setting *s, const char *text,
		     struct value *out)
{
	auto_vectors struct vectors v = {0};
	auto_cpu_map struct cpu_map map = {0};
	*out = value_text(TUNABLE_AS_FOUND);
	if (vectors_find(root, s->device, &v, NULL) || cpu_map_init(&map, NULL) ||
	    cpu_map_parse(text, &map, NULL)) {
		return true;
	}
	for (size_t i = 0; i < v.map.n; i++) {
		const cpu_set_t *cpus = wanted(&map, v.map.parts[i].name);
		if (!cpus) {
			return true;
		}
		v.map.parts[i].cpus = *cpus;
	}
	cpu_map_word(root, s->device, ONE_EACH, &v.map, out);
	return true;
}

/* Newer kernels take the right to write from a managed interrupt's file. Older ones show nothing:
 * there a text that can be no list is EINVAL, and EIO only where nothing at all would be taken. */
static bool is_managed(const struct sysroot *root, int irq)
{
	char path[64];
	path_of(irq, path, sizeof(path));
	if (!sysfile_mode(root, path, S_IWUSR)) {
		return true;
	}
	return !*root->prefix && sysfile_write(root, path, "x", NULL) == -EIO;
}

static int irq_probe(const struct sysroot *root, const struct setting *s, const char *field,
		     struct tunable_range *range, struct err *e)
{
	static const char *const words[] = {"spread", "local-node", "one"};
	auto_vectors struct vectors v = {0};
	struct err why = {0};
	char text[SETTING_TEXT_MAX];
	size_t managed = 0;
	(void)field;
	(void)e;
	if (vectors_read(root, s->device, &v, &why) ||
	    cpu_map_format(&v.map, text, sizeof(text), &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	irq_word(root, s, text, &range->present);
	for (size_t i = 0; i < v.map.n; i++) {
		managed += is_managed(root, v.irqs[i].irq);
	}
	range->settable = managed < v.map.n;
	if (!range->settable) {
		snprintf(range->why_not, sizeof(range->why_not),
			 "the kernel places these interrupts itself (managed)");
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		strcpy(range->choices[range->n_choices++], words[i]);
	}
	return 0;
}

const struct tunable_ops irq_ops = {
	.by_name = true,
	.probe = irq_probe,
	.read = irq_read,
	.write = irq_write,
	.plan = irq_plan,
	.word = irq_word,
};
