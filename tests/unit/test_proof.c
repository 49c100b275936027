/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The short form of the proof's bench, with wide margins: it catches a proof that has gone wrong,
 * not one that is a little off; "make bench-proof" has the figures. All seeds are fixed.
 */
#include "../bench/proof_play.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PROOFS 150

static const struct proof_machine usual = {.noise = 0.03, .outliers = 0.03, .drift = 0.015};

static void play(double gain, int pairs, int *covered, int *confirmed)
{
	*covered = *confirmed = 0;
	for (uint64_t seed = 1; seed <= PROOFS; seed++) {
		struct proof_machine m = usual;
		struct gain g;
		struct err e;
		m.gain = gain;
		assert_int_equal(0, proof_play_pairs(&m, pairs, seed, &g, &e));
		*covered += g.score.lo <= 100 * gain && 100 * gain <= g.score.hi;
		*confirmed += g.significant && g.score.lo > 0;
	}
}

/* Wanted: 94 % of the intervals, 2.5 % gains that are none. */
static void looking_after_each_pair_is_allowed(void **state)
{
	(void)state;
	int covered, confirmed;
	play(0, 40, &covered, &confirmed);
	assert_true(covered > 0.9 * PROOFS);
	assert_true(confirmed < 0.06 * PROOFS);
}

/* Wanted: 90 %. */
static void a_gain_of_five_percent_takes_thirty_pairs(void **state)
{
	(void)state;
	int covered, confirmed;
	play(0.05, 30, &covered, &confirmed);
	assert_true(covered > 0.88 * PROOFS);
	assert_true(confirmed > 0.8 * PROOFS);
}

/* Wanted: 93 to 97 %. */
static void fixed_intervals_cover_as_often_as_they_say(void **state)
{
	(void)state;
	int covered = 0;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct proof_machine m = usual;
		struct interval i = proof_play_fixed(&m, 20, seed);
		covered += i.lo <= 0 && 0 <= i.hi;
	}
	assert_in_range(covered, 400 * 0.9, 400 * 0.99);
}

/* Wanted: 5 %. */
static void sweeps_over_nothing_rarely_claim_a_gain(void **state)
{
	(void)state;
	int claimed = 0;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		struct loop_result r;
		struct err e;
		assert_int_equal(0, proof_play_sweep(16, 30, seed, &r, &e));
		claimed += r.has_gain && r.proof.gain.significant && r.proof.gain.score.lo > 0;
		loop_result_clear(&r);
	}
	assert_in_range(claimed, 0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looking_after_each_pair_is_allowed),
		cmocka_unit_test(a_gain_of_five_percent_takes_thirty_pairs),
		cmocka_unit_test(fixed_intervals_cover_as_often_as_they_say),
		cmocka_unit_test(sweeps_over_nothing_rarely_claim_a_gain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
