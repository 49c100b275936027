/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bench surfaces with a small model of a host: bytes cost CPU on the way through system calls,
 * copies, segments, interrupts and remote memory, and the slowest of link, window and CPUs sets the
 * rate. The numbers are inventions.
 */
#include "search_bench.h"
#include <math.h>

/* Irq policies and memory policies by meaning. */
enum { IRQ_BALANCED, IRQ_LOCAL, IRQ_ONE, IRQ_REMOTE };
enum { NUMA_LOCAL, NUMA_REMOTE, NUMA_INTERLEAVE };

struct host {						/* what the surfaces have in common */
	double wmem, rmem, message, mtu, queues, usecs; /* bytes, microseconds */
	int irq, numa;
	bool tso, gro;
	double window_factor; /* of congestion control */
};

/* log(rate) - log(CPU per byte). Remote interrupts and remote memory go together by half: a second,
 * lower hill. */
static double host_score(const struct host *h, const double *p)
{
	double link = 3.1e9, rtt = 60e-6 * (1 + p[0]) + h->usecs * 1e-6;
	double buffer = fmin(h->wmem, h->rmem / 1.5), window = buffer / rtt * h->window_factor;
	double spill = 0.10 * fmax(0, log2(h->wmem) - 20.5 - p[1]) +
		       0.13 * fmax(0, log2(h->rmem) - 20.8 - p[1]);
	double segment = h->tso ? 40e3 : h->mtu, merge = h->gro ? 24e3 : h->mtu;
	double call = 0.9e-6 / h->message, send = 1.1e-6 / segment, receive = 1.6e-6 / merge;
	double burst = fmin(h->usecs * 1e-6 * link / h->mtu / h->queues, 64);
	double irq = 2.4e-6 / (h->mtu * (1 + burst));
	double node = h->irq == IRQ_REMOTE ? 1.0 : h->irq == IRQ_BALANCED ? 0.5 : 0.0;
	double memory = h->numa == NUMA_REMOTE ? 1.0 : h->numa == NUMA_INTERLEAVE ? 0.5 : 0.0;
	double apart = fabs(node - memory), far = fmax(node, memory);
	double copy = 0.16e-9 * (1 + spill + 0.28 * apart + 0.12 * far);
	double rx_cpu = receive + irq + 0.4 * copy;
	double busy = h->irq == IRQ_ONE ? 1 : fmin(h->queues, 6 + 2 * p[2]);
	double clash = 0.02 * fmax(0, h->queues - 6) + (h->irq == IRQ_BALANCED ? 0.06 : 0);
	double cpu = (call + send + rx_cpu + copy) * (1 + clash);
	double app = 1 / ((call + send + copy) * (1 + 0.5 * clash)), soft = busy / rx_cpu;
	double rate = 1 / pow(pow(link, -6) + pow(window, -6) + pow(app * 3, -6) + pow(soft, -6),
			      1.0 / 6);
	return log(rate) - log(cpu * 1e9);
}

static void three_params(struct bench_world *w, struct stats_rng *rng)
{
	for (int i = 0; i < 3; i++) {
		w->param[i] = stats_rng_uniform(rng);
	}
}

/* ---- Six mixed dimensions ---- */

static double mix6_at(const struct bench_world *w, const double *v)
{
	struct host h = {.wmem = exp2(v[0]),
			 .rmem = exp2(v[1]),
			 .message = 65536,
			 .mtu = 1500,
			 .queues = exp2(v[2]),
			 .irq = (int)v[3],
			 .numa = (int)v[4],
			 .usecs = exp2(v[5]) - 1,
			 .tso = true,
			 .gro = true,
			 .window_factor = 1};
	return host_score(&h, w->param);
}

static const struct bench_dim mix6_dims[] = {
	{.levels = 161, .lo = 14, .hi = 24, .start = 16},
	{.levels = 161, .lo = 14, .hi = 24, .start = 17},
	{.levels = 9, .lo = 0, .hi = 4, .start = 0},
	{.category = true, .levels = 4, .start = IRQ_BALANCED},
	{.category = true, .levels = 3, .start = NUMA_INTERLEAVE},
	{.levels = 41, .lo = 0, .hi = 10, .start = 2},
};

const struct bench_surface bench_mix6 = {
	.name = "mix6", .d = 6, .dims = mix6_dims, .prepare = three_params, .at = mix6_at};

/* ---- Mostly invalid: memory for rings and buffers runs out, drivers refuse ---- */

static double cliff6_at(const struct bench_world *w, const double *v)
{
	double mtu = exp2(v[0]), wmem = exp2(v[1]), rmem = exp2(v[2]), queues = exp2(v[3]);
	int irq = (int)v[5];
	struct host h = {.wmem = wmem,
			 .rmem = rmem,
			 .message = 32768,
			 .mtu = mtu,
			 .queues = queues,
			 .irq = irq,
			 .numa = NUMA_LOCAL,
			 .usecs = exp2(v[4]) - 1,
			 .tso = false,
			 .gro = false,
			 .window_factor = 1};
	double rings = queues * 512 * mtu * (mtu > 4000 ? 1.6 : 1);
	bool no_memory = rings + 6 * (wmem + rmem) > (22 + 8 * w->param[0]) * 1e6;
	bool refused = queues > 6 && h.usecs > 160;
	bool starved = wmem < 6 * mtu || rmem < 8 * mtu;
	bool vectors = irq == IRQ_ONE && queues > 3;
	if (no_memory || refused || starved || vectors || mtu * queues > 5.2e4) {
		return NAN;
	}
	return host_score(&h, w->param);
}

static const struct bench_dim cliff6_dims[] = {
	{.levels = 39, .lo = 9.2, .hi = 14, .start = 10.55},
	{.levels = 77, .lo = 13, .hi = 22.5, .start = 16},
	{.levels = 77, .lo = 13, .hi = 22.5, .start = 17},
	{.levels = 9, .lo = 0, .hi = 4, .start = 0},
	{.levels = 41, .lo = 0, .hi = 10, .start = 2},
	{.category = true, .levels = 4, .start = IRQ_BALANCED},
};

const struct bench_surface bench_cliff6 = {
	.name = "cliff6", .d = 6, .dims = cliff6_dims, .prepare = three_params, .at = cliff6_at};

/* ---- Twelve dimensions: the rate saturates, the CPU's cost goes on ---- */

static double mix12_at(const struct bench_world *w, const double *v)
{
	static const double control[5] = {1.0, 0.8, 0.93, 1.08, 0.6};
	static const double control_cost[5] = {0, 0.01, 0.02, 0.05, 0};
	double rmem = exp2(fmin(v[0], v[2])), wmem = exp2(fmin(v[1], v[2]));
	struct host h = {.wmem = wmem,
			 .rmem = rmem,
			 .message = exp2(v[3]),
			 .mtu = exp2(v[4]),
			 .queues = exp2(v[5]),
			 .irq = (int)v[6],
			 .numa = (int)v[7],
			 .tso = v[8] > 0.5,
			 .gro = v[9] > 0.5,
			 .usecs = exp2(v[10]) - 1,
			 .window_factor = control[(int)v[11]]};
	double big = 0.05 * fmax(0, v[3] - 17.5) + 0.015 * fmax(0, v[2] - 22);
	return host_score(&h, w->param) - big - control_cost[(int)v[11]];
}

static const struct bench_dim mix12_dims[] = {
	{.levels = 161, .lo = 14, .hi = 24, .start = 17},
	{.levels = 161, .lo = 14, .hi = 24, .start = 16},
	{.levels = 81, .lo = 16, .hi = 26, .start = 20},
	{.lo = 8, .hi = 20, .start = 10},
	{.levels = 33, .lo = 10.55, .hi = 13.1, .start = 10.55},
	{.levels = 9, .lo = 0, .hi = 4, .start = 0},
	{.category = true, .levels = 4, .start = IRQ_BALANCED},
	{.category = true, .levels = 3, .start = NUMA_INTERLEAVE},
	{.category = true, .levels = 2, .start = 0},
	{.category = true, .levels = 2, .start = 0},
	{.levels = 41, .lo = 0, .hi = 10, .start = 2},
	{.category = true, .levels = 5, .start = 1},
};

const struct bench_surface bench_mix12 = {
	.name = "mix12", .d = 12, .dims = mix12_dims, .prepare = three_params, .at = mix12_at};
