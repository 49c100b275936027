/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Observations as levels by boot, for the verdict. Decides nothing. Called by the check command.
 */
#include "check_sides.h"
#include "cleanup.h"
#include "json_util.h"
#include "stats.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static bool has_all(const json_t *labels, const json_t *wanted)
{
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)wanted, name, value)
	{
		const json_t *have = json_object_get(labels, name);
		if (!have || !json_equal(have, value)) {
			return false;
		}
	}
	return true;
}

/* More is better: of what is to be small, the negative logarithm. */
static double level_of(const struct observation *o, enum compare_metric m)
{
	double x = log(compare_value(o, m));
	return m == COMPARE_SERVICE_DEMAND ? -x : x;
}

static size_t boot_of(struct check_side *s, const json_t *labels)
{
	char boot[512];
	observation_label(labels, "boot", boot, sizeof(boot));
	s->boots_known &= *boot != 0;
	json_t *known = json_object_get(s->boot_names, boot);
	if (!known) {
		known = json_integer((json_int_t)s->n_boots++);
		json_object_set_new(s->boot_names, boot, known);
	}
	return (size_t)json_integer_value(known);
}

struct sums { /* of one boot */
	double sum, squares;
	size_t n;
};

static void finish(struct check_side *s, const struct sums *sums)
{
	double squares = 0, freedom = 0, count = 0;
	for (size_t i = 0; i < s->n_boots; i++) {
		double n = (double)sums[i].n;
		s->boot[i] = sums[i].sum / n;
		squares += sums[i].squares - sums[i].sum * sums[i].sum / n;
		freedom += n - 1;
		count += n;
	}
	double per_boot = count / (double)s->n_boots;
	s->within = freedom > 0 && squares > 0 ? sqrt(squares / freedom / per_boot) : 0;
}

int check_side_make(const struct observations *o, const json_t *wanted, enum compare_metric m,
		    struct check_side *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	auto_free struct sums *sums = calloc(o->n_sets + 1, sizeof(*sums));
	out->boot = calloc(o->n_sets + 1, sizeof(*out->boot));
	out->sample = calloc(o->n_items + 1, sizeof(*out->sample));
	out->boot_names = json_object();
	out->boots_known = true;
	if (!sums || !out->boot || !out->sample || !out->boot_names) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < o->n_sets; i++) {
		const struct observation_set *set = &o->set[i];
		for (size_t j = 0; has_all(set->labels, wanted) && j < set->n; j++) {
			double x = level_of(&o->item[set->first + j], m);
			if (isfinite(x)) {
				struct sums *b = &sums[boot_of(out, set->labels)];
				b->sum += x;
				b->squares += x * x;
				b->n++;
				out->sample[out->n_samples++] = x;
			}
		}
	}
	if (out->n_boots) {
		finish(out, sums);
	}
	out->boots_known &= out->n_boots > 0;
	return 0;
}

void check_side_clear(struct check_side *s)
{
	free(s->boot);
	free(s->sample);
	json_decref(s->boot_names);
	memset(s, 0, sizeof(*s));
}

bool check_side_same_boot(const struct check_side *a, const struct check_side *b)
{
	const char *boot;
	json_t *unused;
	json_object_foreach(a->boot_names, boot, unused)
	{
		if (*boot && json_object_get(b->boot_names, boot)) {
			return true;
		}
	}
	return false;
}

/* The labels that make boots comparable. */
static json_t *condition_of(const json_t *labels)
{
	static const char *const names[] = {"name", "kernel", "machine", "driver", "firmware"};
	json_t *o = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		json_t *value = json_object_get(labels, names[i]);
		if (value) {
			json_object_set(o, names[i], value);
		}
	}
	return o;
}

double check_history(const struct observations *o, enum compare_metric m, double *freedom)
{
	auto_json json_t *seen = json_object();
	double squares = 0;
	*freedom = 0;
	for (size_t i = 0; i < o->n_sets; i++) {
		auto_json json_t *condition = condition_of(o->set[i].labels);
		auto_free char *text = json_dumps(condition, JSON_SORT_KEYS | JSON_COMPACT);
		struct check_side side;
		struct err ignored = {0};
		if (!text || json_object_get(seen, text)) {
			continue;
		}
		json_object_set_new(seen, text, json_null());
		if (!check_side_make(o, condition, m, &side, &ignored) && side.boots_known &&
		    side.n_boots > 1) {
			double sd = stats_sd(side.boot, side.n_boots);
			squares += sd * sd * (double)(side.n_boots - 1);
			*freedom += (double)(side.n_boots - 1);
		}
		check_side_clear(&side);
	}
	return *freedom > 0 ? sqrt(squares / *freedom) : NAN;
}
