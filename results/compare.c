/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The comparison of two runs as an object: how they are compared, each metric's difference with its
 * interval, what else differs, and whether that is enough. The words are compare/words.c's. Called
 * by the compare command.
 */
#include "compare.h"
#include "cleanup.h"
#include "compare_private.h"
#include "compare_words.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { FEWEST_PAIRS = 6 };
#define LEVEL 0.95

struct work {
	const struct observations *side[2];
	struct compare_pairing pairing;
	const char *how;
	size_t pairs;
	const struct compare_cell *cell; /* unpaired: of which the samples are compared */
	struct compare_cell baselines;	 /* the cell, where nothing is in common */
};

/* Values of a metric in a cell of a side; NaN ones are left out. Returns their number. */
static size_t values_of(const struct work *w, const struct compare_cell *c, int side,
			enum compare_metric m, double *x)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n[side]; i++) {
		double v = compare_value(&w->side[side]->item[c->sample[side][i]], m);
		if (isfinite(v)) {
			x[n++] = v;
		}
	}
	return n;
}

static double cell_median(const struct work *w, const struct compare_cell *c, int side,
			  enum compare_metric m)
{
	auto_free double *x = malloc((c->n[side] + 1) * sizeof(*x));
	return x ? stats_median(x, values_of(w, c, side, m, x)) : NAN;
}

static struct interval paired(const struct work *w, enum compare_metric m)
{
	auto_free double *ratio = malloc((w->pairing.n + 1) * sizeof(*ratio));
	size_t n = 0;
	for (size_t i = 0; ratio && i < w->pairing.n; i++) {
		const struct compare_cell *c = &w->pairing.cell[i];
		double r = log(cell_median(w, c, 1, m) / cell_median(w, c, 0, m));
		if (isfinite(r) && n < 4096) {
			ratio[n++] = r;
		}
	}
	return stats_hodges_lehmann(ratio, n, LEVEL);
}

static struct interval unpaired(const struct work *w, enum compare_metric m)
{
	auto_free double *x = malloc((w->side[0]->n_items + 1) * sizeof(*x));
	auto_free double *y = malloc((w->side[1]->n_items + 1) * sizeof(*y));
	struct interval none = {NAN, -INFINITY, INFINITY, LEVEL};
	if (!x || !y) {
		return none;
	}
	size_t n = values_of(w, w->cell, 0, m, x), k = values_of(w, w->cell, 1, m, y);
	for (size_t i = 0; i < n; i++) {
		x[i] = log(x[i]);
	}
	for (size_t i = 0; i < k; i++) {
		y[i] = log(y[i]);
	}
	return stats_shift(x, n, y, k, LEVEL);
}

/* Samples of the baselines, whatever the space was. */
static int join_baselines(struct work *w)
{
	for (int s = 0; s < 2; s++) {
		const struct observations *o = w->side[s];
		w->baselines.sample[s] = malloc((o->n_items + 1) * sizeof(size_t));
		if (!w->baselines.sample[s]) {
			return -ENOMEM;
		}
		for (size_t i = 0; i < o->n_items; i++) {
			if (!strcmp(o->set[o->item[i].set].phase, "baseline")) {
				w->baselines.sample[s][w->baselines.n[s]++] = i;
			}
		}
	}
	w->cell = &w->baselines;
	return 0;
}

static size_t smaller(const struct compare_cell *c)
{
	return c->n[0] < c->n[1] ? c->n[0] : c->n[1];
}

static int choose_how(struct work *w, struct err *e)
{
	for (size_t i = 0; i < w->pairing.n; i++) {
		const struct compare_cell *c = &w->pairing.cell[i];
		w->pairs += smaller(c) > 0;
		if (smaller(c) > 0 && (!w->cell || smaller(c) > smaller(w->cell))) {
			w->cell = c;
		}
	}
	size_t boots[2] = {compare_boots(w->side[0]), compare_boots(w->side[1])};
	bool by_boots = boots[0] > 1 && boots[1] > 1 && w->cell &&
			!compare_same_boot(w->side[0], w->side[1]);
	w->how = by_boots ? "boots" : w->pairs >= FEWEST_PAIRS ? "paired" : "unpaired";
	if (!w->cell && join_baselines(w)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (!smaller(w->cell)) {
		return err_usage(e, "these two have no configuration in common, and not both a "
				    "baseline: there is nothing to compare");
	}
	return 0;
}

static json_t *metric_json(const struct work *w, enum compare_metric m)
{
	struct interval r = !strcmp(w->how, "boots")
				    ? compare_by_boots(w->side, &w->pairing, m, LEVEL)
			    : !strcmp(w->how, "paired") ? paired(w, m)
							: unpaired(w, m);
	double lo = 100 * expm1(r.lo), hi = 100 * expm1(r.hi);
	bool bounded = isfinite(r.lo) && isfinite(r.hi);
	if (isnan(r.estimate)) {
		return json_null();
	}
	json_t *interval = bounded ? json_pack("[f, f]", lo, hi) : json_null();
	return json_pack("{s:o, s:o, s:f, s:o, s:o, s:b}", "percent",
			 json_number_or_null(100 * expm1(r.estimate)), "interval", interval,
			 "level", LEVEL, "a", json_number_or_null(cell_median(w, w->cell, 0, m)),
			 "b", json_number_or_null(cell_median(w, w->cell, 1, m)), "significant",
			 bounded && (lo > 0 || hi < 0));
}

/* All values of a label on a side, joined. */
static void label_text(const struct observations *o, const char *name, char *buf, size_t size)
{
	auto_json json_t *seen = json_object();
	char text[512];
	buf[0] = 0;
	for (size_t i = 0; i < o->n_sets; i++) {
		observation_label(o->set[i].labels, name, text, sizeof(text));
		size_t at = strlen(buf);
		if (*text && !json_object_get(seen, text) && at + 204 < size) {
			snprintf(buf + at, size - at, "%s%.200s", at ? ", " : "", text);
			json_object_set_new(seen, text, json_null());
		}
	}
}

static json_t *differences_json(const struct work *w)
{
	static const char *const names[] = {"machine", "kernel", "driver", "firmware", "variant"};
	json_t *list = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char a[512], b[512];
		label_text(w->side[0], names[i], a, sizeof(a));
		label_text(w->side[1], names[i], b, sizeof(b));
		if (strcmp(a, b)) {
			json_array_append_new(list, json_sprintf("%s: %s in A, %s in B", names[i],
								 *a ? a : "none", *b ? b : "none"));
		}
	}
	return list;
}

static json_t *comparison_json(const struct work *w, const char *name_a, const char *name_b)
{
	size_t boots[2] = {compare_boots(w->side[0]), compare_boots(w->side[1])};
	bool known = boots[0] && boots[1], same = compare_same_boot(w->side[0], w->side[1]);
	json_t *metrics = json_object();
	for (int m = 0; m < COMPARE_METRICS; m++) {
		json_t *metric = metric_json(w, (enum compare_metric)m);
		json_object_set_new(metrics, compare_metric_names[m], metric);
	}
	size_t n[2] = {w->cell->n[0], w->cell->n[1]};
	if (strcmp(w->how, "unpaired")) {
		n[0] = w->side[0]->n_items;
		n[1] = w->side[1]->n_items;
	}
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:I, s:[I,I], s:[I,I], s:o, s:o, s:o, s:b}", "a", name_a, "b",
		name_b, "how", w->how, "pairs", (json_int_t)w->pairs, "samples", (json_int_t)n[0],
		(json_int_t)n[1], "boots", (json_int_t)boots[0], (json_int_t)boots[1], "same_boot",
		known ? json_boolean(same) : json_null(), "metrics", metrics, "differences",
		differences_json(w), "enough", !known || same || !strcmp(w->how, "boots"));
	json_object_set_new(o, "words", compare_words(o));
	return o;
}

int compare_make(const struct observations *a, const struct observations *b, const char *name_a,
		 const char *name_b, json_t **out, struct err *e)
{
	struct work w = {.side = {a, b}};
	int rc = compare_pair(w.side, &w.pairing, e);
	rc = rc ? rc : choose_how(&w, e);
	if (!rc) {
		*out = comparison_json(&w, name_a, name_b);
		rc = *out ? 0 : err_set(e, -ENOMEM, "out of memory");
	}
	compare_pairing_clear(&w.pairing);
	free(w.baselines.sample[0]);
	free(w.baselines.sample[1]);
	return rc;
}
