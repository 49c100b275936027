/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The deterministic generator for orders and simulated noise: the same seed gives the same run on
 * every machine. Not for secrets. Algorithms: Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", ACM TOMS 47 (2021), xoshiro256** and the splitmix64 that seeds it.
 */
#include "stats.h"
#include <math.h>

void stats_rng_seed(struct stats_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += 0x9e3779b97f4a7c15;
		uint64_t z = seed;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		r->s[i] = z ^ (z >> 31);
	}
}

static uint64_t rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t next(struct stats_rng *r)
{
	uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

double stats_rng_uniform(struct stats_rng *r)
{
	return (double)(next(r) >> 11) * 0x1p-53;
}

double stats_rng_normal(struct stats_rng *r)
{
	/* Box and Muller; 1 - u is never 0. The second value is not kept: no hidden state. */
	double radius = sqrt(-2 * log(1 - stats_rng_uniform(r)));
	return radius * cos(2 * M_PI * stats_rng_uniform(r));
}
