/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apply: verified. A gain is applied once it is proved on this night and on three boots in all, and
 * on no earlier night, whatever else there is; on a clock and a machine of the test's own.
 */
#include "nightly_world.h"
#include "profile.h"

#define VERIFIED CONFIG "apply: verified\n"

struct play { /* one night */
	const char *boot;
	double gains; /* what the best proves when it is measured again */
	int boots;    /* proved on, as the summary says; -1: there is no best yet */
	bool applied;
};

static json_t *play(struct world *x, int night, const struct play *p, const char *config)
{
	json_object_set_new((json_t *)x->w.fingerprint, "boot_id", json_string(p->boot));
	x->clock = night_at(night, 2);
	x->best_gains = p->gains;
	int before = x->applied;
	json_t *s = sleep_over(x, config, 0);
	const json_t *entry = json_array_get(json_object_get(s, "sweeps"), 0);
	const json_t *boots = json_object_get(entry, "proved_on_boots");
	int counted = boots ? (int)json_integer_value(boots) : -1;
	if (counted != p->boots || (x->applied > before) != p->applied ||
	    json_is_true(json_object_get(entry, "applied")) != p->applied) {
		fail_msg("night %d: proved on %d boots, %s", night, counted,
			 x->applied > before ? "applied" : "not applied");
	}
	return s;
}

static void play_all(struct world *x, const struct play *p, size_t n, const char *config)
{
	for (size_t i = 0; i < n; i++) {
		json_decref(play(x, (int)i, &p[i], config));
	}
}

static void three_boots_and_this_night(void **state)
{
	static const struct play nights[] = {
		{"b1", 0, 1, false},   /* the sweep proves it */
		{"b1", 0.1, 1, false}, /* the same boot is none more */
		{"b2", 0.1, 2, false}, /* two are not enough */
		{"b3", 0, 0, false},   /* nothing proved tonight */
		{"b3", 0.1, 3, true},  /* the third */
		{"b4", 0.1, 4, false}, /* it is applied already */
	};
	struct world *x = *state;
	x->sweep_gains = true;
	play_all(x, nights, ARRAY_SIZE(nights), VERIFIED);
	assert_int_equal(x->applied, 1);
	assert_int_equal(x->sweeps, 1);
}

static void the_kept_profile_tells_its_boots(void **state)
{
	static const struct play nights[] = {
		{"b1", 0, 1, false}, {"b2", 0.1, 2, false}, {"b3", 0.1, 3, true}};
	struct world *x = *state;
	struct profile p;
	struct err e = {0};
	x->sweep_gains = true;
	play_all(x, nights, 2, VERIFIED);
	auto_json json_t *third = play(x, 2, &nights[2], VERIFIED);
	const json_t *entry = json_array_get(json_object_get(third, "sweeps"), 0);
	assert_int_equal(profile_load(json_get_text(entry, "profile", ""), &p, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(p.evidence, "boots")), 3);
	assert_int_equal(p.n_application, 1);
	profile_clear(&p);
}

static void without_the_word_never(void **state)
{
	static const struct play nights[] = {{"b1", 0, 1, false},
					     {"b2", 0.1, 2, false},
					     {"b3", 0.1, 3, false},
					     {"b4", 0.1, 4, false}};
	struct world *x = *state;
	x->sweep_gains = true;
	play_all(x, nights, ARRAY_SIZE(nights), CONFIG);
}

/* It gained on three boots, but this night something is worse than on the nights before. */
static void not_on_a_night_of_alarm(void **state)
{
	static const struct play nights[] = {
		{"b1", 0, 1, false}, {"b2", 0.1, 2, false}, {"b3", 0.1, 3, false}};
	struct world *x = *state;
	x->sweep_gains = true;
	play_all(x, nights, 2, VERIFIED);
	x->level = 0.8;
	auto_json json_t *third = play(x, 2, &nights[2], VERIFIED);
	assert_true(alarms(third) > 0);
}

/* A new spec is another test: what was proved of the old one does not count for it. */
static void another_spec_begins_anew(void **state)
{
	static const struct play nights[] = {{"b1", 0, 1, false}, {"b2", 0.1, 2, false}};
	static const struct play anew = {"b3", 0.1, 0, false};
	struct world *x = *state;
	x->sweep_gains = true;
	play_all(x, nights, ARRAY_SIZE(nights), VERIFIED);
	write_file(spec_path,
		   "tunesweep: 1\nname: night\n"
		   "test: {engine: simulated, surface: flat, noise: 2%}\n"
		   "tunables: [{set: param.a, range: [0.0, 1.0], type: float, default: 0.5}]\n");
	json_decref(play(x, 2, &anew, VERIFIED));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NIGHT(three_boots_and_this_night), NIGHT(the_kept_profile_tells_its_boots),
		NIGHT(without_the_word_never),	   NIGHT(not_on_a_night_of_alarm),
		NIGHT(another_spec_begins_anew),
	};
	return cmocka_run_group_tests_name("nightly apply", tests, NULL, NULL);
}
