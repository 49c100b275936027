/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which samples of two runs are of the same configuration, and of which boots they are. Computes
 * no difference. Called by compare.c.
 */
#include "cleanup.h"
#include "compare_private.h"
#include "intern.h"
#include <errno.h>
#include <math.h>
#include <string.h>

const char *const compare_metric_names[COMPARE_METRICS] = {
	[COMPARE_THROUGHPUT] = "throughput",
	[COMPARE_SERVICE_DEMAND] = "service_demand",
	[COMPARE_SCORE] = "score",
};

double compare_value(const struct observation *o, enum compare_metric m)
{
	double x = m == COMPARE_THROUGHPUT	 ? o->throughput
		   : m == COMPARE_SERVICE_DEMAND ? o->service_demand
						 : o->score;
	return x > 0 ? x : NAN;
}

/* What tells two machines, kernels or days apart is what is compared, not what makes a pair. */
static bool is_condition(const char *label)
{
	static const char *const names[] = {"name", "kernel", "driver", "firmware", "machine",
					    "boot", "date",   "host",	"variant",  "label",
					    "note", "run",    "tool"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(label, names[i])) {
			return true;
		}
	}
	return false;
}

static char *cell_key(const struct observation_set *set)
{
	auto_json json_t *key = json_object();
	const char *name;
	json_t *value;
	json_object_update(key, set->values);
	json_object_foreach(set->labels, name, value)
	{
		if (!is_condition(name)) {
			json_object_set(key, name, value);
		}
	}
	return json_dumps(key, JSON_SORT_KEYS | JSON_COMPACT);
}

static int add_samples(struct compare_cell *c, int side, const struct observation_set *set)
{
	size_t *more = reallocarray(c->sample[side], c->n[side] + set->n, sizeof(*more));
	if (!more) {
		return -ENOMEM;
	}
	c->sample[side] = more;
	for (size_t i = 0; i < set->n; i++) {
		more[c->n[side]++] = set->first + i;
	}
	c->baseline[side] |= !strcmp(set->phase, "baseline");
	return 0;
}

static int pair_side(const struct observations *o, int side, struct compare_pairing *p,
		     struct intern *keys)
{
	for (size_t i = 0; i < o->n_sets; i++) {
		auto_free char *key = cell_key(&o->set[i]);
		size_t at = key ? intern_text(keys, key) : SIZE_MAX;
		if (at == SIZE_MAX || add_samples(&p->cell[at], side, &o->set[i])) {
			return -ENOMEM;
		}
		p->n = keys->n;
	}
	return 0;
}

int compare_pair(const struct observations *const side[2], struct compare_pairing *out,
		 struct err *e)
{
	struct intern keys = {0};
	out->n = 0;
	out->cell = calloc(side[0]->n_sets + side[1]->n_sets + 1, sizeof(*out->cell));
	int rc = out->cell ? pair_side(side[0], 0, out, &keys) : -ENOMEM;
	rc = rc ? rc : pair_side(side[1], 1, out, &keys);
	intern_clear(&keys);
	return rc ? err_set(e, rc, "out of memory") : 0;
}

void compare_pairing_clear(struct compare_pairing *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->cell[i].sample[0]);
		free(p->cell[i].sample[1]);
	}
	free(p->cell);
}

/* {boot: number} */
static json_t *boots_of(const struct observations *o)
{
	json_t *boots = json_object();
	char boot[512];
	for (size_t i = 0; i < o->n_sets; i++) {
		observation_label(o->set[i].labels, "boot", boot, sizeof(boot));
		if (*boot && !json_object_get(boots, boot)) {
			json_object_set_new(boots, boot,
					    json_integer((json_int_t)json_object_size(boots)));
		}
	}
	return boots;
}

size_t compare_boots(const struct observations *o)
{
	auto_json json_t *boots = boots_of(o);
	return json_object_size(boots);
}

bool compare_same_boot(const struct observations *a, const struct observations *b)
{
	auto_json json_t *boots_a = boots_of(a), *boots_b = boots_of(b);
	const char *boot;
	json_t *unused;
	json_object_foreach(boots_a, boot, unused)
	{
		if (json_object_get(boots_b, boot)) {
			return true;
		}
	}
	return false;
}
