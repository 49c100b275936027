/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bench of the proof: how often it claims a gain where there is none, whether its intervals
 * cover the truth, and how many pairs a gain of 5 % takes. Prints a line a figure.
 * Usage: proof [SWEEPS [SEED [PROOFS]]] (2000 sweeps, 2000 proofs a line; seeds count up from SEED)
 */
#include "proof_play.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 20 /* of a sweep's search: enough for its model to choose */
#define PAIRS	60

static void die(const struct err *e)
{
	fprintf(stderr, "%s\n", e->text);
	exit(1);
}

static void print_share(const char *what, int k, int n)
{
	double p = (double)k / n;
	printf("%-72s %6.2f %% +- %.2f (%d of %d)\n", what, 100 * p, 196 * sqrt(p * (1 - p) / n), k,
	       n);
	fflush(stdout);
}

static const struct proof_machine usual = {.noise = 0.03, .outliers = 0.03, .drift = 0.015};

static bool covers(const struct interval *i, double percent)
{
	return i->lo <= percent && percent <= i->hi;
}

static void false_gains(int sweeps, uint64_t seed)
{
	int gains = 0, losses = 0, proofs = 0;
	for (int i = 0; i < sweeps; i++) {
		struct loop_result r;
		struct err e;
		if (proof_play_sweep(SAMPLES, PAIRS, seed + (uint64_t)i, &r, &e) < 0) {
			die(&e);
		}
		const struct gain *g = &r.proof.gain;
		proofs += r.has_gain;
		gains += r.has_gain && g->significant && g->score.lo > 0;
		losses += r.has_gain && g->significant && g->score.hi < 0;
		loop_result_clear(&r);
	}
	print_share("sweeps of six settings that do not matter: proofs begun", proofs, sweeps);
	print_share("  a gain claimed (wanted: at most 5 %)", gains, sweeps);
	print_share("  a loss claimed", losses, sweeps);
}

static void coverage_of_fixed(int n, double gain, int pairs, double carry, uint64_t seed)
{
	char what[96];
	int covered = 0;
	for (int i = 0; i < n; i++) {
		struct proof_machine m = usual;
		m.gain = gain;
		m.carry = carry;
		struct interval x = proof_play_fixed(&m, pairs, seed + (uint64_t)i);
		covered += covers(&x, log(1 + gain));
	}
	snprintf(what, sizeof(what), "fixed interval covers, gain %g %%, %d pairs, carry %g",
		 100 * gain, pairs, carry);
	print_share(what, covered, n);
}

static void proofs_of(int n, double gain, int pairs, double carry, uint64_t seed)
{
	char what[96];
	int covered = 0, confirmed = 0;
	for (int i = 0; i < n; i++) {
		struct proof_machine m = usual;
		struct gain g;
		struct err e;
		m.gain = gain;
		m.carry = carry;
		if (proof_play_pairs(&m, pairs, seed + (uint64_t)i, &g, &e) < 0) {
			die(&e);
		}
		covered += covers(&g.score, 100 * gain);
		confirmed += g.significant && g.score.lo > 0;
	}
	snprintf(what, sizeof(what), "proof of %d pairs, gain %g %%, carry %g: interval covers",
		 pairs, 100 * gain, carry);
	print_share(what, covered, n);
	print_share("  a gain is confirmed", confirmed, n);
}

int main(int argc, char **argv)
{
	int sweeps = argc > 1 ? atoi(argv[1]) : 2000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	int n = argc > 3 ? atoi(argv[3]) : 2000;
	static const int fixed[] = {10, 20, 30, 60};
	printf("noise 3 %%, 3 %% outliers of 5 to 40 %%, drift 1.5 %%; seeds from %llu\n",
	       (unsigned long long)seed);
	false_gains(sweeps, seed);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		coverage_of_fixed(n, 0, fixed[i], 0, seed);
	}
	coverage_of_fixed(n, 0.05, 30, 0, seed);
	coverage_of_fixed(n, 0.05, 30, 0.4, seed);
	proofs_of(n, 0, 60, 0, seed);
	proofs_of(n, 0, 60, 0.4, seed);
	proofs_of(n, 0.02, 60, 0, seed);
	proofs_of(n, 0.05, 30, 0, seed);
	proofs_of(n, 0.05, 60, 0, seed);
	proofs_of(n, 0.2, 60, 0, seed);
	return 0;
}
