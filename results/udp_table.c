/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table message size x MTU. Called by timeline.c; knows no store.
 */
#include "udp_table.h"
#include "cleanup.h"
#include "json_util.h"
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

/* One row while it is made: samples by size. {"labels", "mtu", "cells": {size: [throughputs]}} */

static json_t *find_value(const json_t *labels, const char *name)
{
	size_t n = strlen(name);
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)labels, key, value)
	{
		if (!strncmp(key, name, n) && (key[n] == 0 || key[n] == '@') &&
		    json_is_number(value)) {
			return value;
		}
	}
	return NULL;
}

static json_t *without_cell(const json_t *labels)
{
	json_t *rest = json_object(), *value;
	const char *key;
	json_object_foreach((json_t *)labels, key, value)
	{
		if (strncmp(key, "socket.message_size", 19) && strncmp(key, "link.mtu", 8) &&
		    strcmp(key, "boot") && strcmp(key, "date")) {
			json_object_set(rest, key, value);
		}
	}
	return rest;
}

static void add_set(json_t *rows, const struct observations *o, const struct observation_set *set)
{
	json_t *size = find_value(set->labels, "socket.message_size"),
	       *mtu = find_value(set->labels, "link.mtu");
	if (!size || !mtu) {
		return;
	}
	auto_json json_t *labels = without_cell(set->labels);
	auto_free char *text = json_dumps(labels, JSON_SORT_KEYS | JSON_COMPACT);
	char key[2048], cell[32];
	snprintf(key, sizeof(key), "%s %.0f", text ? text : "", json_number_value(mtu));
	snprintf(cell, sizeof(cell), "%.0f", json_number_value(size));
	json_t *row = json_object_get(rows, key);
	if (!row) {
		row = json_pack("{s:O, s:O, s:{}}", "labels", labels, "mtu", mtu, "cells");
		json_object_set_new(rows, key, row);
	}
	json_t *cells = json_object_get(row, "cells"), *list = json_object_get(cells, cell);
	if (!list) {
		list = json_array();
		json_object_set_new(cells, cell, list);
	}
	for (size_t i = 0; i < set->n; i++) {
		double x = o->item[set->first + i].throughput;
		if (x > 0) {
			json_array_append_new(list, json_real(x));
		}
	}
}

enum { SIZES_MAX = 256 };

struct cell {
	double size, level, mean, var; /* mean and variance of logarithms */
	double half[2];		       /* medians of the even and the odd samples; NaN */
	size_t n;
};

static int by_size(const void *a, const void *b)
{
	double x = ((const struct cell *)a)->size, y = ((const struct cell *)b)->size;
	return x < y ? -1 : x > y;
}

static void fill_cell(struct cell *c, json_t *list)
{
	size_t n = json_array_size(list);
	auto_free double *x = malloc((n + 1) * sizeof(*x));
	auto_free double *half = malloc((n + 1) * sizeof(*half));
	c->n = 0;
	c->level = c->half[0] = c->half[1] = NAN;
	if (!x || !half) {
		return;
	}
	for (size_t i = 0; i < n; i++) {
		x[i] = json_number_value(json_array_get(list, i));
	}
	c->n = n;
	c->level = stats_median(x, n);
	for (size_t h = 0; h < 2; h++) {
		size_t m = 0;
		for (size_t i = h; i < n; i += 2) {
			half[m++] = x[i];
		}
		c->half[h] = stats_median(half, m);
	}
	for (size_t i = 0; i < n; i++) {
		x[i] = log(x[i]);
	}
	c->mean = stats_mean(x, n);
	c->var = n > 1 ? stats_sd(x, n) * stats_sd(x, n) : NAN;
}

static size_t largest(const struct cell *c, size_t n, int half)
{
	size_t best = 0;
	for (size_t i = 1; i < n; i++) {
		double x = half < 0 ? c[i].level : c[i].half[half],
		       b = half < 0 ? c[best].level : c[best].half[half];
		best = x > b ? i : best;
	}
	return best;
}

/* Is cell a not to be told from the best, over tests comparisons? */
static bool as_good(const struct cell *a, const struct cell *best, size_t tests)
{
	double va = a->var / (double)a->n, vb = best->var / (double)best->n;
	double freedom = (va + vb) * (va + vb) /
			 (va * va / (double)(a->n - 1) + vb * vb / (double)(best->n - 1));
	if (!(va + vb > 0)) {
		return a->mean == best->mean;
	}
	double t = gsl_cdf_tdist_Pinv(1 - 0.025 / (double)tests, freedom);
	return best->mean - a->mean <= t * sqrt(va + vb);
}

static void choose(json_t *row, const struct cell *c, size_t n)
{
	bool fair = true;
	for (size_t i = 0; i < n; i++) {
		fair &= n == 1 || c[i].n >= 2;
	}
	size_t best = largest(c, n, -1);
	double level = c[best].level;
	json_t *good = json_array();
	if (fair && n > 1) {
		size_t even = largest(c, n, 0), odd = largest(c, n, 1);
		level = sqrt(c[even].half[1] * c[odd].half[0]);
	}
	for (size_t i = 0; fair && i < n; i++) {
		if (i != best && as_good(&c[i], &c[best], n - 1)) {
			json_array_append_new(good, json_integer((json_int_t)c[i].size));
		}
	}
	json_object_set_new(row, "best_size", json_integer((json_int_t)c[best].size));
	json_object_set_new(row, "throughput", json_number_or_null(level));
	json_object_set_new(row, "as_good", good);
	json_object_set_new(row, "fair", json_boolean(fair));
}

static json_t *row_json(json_t *raw)
{
	json_t *row = json_object(), *sizes = json_array(), *list;
	const char *size;
	struct cell cell[SIZES_MAX];
	size_t n = 0;
	json_object_foreach(json_object_get(raw, "cells"), size, list)
	{
		if (n < SIZES_MAX && json_array_size(list)) {
			cell[n].size = strtod(size, NULL);
			fill_cell(&cell[n++], list);
		}
	}
	qsort(cell, n, sizeof(*cell), by_size);
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(sizes, json_pack("{s:I, s:I, s:o}", "message_size",
						       (json_int_t)cell[i].size, "samples",
						       (json_int_t)cell[i].n, "throughput",
						       json_number_or_null(cell[i].level)));
	}
	json_object_set(row, "labels", json_object_get(raw, "labels"));
	json_object_set(row, "mtu", json_object_get(raw, "mtu"));
	json_object_set_new(row, "sizes", sizes);
	if (n) {
		choose(row, cell, n);
	}
	return row;
}

json_t *udp_table_json(const struct observations *o)
{
	auto_json json_t *rows = json_object();
	json_t *out = json_array(), *raw;
	const char *key;
	for (size_t i = 0; i < o->n_sets; i++) {
		add_set(rows, o, &o->set[i]);
	}
	json_object_foreach(rows, key, raw)
	{
		json_array_append_new(out, row_json(raw));
	}
	return out;
}
