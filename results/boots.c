/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The "boots" block of a result. Measures nothing, reads no store. Called by the run command.
 */
#include "boots.h"
#include "json_util.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL	  0.95
#define BOOTS_MAX 64
#define HOSTS_MAX 16

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void boots_id(const json_t *hosts, char *out, size_t size)
{
	const char *id[HOSTS_MAX], *name, *last = "";
	json_t *host;
	size_t n = 0, at = 0;
	*out = '\0';
	json_object_foreach((json_t *)hosts, name, host)
	{
		if (n < HOSTS_MAX) {
			id[n++] = json_get_text(host, "boot_id", "");
		}
	}
	qsort(id, n, sizeof(id[0]), by_text);
	for (size_t i = 0; i < n && at < size; i++) {
		if (*id[i] && strcmp(id[i], last) != 0) {
			at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " + " : "", id[i]);
			last = id[i];
		}
	}
}

static json_t *block_of(const json_t *result)
{
	return json_object_get(result, "boots");
}

static json_t *each_of(const json_t *result)
{
	return json_object_get(block_of(result), "each");
}

void boots_begin(json_t *result, int wanted)
{
	json_object_set_new(result, "boots",
			    json_pack("{s:i, s:[], s:n, s:n, s:b}", "wanted", wanted, "each",
				      "percent", "interval", "significant", 0));
}

int boots_counted(const json_t *result)
{
	return (int)json_array_size(each_of(result));
}

int boots_wanted(const json_t *result)
{
	return (int)json_integer_value(json_object_get(block_of(result), "wanted"));
}

bool boots_has(const json_t *result, const char *boot)
{
	json_t *one;
	size_t i;
	json_array_foreach(each_of(result), i, one)
	{
		if (strcmp(json_get_text(one, "boot", ""), boot) == 0) {
			return true;
		}
	}
	return false;
}

/* Mean and interval of the boots' logarithms, as percent. */
static struct interval over_boots(const json_t *each)
{
	double x[BOOTS_MAX];
	size_t n = 0, i;
	json_t *one;
	json_array_foreach((json_t *)each, i, one)
	{
		double percent = json_get_number(one, "percent");
		if (isfinite(percent) && n < BOOTS_MAX) {
			x[n++] = log1p(percent / 100);
		}
	}
	struct interval out = {NAN, NAN, NAN, LEVEL};
	double mean = stats_mean(x, n);
	if (n >= 2) {
		double half = gsl_cdf_tdist_Pinv((1 + LEVEL) / 2, (double)n - 1) * stats_sd(x, n) /
			      sqrt((double)n);
		out.estimate = 100 * expm1(mean);
		out.lo = 100 * expm1(mean - half);
		out.hi = 100 * expm1(mean + half);
	}
	return out;
}

void boots_add(json_t *result, const struct boot_gain *g)
{
	json_t *block = block_of(result);
	json_array_append_new(
		each_of(result),
		json_pack("{s:s, s:i, s:o, s:[o, o], s:o, s:o}", "boot", g->boot, "pairs", g->pairs,
			  "percent", json_number_or_null(g->score.estimate), "interval",
			  json_number_or_null(g->score.lo), json_number_or_null(g->score.hi),
			  "throughput_percent", json_number_or_null(g->throughput.estimate),
			  "service_demand_percent",
			  json_number_or_null(g->service_demand.estimate)));
	struct interval all = over_boots(each_of(result));
	json_object_set_new(block, "percent", json_number_or_null(all.estimate));
	json_object_set_new(
		block, "interval",
		json_pack("[o, o]", json_number_or_null(all.lo), json_number_or_null(all.hi)));
	json_object_set_new(block, "significant", json_boolean(all.lo > 0 || all.hi < 0));
}
