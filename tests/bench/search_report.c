/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of bench runs. Medians and 90th percentiles of the true regret a surface; geometric means
 * of paired regret ratios with bootstrap intervals; how many tests one method needs to be as good
 * as another. Regrets below 0.05 % count as 0.05 %: no real host can tell them apart.
 */
#include "search_report.h"
#include "stats.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX  20000
#define NAMES_MAX 32
#define FLOOR	  0.05
#define RESAMPLES 2000

struct run {
	int surface, method, seed, n;
	double *regret;
};

struct table {
	struct run *runs;
	size_t n;
	char surface[NAMES_MAX][24], method[NAMES_MAX][48];
	int surfaces, methods;
};

static const int at[] = {25, 50, 100, 200};
#define POINTS (int)(sizeof(at) / sizeof(at[0]))

static int name_index(char *names, size_t size, int *n, const char *name)
{
	for (int i = 0; i < *n; i++) {
		if (strcmp(names + (size_t)i * size, name) == 0) {
			return i;
		}
	}
	if (*n == NAMES_MAX) {
		fprintf(stderr, "too many names\n");
		exit(1);
	}
	snprintf(names + (size_t)*n * size, size, "%s", name);
	return (*n)++;
}

static void add_line(struct table *t, char *line)
{
	char surface[24], method[48];
	int seed, used, n = 0;
	double regret[2000];
	if (sscanf(line, "%23s %d %47s%n", surface, &seed, method, &used) != 3 ||
	    t->n == RUNS_MAX) {
		return;
	}
	for (char *p = line + used, *end; n < 2000; p = end) {
		regret[n] = strtod(p, &end);
		if (end == p) {
			break;
		}
		n++;
	}
	struct run *r = &t->runs[t->n++];
	*r = (struct run){
		.surface = name_index(t->surface[0], sizeof(t->surface[0]), &t->surfaces, surface),
		.method = name_index(t->method[0], sizeof(t->method[0]), &t->methods, method),
		.seed = seed,
		.n = n,
		.regret = calloc((size_t)n + 1, sizeof(double)),
	};
	memcpy(r->regret, regret, (size_t)n * sizeof(double));
}

static void read_file(struct table *t, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	if (!f) {
		perror(path);
		exit(1);
	}
	while (getline(&line, &room, f) > 0) {
		add_line(t, line);
	}
	free(line);
	fclose(f);
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

/* Quantile over seeds of the regret after n tests; NaN if no run is that long. */
static double quantile(const struct table *t, int surface, int method, int n, double q)
{
	double v[RUNS_MAX];
	size_t m = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct run *r = &t->runs[i];
		if (r->surface == surface && r->method == method && r->n >= n) {
			v[m++] = r->regret[n - 1];
		}
	}
	if (m == 0) {
		return NAN;
	}
	qsort(v, m, sizeof(*v), ascending);
	double x = q * (double)(m - 1);
	size_t k = (size_t)x;
	return k + 1 < m ? v[k] + (x - (double)k) * (v[k + 1] - v[k]) : v[k];
}

static void print_regrets(const struct table *t)
{
	for (int p = 0; p < POINTS; p++) {
		printf("\nRegret in %% after %d tests, median/90th percentile\n%-20s", at[p], "");
		for (int s = 0; s < t->surfaces; s++) {
			printf(" %11s", t->surface[s]);
		}
		for (int m = 0; m < t->methods; m++) {
			printf("\n%-20s", t->method[m]);
			for (int s = 0; s < t->surfaces; s++) {
				char cell[32] = "-";
				double median = quantile(t, s, m, at[p], 0.5);
				if (!isnan(median)) {
					snprintf(cell, sizeof(cell), "%.2f/%.1f", median,
						 quantile(t, s, m, at[p], 0.9));
				}
				printf(" %11s", cell);
			}
		}
		printf("\n");
	}
}

static const struct run *find(const struct table *t, int surface, int method, int seed)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct run *r = &t->runs[i];
		if (r->surface == surface && r->method == method && r->seed == seed) {
			return r;
		}
	}
	return NULL;
}

/* Log ratios base/method of all pairs of runs of one surface (-1: of all). */
static size_t collect(const struct table *t, int base, int method, int surface, int n, double *out)
{
	size_t m = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct run *r = &t->runs[i];
		if (r->method != base || r->n < n || (surface >= 0 && r->surface != surface)) {
			continue;
		}
		const struct run *other = find(t, r->surface, method, r->seed);
		if (other && other->n >= n) {
			out[m++] = log(fmax(r->regret[n - 1], FLOOR) /
				       fmax(other->regret[n - 1], FLOOR));
		}
	}
	return m;
}

static void print_ratio(const double *log_ratio, size_t n)
{
	static double means[RESAMPLES];
	struct stats_rng rng;
	stats_rng_seed(&rng, 1);
	if (n == 0) {
		printf(" %17s", "-");
		return;
	}
	for (int k = 0; k < RESAMPLES; k++) {
		double sum = 0;
		for (size_t i = 0; i < n; i++) {
			sum += log_ratio[(size_t)(stats_rng_uniform(&rng) * (double)n)];
		}
		means[k] = sum / (double)n;
	}
	qsort(means, RESAMPLES, sizeof(*means), ascending);
	printf(" %.2f [%.2f, %.2f]", exp(stats_mean(log_ratio, n)), exp(means[RESAMPLES / 40]),
	       exp(means[RESAMPLES - RESAMPLES / 40]));
}

static void print_ratios(const struct table *t, int base)
{
	static double v[RUNS_MAX];
	printf("\nPaired regret ratio of %s to others, geometric mean [95 %%]\n%-20s",
	       t->method[base], "");
	for (int p = 0; p < POINTS; p++) {
		printf(" %14s %2d", "at", at[p]);
	}
	for (int m = 0; m < t->methods; m++) {
		if (m == base) {
			continue;
		}
		printf("\n%-20s", t->method[m]);
		for (int p = 0; p < POINTS; p++) {
			print_ratio(v, collect(t, base, m, -1, at[p], v));
		}
	}
	printf("\n");
}

/* Tests after which the base's median is for good no worse than value; NaN: never. */
static double tests_to_reach(const struct table *t, int base, int surface, double value)
{
	int last = 0;
	for (int n = 1; n <= 2000; n++) {
		double median = quantile(t, surface, base, n, 0.5);
		if (isnan(median)) {
			break;
		}
		if (median <= value) {
			return n;
		}
		last = n;
	}
	return last ? last + 1 : NAN;
}

static void print_reach(const struct table *t, int base)
{
	printf("\nTests until the median of %s is as good as another's after 100 and 200 tests\n"
	       "%-20s",
	       t->method[base], "");
	for (int s = 0; s < t->surfaces; s++) {
		printf(" %11s", t->surface[s]);
	}
	printf(" %11s\n", "median");
	for (int m = 0; m < t->methods; m++) {
		for (int p = 2; p < POINTS && m != base; p++) {
			double reached[NAMES_MAX];
			char name[64];
			snprintf(name, sizeof(name), "%.40s@%d", t->method[m], at[p]);
			printf("%-20s", name);
			for (int s = 0; s < t->surfaces; s++) {
				double value = quantile(t, s, m, at[p], 0.5);
				reached[s] = tests_to_reach(t, base, s, fmax(value, FLOOR));
				printf(" %11.0f", reached[s]);
			}
			printf(" %11.0f\n", stats_median(reached, (size_t)t->surfaces));
		}
	}
}

int bench_report(int argc, char **argv)
{
	static struct table t;
	if (argc < 2) {
		fprintf(stderr, "usage: search report METHOD FILE...\n");
		return 2;
	}
	t.runs = calloc(RUNS_MAX, sizeof(*t.runs));
	if (!t.runs) {
		return 1;
	}
	int base = name_index(t.method[0], sizeof(t.method[0]), &t.methods, argv[0]);
	for (int i = 1; i < argc; i++) {
		read_file(&t, argv[i]);
	}
	print_regrets(&t);
	print_ratios(&t, base);
	print_reach(&t, base);
	for (size_t i = 0; i < t.n; i++) {
		free(t.runs[i].regret);
	}
	free(t.runs);
	return 0;
}
