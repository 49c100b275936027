/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bench surfaces without a host model: the published table, two buffers with cliffs, ridges, and
 * the placement of interrupts. Their formulas are inventions that share the shape of the real
 * thing.
 */
#include "cleanup.h"
#include "search_bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The published table: throughput over the defaults of tcp_wmem and tcp_rmem (bytes) ---- */

#define TABLE	    "tests/data/ipoib-tcp-mem-2.6.16-rc5.csv"
#define TABLE_ROWS  12
#define TABLE_REACH 1.2 /* octaves over which a residual is believed */

struct table {
	int n;
	double a[TABLE_ROWS], b[TABLE_ROWS], weight[TABLE_ROWS];
};

static double table_trend(double a, double b)
{
	double low = fmin(a, b), high = fmax(a, b), gap = a - b;
	double starve = log1p(exp(2 * (15.6 - low))) / 2, spill = log1p(exp(2 * (high - 16.9))) / 2;
	return log(400) - 0.35 * starve - 0.1 * spill - 0.02 * gap * gap;
}

static double table_basis(double a, double b, double c, double d)
{
	double r2 = (a - c) * (a - c) + (b - d) * (b - d);
	return exp(-0.5 * r2 / (TABLE_REACH * TABLE_REACH));
}

/* Solves the weights of a radial basis by Gauss and Jordan: 10 rows need no library. */
static void table_solve(struct table *t, double *residual)
{
	double m[TABLE_ROWS][TABLE_ROWS];
	for (int i = 0; i < t->n; i++) {
		for (int k = 0; k < t->n; k++) {
			m[i][k] = table_basis(t->a[i], t->b[i], t->a[k], t->b[k]) +
				  (i == k ? 1e-3 : 0);
		}
	}
	for (int i = 0; i < t->n; i++) {
		for (int k = 0; k < t->n; k++) {
			double f = k == i ? 0 : m[k][i] / m[i][i];
			for (int c = i; f != 0 && c < t->n; c++) {
				m[k][c] -= f * m[i][c];
			}
			residual[k] -= f * residual[i];
		}
	}
	for (int i = 0; i < t->n; i++) {
		t->weight[i] = residual[i] / m[i][i];
	}
}

static void paper_prepare(struct bench_world *w, struct stats_rng *rng)
{
	struct table t = {0};
	double residual[TABLE_ROWS], a, b, rate;
	char line[256];
	(void)rng;
	auto_fclose FILE *f = fopen(TABLE, "r");
	while (f && fgets(line, sizeof(line), f) && t.n < TABLE_ROWS) {
		if (sscanf(line, "4096,%lf,16777216,4096,%lf,16777216,%lf", &a, &b, &rate) == 3) {
			t.a[t.n] = log2(a);
			t.b[t.n] = log2(b);
			residual[t.n] = log(rate) - table_trend(t.a[t.n], t.b[t.n]);
			t.n++;
		}
	}
	table_solve(&t, residual);
	w->param[0] = t.n;
	for (int i = 0; i < t.n; i++) {
		w->param[1 + 3 * i] = t.a[i];
		w->param[2 + 3 * i] = t.b[i];
		w->param[3 + 3 * i] = t.weight[i];
	}
}

static double paper_at(const struct bench_world *w, const double *v)
{
	double sum = table_trend(v[0], v[1]);
	for (int i = 0; i < (int)w->param[0]; i++) {
		const double *p = &w->param[1 + 3 * i];
		sum += p[2] * table_basis(v[0], v[1], p[0], p[1]);
	}
	return sum;
}

static const struct bench_dim paper_dims[] = {
	{.levels = 145, .lo = 14, .hi = 23, .start = 18.5},
	{.levels = 145, .lo = 14, .hi = 23, .start = 18.5},
};

const struct bench_surface bench_paper2d = {
	.name = "paper2d", .d = 2, .dims = paper_dims, .prepare = paper_prepare, .at = paper_at};

/* ---- Socket buffer and message size: the least of link, window and CPU, with cliffs ---- */

static double bneck_at(const struct bench_world *w, const double *v)
{
	double window = exp2(v[0]), message = exp2(v[1]), rtt = 4e-3 * (1 + 0.3 * w->param[0]);
	double calls = 1.5e-6 / message, copy = 0.55e-9;
	double spill = 1 + 0.18 * fmax(0, v[0] - 22.3) + 0.22 * fmax(0, v[1] - 18.2);
	double cpu = (calls + copy) * spill; /* seconds a byte */
	double stall = message > window / 4 ? 0.55 : 1;
	double rate = fmin(fmin(1.17e9, window / rtt), 1 / cpu) * stall;
	if (message > window || v[0] + v[1] > 47) {
		return NAN;
	}
	return log(rate) - log(cpu * 1e9);
}

static void one_param(struct bench_world *w, struct stats_rng *rng)
{
	w->param[0] = stats_rng_uniform(rng);
}

static const struct bench_dim bneck_dims[] = {
	{.lo = 14, .hi = 26, .start = 16},
	{.lo = 6, .hi = 23, .start = 10},
};

const struct bench_surface bench_bneck2d = {
	.name = "bneck2d", .d = 2, .dims = bneck_dims, .prepare = one_param, .at = bneck_at};

/* ---- Five numbers that must match each other, in directions that are not the axes ---- */

#define RIDGE 5

static void ridge_prepare(struct bench_world *w, struct stats_rng *rng)
{
	double *q = w->param + RIDGE;
	for (int j = 0; j < RIDGE; j++) {
		w->param[j] = 0.25 + 0.5 * stats_rng_uniform(rng);
	}
	for (int i = 0; i < RIDGE; i++) { /* random directions, made orthogonal */
		for (int j = 0; j < RIDGE; j++) {
			q[i * RIDGE + j] = stats_rng_normal(rng);
		}
		for (int k = 0; k <= i; k++) {
			double dot = 0;
			for (int j = 0; j < RIDGE; j++) {
				dot += q[i * RIDGE + j] * q[k * RIDGE + j];
			}
			for (int j = 0; j < RIDGE; j++) {
				q[i * RIDGE + j] = k < i ? q[i * RIDGE + j] - dot * q[k * RIDGE + j]
							 : q[i * RIDGE + j] / sqrt(dot);
			}
		}
	}
}

static double ridge_at(const struct bench_world *w, const double *v)
{
	static const double steep[RIDGE] = {3.2, 1.8, 0.9, 0.5, 0.25};
	double loss = 0;
	for (int i = 0; i < RIDGE; i++) {
		double t = 0;
		for (int j = 0; j < RIDGE; j++) {
			t += w->param[RIDGE + i * RIDGE + j] * (v[j] - w->param[j]);
		}
		loss += steep[i] * t * t + 0.012 * (1 - cos(15 * t));
	}
	return -1.6 * loss / (1 + 0.5 * loss);
}

static const struct bench_dim ridge_dims[] = {
	{.lo = 0, .hi = 1, .start = 0.05}, {.lo = 0, .hi = 1, .start = 0.1},
	{.lo = 0, .hi = 1, .start = 0.9},  {.lo = 0, .hi = 1, .start = 0.1},
	{.lo = 0, .hi = 1, .start = 0.95},
};

const struct bench_surface bench_ridge5 = {
	.name = "ridge5", .d = 5, .dims = ridge_dims, .prepare = ridge_prepare, .at = ridge_at};

/* ---- Four queues' interrupts and the application on 8 CPUs (2 nodes, 2 siblings a core) ---- */

#define QUEUES 4

static double place_at(const struct bench_world *w, const double *v)
{
	int load[8] = {0}, core[4] = {0}, app = (int)v[4], remote = 0, siblings = 0;
	double usecs = exp2(v[5]);
	(void)w;
	for (int i = 0; i < QUEUES; i++) {
		int cpu = (int)v[i];
		load[cpu]++;
		core[cpu / 2]++;
		remote += cpu / 4 != 0; /* the NIC is on node 0 */
		siblings += cpu / 2 == app / 2 && cpu != app;
	}
	double busiest = 0, stolen = load[app];
	for (int c = 0; c < 8; c++) {
		double both = load[c] + 0.35 * (core[c / 2] - load[c]);
		busiest = fmax(busiest, both);
	}
	double softirq = 1 / (0.35 + 0.25 * log2(1 + usecs));
	double rate = fmin(1.0, 1.9 / (busiest * (0.55 + 0.45 * softirq)));
	rate *= 1 / (1 + 0.22 * stolen + 0.08 * siblings) * (app / 4 == 0 ? 1 : 0.9);
	double cost = (0.6 + 0.4 * softirq) * (1 + 0.06 * remote) * (app / 4 == 0 ? 1 : 1.12) +
		      0.0008 * usecs;
	return log(rate) - log(cost);
}

static const struct bench_dim place_dims[] = {
	{.category = true, .levels = 8, .start = 0}, {.category = true, .levels = 8, .start = 0},
	{.category = true, .levels = 8, .start = 0}, {.category = true, .levels = 8, .start = 0},
	{.category = true, .levels = 8, .start = 0}, {.levels = 33, .lo = 0, .hi = 8, .start = 0},
};

const struct bench_surface bench_place6 = {
	.name = "place6", .d = 6, .dims = place_dims, .at = place_at};
