/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often samples of one configuration are called different from each other: reads a line
 * "throughput service_demand" a sample, in the order in which they were measured, puts them into
 * pairs by turns (A B B A), and counts in how many comparisons the proof of a sweep would have
 * claimed a gain or a loss. Called by aa.sh.
 *
 *   aa PAIRS <samples
 */
#include "validate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PAIRS_MAX 100

static bool sample_read(double *throughput, double *service_demand)
{
	return scanf("%lf %lf", throughput, service_demand) == 2;
}

/* The k-th pair's halves come in the order A B or B A. */
static bool pair_read(struct pair *p, int k)
{
	for (int half = 0; half < 2; half++) {
		int arm = (half + k) % 2;
		if (!sample_read(&p->throughput[arm], &p->service_demand[arm])) {
			return false;
		}
		p->score[arm] = p->throughput[arm] / p->service_demand[arm];
	}
	return true;
}

static bool comparison_read(struct pair *pairs, int n)
{
	for (int k = 0; k < n; k++) {
		if (!pair_read(&pairs[k], k)) {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct pair pairs[PAIRS_MAX];
	int n = argc > 1 ? atoi(argv[1]) : 8, all = 0, different = 0;
	double widest = 0;
	if (n < 2 || n > PAIRS_MAX) {
		fprintf(stderr, "aa: 2 to %d pairs a comparison\n", PAIRS_MAX);
		return 2;
	}
	while (comparison_read(pairs, n)) {
		struct gain g;
		validate_gain(pairs, (size_t)n, &g);
		all++;
		different += g.significant;
		widest = fmax(widest, fabs(g.score.estimate));
	}
	printf("%d of %d comparisons of one configuration with itself, %d pairs each, differ "
	       "significantly; the largest estimate was %.1f %%\n",
	       different, all, n, widest);
	return all > 0 ? 0 : 1;
}
