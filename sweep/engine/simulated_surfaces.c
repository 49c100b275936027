/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The true surfaces of the simulated engine, each a pure function of a point. They imitate what
 * tuning meets: a published table, a bottleneck with cliffs, ridges, categories, nothing at all.
 * Noise is not made here. Called by engine/simulated.c and by tests.
 */
#include "simulated.h"

#include "cleanup.h"
#include <math.h>
#include <string.h>

/* A number in [0, 1) that belongs to a seed and a dimension (splitmix64's finaliser). */
static double place(uint64_t seed, uint64_t i)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15u + (i + 1) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* IP over InfiniBand, netperf TCP_STREAM, 2.6.16-rc5: defaults of tcp_wmem and tcp_rmem in bytes,
 * MB/s. The same rows as tests/data/ipoib-tcp-mem-2.6.16-rc5.csv; a test compares them. */
static const double table_rows[][3] = {
	{87380, 87380, 403},   {102400, 102400, 395}, {65536, 87380, 392},   {131072, 102400, 394},
	{131072, 153600, 377}, {131072, 131072, 377}, {262144, 262144, 353}, {262144, 524288, 305},
	{131072, 524288, 303}, {524288, 524288, 290},
};

#define TABLE_ROWS ARRAY_SIZE(table_rows)

/*
 * Inverse-distance interpolation with Gaussian reach (Shepard 1968, power 4, on the residuals of a
 * trend), in log2 of both sizes: exact at the rows, and the trend alone far from them. The trend:
 * small buffers starve, large ones miss the cache.
 */
static double table_trend(double a, double b)
{
	double starve = fmax(0, 16.0 - fmin(a, b)), spill = fmax(0, fmax(a, b) - 16.8);
	return 405 * exp2(-0.5 * starve) / (1 + 0.13 * spill);
}

static double table_throughput(double a, double b)
{
	double sum = 0, weights = 0, reach = 0;
	for (size_t i = 0; i < TABLE_ROWS; i++) {
		double x = log2(table_rows[i][0]), y = log2(table_rows[i][1]);
		double d2 = (a - x) * (a - x) + (b - y) * (b - y);
		double residual = table_rows[i][2] - table_trend(x, y);
		if (d2 < 1e-12) {
			return table_rows[i][2] * 8e6;
		}
		weights += 1 / (d2 * d2);
		sum += residual / (d2 * d2);
		reach = fmax(reach, exp(-d2));
	}
	return (table_trend(a, b) + reach * sum / weights) * 8e6;
}

static struct surface_value table_at(const struct surface_point *p)
{
	double t = table_throughput(p->log2_a, p->log2_b);
	double spill = fmax(0, fmax(p->log2_a, p->log2_b) - 17);
	return (struct surface_value){.throughput = t, .service_demand = 2.0 + 0.1 * spill};
}

/* The least of link (10 Gbit/s), window over round trip (10 ms) and CPU; a socket buffer that the
 * second size does not fit into several times stalls, and the largest of both fail. */
static struct surface_value bottleneck_at(const struct surface_point *p)
{
	double window = exp2(p->log2_a), message = exp2(p->log2_b);
	double per_message = 2e-6, per_byte = 0.45e-9;
	double cache_miss = 1 + 0.12 * fmax(0, p->log2_a - 22) + 0.15 * fmax(0, p->log2_b - 19);
	double cpu_s = (per_message / message + per_byte) * cache_miss; /* s per byte */
	double rate = fmin(fmin(10e9, window * 8 / 0.010), 8 / cpu_s);
	struct surface_value v = {.throughput = rate, .service_demand = cpu_s * 1024 * 1e6};
	v.fails = message * 2 > window || p->log2_a + p->log2_b > 50;
	return v;
}

/* Neighbouring dimensions have to match (buffers that must fit each other), around a place that
 * the seed gives, with a slight ripple; categories count as far or near. */
static struct surface_value ridge_at(const struct surface_point *p)
{
	double loss = 0, before = 0;
	for (size_t i = 0; i < p->n; i++) {
		double best = 0.2 + 0.6 * place(p->seed, i);
		double d = p->z[i] - best;
		if (p->category[i]) {
			int right = (int)(place(p->seed, i) * p->levels[i]);
			loss += (int)p->z[i] == right ? 0 : 0.15;
			continue;
		}
		loss += 0.6 * d * d + 0.9 * (d - before) * (d - before);
		loss += 0.01 * (1 - cos(18 * d));
		before = d;
	}
	return (struct surface_value){.throughput = 9.4e9 * exp(-loss),
				      .service_demand = 0.5 * exp(0.5 * loss)};
}

static struct surface_value flat_at(const struct surface_point *p)
{
	(void)p;
	return (struct surface_value){.throughput = 9.4e9, .service_demand = 0.5};
}

/* Throughput saturates along the numbers while the CPU cost goes on rising; each category moves
 * the place of the next number's optimum as well as the level. */
static struct surface_value mixed_at(const struct surface_point *p)
{
	double t = 0, cost = 0, shift = 0;
	for (size_t i = 0; i < p->n; i++) {
		double h = place(p->seed, i);
		if (p->category[i]) {
			int right = (int)(h * p->levels[i]), at = (int)p->z[i];
			double off = at == right ? 0 : 0.3 + 0.7 * place(p->seed + (uint64_t)at, i);
			t += 0.12 * off;
			cost += 0.18 * off;
			shift = 0.2 * off;
			continue;
		}
		double knee = 0.25 + 0.4 * h + shift, over = p->z[i] - knee;
		t += over < 0 ? 1.2 * over * over : 0;
		cost += 0.35 * fmax(0, over);
		shift = 0;
	}
	return (struct surface_value){.throughput = 9.4e9 * exp(-t),
				      .service_demand = 0.5 * exp(cost)};
}

static const struct surface {
	const char *name;
	bool needs_sizes;
	struct surface_value (*at)(const struct surface_point *p);
} surfaces[] = {
	{"table", true, table_at}, {"bottleneck", true, bottleneck_at}, {"ridge", false, ridge_at},
	{"flat", false, flat_at},  {"mixed", false, mixed_at},
};

const char *const *surface_names(void)
{
	static const char *const names[] = {"table", "bottleneck", "ridge", "flat", "mixed", NULL};
	return names;
}

static const struct surface *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(surfaces); i++) {
		if (strcmp(surfaces[i].name, name) == 0) {
			return &surfaces[i];
		}
	}
	return &surfaces[ARRAY_SIZE(surfaces) - 1];
}

bool surface_needs_sizes(const char *name)
{
	return find(name)->needs_sizes;
}

struct surface_value surface_at(const char *name, const struct surface_point *p)
{
	return find(name)->at(p);
}
