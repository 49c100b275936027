/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A clock, a machine and a store of the test's own for nights: the simulated engine measures, its
 * level is what the test says. For the two tests of nights.
 */
#ifndef TUNESWEEP_TEST_NIGHTLY_WORLD_H
#define TUNESWEEP_TEST_NIGHTLY_WORLD_H

#include "cleanup.h"
#include "json_util.h"
#include "nightly.h"
#include "stats.h"
#include "store_fixture.h"
#include <math.h>

struct world { /* what the hooks look at */
	struct nightly_world w;
	time_t clock;
	double level;	      /* of the throughput */
	double level_of_next; /* of the second measurement of a night; 0: the same */
	int measurements, sweeps, resumed, applied, ends_at; /* ends_at: measurements; 0 never */
	int sweep_status, doctor_status;
	bool used, stop, stops_in_sweep;
	json_t *far;	   /* use of far hosts; NULL: there are none */
	bool sweep_gains;  /* the next sweep proves 10 % */
	double best_gains; /* what the best proves when it is measured again; 0: nothing */
	char notes[2048];
	double seconds; /* that the last sweep was given */
};

static char config_path[128], spec_path[128];

static inline void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline time_t now(void *ctx)
{
	return ((struct world *)ctx)->clock;
}

static inline void in_use(void *ctx, const struct nightly_limits *l, bool first, char *why,
			  size_t size)
{
	const struct world *x = ctx;
	(void)l;
	(void)first;
	snprintf(why, size, "%s", x->used ? "3 logged in" : "");
}

/* The simulated engine's samples at the level of the night, which itself is never the same. */
static inline int measure(void *ctx, const struct recheck *o, struct recheck_result *out,
			  struct err *e)
{
	struct world *x = ctx;
	struct stats_rng rng;
	int rc = recheck_run(o, out, e);
	if (x->far && o->samples == 0) {
		json_decref(out->use);
		out->use = json_incref(x->far);
	}
	bool second = o->samples && x->measurements % 10 == 1;
	double level = second && x->level_of_next > 0 ? x->level_of_next : x->level;
	stats_rng_seed(&rng, (uint64_t)x->clock + (uint64_t)x->measurements);
	double night = exp(0.003 * stats_rng_normal(&rng));
	for (size_t i = 0; i < out->n; i++) {
		double noise = exp(0.005 * stats_rng_normal(&rng));
		out->sample[i].m[METRIC_THROUGHPUT] *= level * night * noise;
		out->sample[i].m[METRIC_SERVICE_DEMAND] /= night * noise;
	}
	if (out->n_baseline > 0) {
		double gain = 100 * x->best_gains;
		out->gain.score = (struct interval){gain, gain - 1, gain + 1, 0.95};
		out->gain.significant = gain > 1;
	}
	x->measurements += o->samples > 0;
	x->stop |= x->ends_at && x->measurements >= x->ends_at;
	return rc;
}

/* What a sweep leaves that has proved a gain. */
static inline json_t *leave_winner(const char *dir)
{
	char best[PATH_MAX];
	snprintf(best, sizeof(best), "%.3000s/best.yaml", dir);
	write_file(best, "tunesweep_profile: 1\nname: night\nevidence: {boots: 1}\nsettings: []\n"
			 "application:\n  - {set: param.a, value: 0.75}\n");
	return json_pack("{s:s, s:s, s:s, s:{s:{s:f}}, s:{s:b, s:f, s:[f, f]}}", "run", "r",
			 "status", "complete", "recommended", "best", "baseline", "values",
			 "param.a", 0.5, "gain", "significant", 1, "percent", 10.0, "interval", 8.0,
			 12.0);
}

static inline int sweep(void *ctx, const struct nightly_call *call, json_t **result, int *status,
			struct err *e)
{
	struct world *x = ctx;
	struct err ignored;
	struct store *s = NULL;
	struct store_run run = {.name = "night"};
	struct spec *spec = NULL;
	x->sweeps++;
	x->stop |= x->stops_in_sweep;
	x->resumed += call->resume;
	x->seconds = call->seconds;
	*status = x->sweep_status;
	if (*status == 130 && !call->resume) { /* it leaves an interrupted run */
		assert_int_equal(0, spec_load(call->spec, &spec, e));
		assert_int_equal(0, store_open(call->store, true, &s, e));
		run.spec = spec->text;
		run.spec_sha = spec->sha;
		assert_int_equal(0, store_begin_run(s, &run, e));
		assert_int_equal(0, store_end_run(s, run.id, "interrupted", NULL, e));
		store_close(s);
		spec_free(spec);
	}
	if (call->resume && *status == 0) { /* it ends the run that it has taken up */
		char id[64];
		assert_int_equal(0, store_open(call->store, true, &s, e));
		auto_json json_t *runs = NULL;
		assert_int_equal(0, store_list_runs(s, &runs, e));
		size_t i;
		json_t *one;
		json_array_foreach(runs, i, one)
		{
			if (!strcmp(json_get_text(one, "status", ""), "interrupted")) {
				snprintf(id, sizeof(id), "%s", json_get_text(one, "run", ""));
				store_end_run(s, id, "complete", NULL, &ignored);
			}
		}
		store_close(s);
	}
	if (x->sweep_gains) {
		*result = leave_winner(call->dir);
		return 0;
	}
	*result = json_pack("{s:s, s:s, s:s, s:n}", "run", "r", "status",
			    *status == 130 ? "interrupted" : "complete", "recommended", "baseline",
			    "gain");
	return 0;
}

static inline int doctor(void *ctx, json_t **report, int *status, struct err *e)
{
	(void)e;
	*report = json_pack("{s:[]}", "findings");
	*status = ((struct world *)ctx)->doctor_status;
	return 0;
}

static inline int apply(void *ctx, const struct spec *spec, const char *profile, struct err *e)
{
	(void)spec;
	(void)profile;
	(void)e;
	((struct world *)ctx)->applied++;
	return 0;
}

static inline void note(void *ctx, const char *line)
{
	struct world *x = ctx;
	size_t at = strlen(x->notes);
	snprintf(x->notes + at, sizeof(x->notes) - at, "%s\n", line);
}

static inline bool interrupted(void *ctx)
{
	return ((struct world *)ctx)->stop;
}

/* The 10th of March 2031, 02:00 local time, and some days later. */
static inline time_t night_at(int day, int hour)
{
	struct tm tm = {
		.tm_year = 131, .tm_mon = 2, .tm_mday = 10 + day, .tm_hour = hour, .tm_isdst = -1};
	return mktime(&tm);
}

static inline int make_world(void **state)
{
	static struct world x;
	if (make_folder(state)) {
		return -1;
	}
	snprintf(config_path, sizeof(config_path), "%s/nightly.yaml", folder);
	snprintf(spec_path, sizeof(spec_path), "%s/night.yaml", folder);
	write_file(spec_path,
		   "tunesweep: 1\nname: night\n"
		   "test: {engine: simulated, surface: flat, noise: 1%}\n"
		   "tunables: [{set: param.a, range: [0.0, 1.0], type: float, default: 0.5}]\n");
	memset(&x, 0, sizeof(x));
	x.level = 1;
	x.clock = night_at(0, 2);
	x.w = (struct nightly_world){
		.ctx = &x,
		.interrupt_fd = -1,
		.fingerprint = json_pack("{s:s, s:s, s:s, s:s}", "hostname", "rack7", "kernel",
					 "6.1.0", "cpu", "Xeon", "boot_id", "b1"),
		.store_path = path,
		.now = now,
		.in_use = in_use,
		.measure = measure,
		.sweep = sweep,
		.doctor = doctor,
		.apply = apply,
		.note = note,
		.interrupted = interrupted,
	};
	*state = &x;
	return 0;
}

static inline int remove_world(void **state)
{
	struct world *x = *state;
	json_decref((json_t *)x->w.fingerprint);
	json_decref(x->far);
	return remove_folder(state);
}

#define CONFIG                                                                                     \
	"tunesweep_nightly: 1\nstate: state\nwindow: {from: \"23:00\", to: \"05:30\"}\n"           \
	"sweeps:\n  - {spec: night.yaml, every: 30}\n"

/* One night; the summary is the caller's. */
static inline json_t *sleep_over(struct world *x, const char *config, int wanted)
{
	struct nightly_config c;
	struct err e = {0};
	json_t *summary = NULL;
	write_file(config_path, config);
	int rc = nightly_config_load(config_path, "unused", &c, &e);
	assert_string_equal(e.text, "");
	assert_int_equal(rc, 0);
	struct store *s = open_store(true);
	x->measurements = 0;
	rc = nightly_run(&c, &x->w, s, &summary, &e);
	store_close(s);
	if (rc != wanted) {
		fail_msg("nightly_run: %d %s", rc, e.text);
	}
	return summary;
}

static inline const json_t *comparison(const json_t *summary, const char *metric)
{
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(summary, "comparisons"), i, one)
	{
		if (!strcmp(json_get_text(one, "metric", ""), metric)) {
			return one;
		}
	}
	fail_msg("no comparison of %s", metric);
	return NULL;
}

static inline long long alarms(const json_t *summary)
{
	return json_integer_value(json_object_get(summary, "alarms"));
}

static inline const char *status_of(const json_t *summary)
{
	return json_get_text(summary, "status", "");
}

#define NIGHT(f) cmocka_unit_test_setup_teardown(f, make_world, remove_world)

#endif
