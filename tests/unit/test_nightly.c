/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nights on a clock and a machine of the test's own: the simulated engine measures, its level is
 * set by the test. A regression is put in on the third night; and all that may end a night.
 */
#include "cleanup.h"
#include "json_util.h"
#include "nightly.h"
#include "stats.h"
#include "store_fixture.h"
#include <errno.h>
#include <math.h>

struct world { /* what the hooks look at */
	struct nightly_world w;
	time_t clock;
	double level;	      /* of the throughput */
	double level_of_next; /* of the second measurement of a night; 0: the same */
	int measurements, sweeps, resumed, applied, ends_at; /* ends_at: measurements; 0 never */
	int sweep_status, doctor_status;
	bool used, stop;
	char notes[2048];
	double seconds; /* that the last sweep was given */
};

static char config_path[128], spec_path[128];

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static time_t now(void *ctx)
{
	return ((struct world *)ctx)->clock;
}

static void in_use(void *ctx, const struct nightly_limits *l, bool first, char *why, size_t size)
{
	const struct world *x = ctx;
	(void)l;
	(void)first;
	snprintf(why, size, "%s", x->used ? "3 logged in" : "");
}

/* The simulated engine's samples at the level of the night, which itself is never the same. */
static int measure(void *ctx, const struct recheck *o, struct recheck_result *out, struct err *e)
{
	struct world *x = ctx;
	struct stats_rng rng;
	int rc = recheck_run(o, out, e);
	bool second = o->samples && x->measurements % 10 == 1;
	double level = second && x->level_of_next > 0 ? x->level_of_next : x->level;
	stats_rng_seed(&rng, (uint64_t)x->clock + (uint64_t)x->measurements);
	double night = exp(0.003 * stats_rng_normal(&rng));
	for (size_t i = 0; i < out->n; i++) {
		double noise = exp(0.005 * stats_rng_normal(&rng));
		out->sample[i].m[METRIC_THROUGHPUT] *= level * night * noise;
		out->sample[i].m[METRIC_SERVICE_DEMAND] /= night * noise;
	}
	x->measurements += o->samples > 0;
	x->stop |= x->ends_at && x->measurements >= x->ends_at;
	return rc;
}

static int sweep(void *ctx, const struct nightly_call *call, json_t **result, int *status,
		 struct err *e)
{
	struct world *x = ctx;
	struct err ignored;
	struct store *s = NULL;
	struct store_run run = {.name = "night"};
	struct spec *spec = NULL;
	x->sweeps++;
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
	*result = json_pack("{s:s, s:s, s:s, s:n}", "run", "r", "status",
			    *status == 130 ? "interrupted" : "complete", "recommended", "baseline",
			    "gain");
	return 0;
}

static int doctor(void *ctx, json_t **report, int *status, struct err *e)
{
	(void)e;
	*report = json_pack("{s:[]}", "findings");
	*status = ((struct world *)ctx)->doctor_status;
	return 0;
}

static int apply(void *ctx, const struct spec *spec, const char *profile, struct err *e)
{
	(void)spec;
	(void)profile;
	(void)e;
	((struct world *)ctx)->applied++;
	return 0;
}

static void note(void *ctx, const char *line)
{
	struct world *x = ctx;
	size_t at = strlen(x->notes);
	snprintf(x->notes + at, sizeof(x->notes) - at, "%s\n", line);
}

static bool interrupted(void *ctx)
{
	return ((struct world *)ctx)->stop;
}

/* The 10th of March 2031, 02:00 local time, and some days later. */
static time_t night_at(int day, int hour)
{
	struct tm tm = {
		.tm_year = 131, .tm_mon = 2, .tm_mday = 10 + day, .tm_hour = hour, .tm_isdst = -1};
	return mktime(&tm);
}

static int make_world(void **state)
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

static int remove_world(void **state)
{
	struct world *x = *state;
	json_decref((json_t *)x->w.fingerprint);
	return remove_folder(state);
}

#define CONFIG                                                                                     \
	"tunesweep_nightly: 1\nstate: state\nwindow: {from: \"23:00\", to: \"05:30\"}\n"           \
	"sweeps:\n  - {spec: night.yaml, every: 30}\n"

/* One night; the summary is the caller's. */
static json_t *sleep_over(struct world *x, const char *config, int wanted)
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

static const json_t *comparison(const json_t *summary, const char *metric)
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

static long long alarms(const json_t *summary)
{
	return json_integer_value(json_object_get(summary, "alarms"));
}

static const char *status_of(const json_t *summary)
{
	return json_get_text(summary, "status", "");
}

static void a_regression_on_the_third_night(void **state)
{
	struct world *x = *state;
	for (int night = 0; night < 3; night++) {
		x->clock = night_at(night, 2);
		x->level = night == 2 ? 0.86 : 1;
		auto_json json_t *s = sleep_over(x, CONFIG, 0);
		const json_t *c = comparison(s, "throughput");
		assert_string_equal(status_of(s), "complete");
		assert_int_equal(alarms(s), night == 2);
		if (night == 0) {
			assert_string_equal(json_get_text(c, "verdict", ""), "first night");
		}
		if (night < 2) {
			assert_int_equal(x->measurements, 1);
			continue;
		}
		/* found, named, and confirmed by a second measurement */
		assert_true(json_is_true(json_object_get(c, "alarm")));
		assert_string_equal(json_get_text(c, "spec", ""), "night");
		assert_string_equal(json_get_text(c, "host", ""), "rack7");
		assert_string_equal(json_get_text(c, "night", ""), "2031-03-11");
		assert_string_equal(json_get_text(c, "change", ""), "worse");
		assert_true(fabs(json_get_number(c, "percent") + 14) < 2);
		assert_int_equal(x->measurements, 2);
		assert_false(
			json_is_true(json_object_get(comparison(s, "service_demand"), "alarm")));
	}
	assert_int_equal(x->sweeps, 1);
	assert_false(isinf(x->seconds));
	assert_true(x->seconds > 3 * 3600 && x->seconds <= 3.5 * 3600);
	/* A night that was an alarm is no reference: the next one is, too, until it is accepted. */
	x->clock = night_at(3, 2);
	auto_json json_t *fourth = sleep_over(x, CONFIG, 0);
	assert_int_equal(alarms(fourth), 1);
	struct nightly_config c;
	struct err e = {0};
	int records;
	assert_int_equal(0, nightly_config_load(config_path, "unused", &c, &e));
	assert_int_equal(0, nightly_accept(&c, "2031-03-12", &records, &e));
	assert_int_equal(records, 1);
	x->clock = night_at(4, 2);
	auto_json json_t *fifth = sleep_over(x, CONFIG, 0);
	assert_int_equal(alarms(fifth), 0);
}

static void what_is_not_seen_again_is_no_alarm(void **state)
{
	struct world *x = *state;
	for (int night = 0; night < 2; night++) {
		x->clock = night_at(night, 2);
		json_decref(sleep_over(x, CONFIG, 0));
	}
	x->clock = night_at(2, 2);
	x->level = 0.86;
	x->level_of_next = 1;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->measurements, 2);
	assert_int_equal(alarms(s), 0);
	assert_string_equal(json_get_text(comparison(s, "throughput"), "again", ""), "good");
}

/* From the fourth on it is nights that are compared, with the spread that they had. */
static void many_nights(void **state)
{
	struct world *x = *state;
	int false_alarms = 0;
	for (int night = 0; night < 9; night++) {
		x->clock = night_at(night, 2);
		x->level = night == 8 ? 0.86 : 1;
		auto_json json_t *s = sleep_over(x, CONFIG, 0);
		const json_t *c = comparison(s, "throughput");
		assert_string_equal(json_get_text(c, "by", ""), night > 3 ? "nights" : "samples");
		assert_int_equal(json_integer_value(json_object_get(c, "nights")), night);
		false_alarms += night < 8 ? (int)alarms(s) : 0;
		if (night == 8) {
			assert_int_equal(alarms(s), 1);
		}
	}
	assert_int_equal(false_alarms, 0);
}

static void a_gain_is_said_too(void **state)
{
	struct world *x = *state;
	for (int night = 0; night < 3; night++) {
		x->clock = night_at(night, 2);
		x->level = night == 2 ? 1.2 : 1;
		auto_json json_t *s = sleep_over(x, CONFIG, 0);
		assert_int_equal(alarms(s), 0);
		assert_string_equal(json_get_text(comparison(s, "throughput"), "change", ""),
				    night == 0	 ? "unknown"
				    : night == 1 ? "same"
						 : "better");
	}
}

static void outside_the_window_nothing_is_measured(void **state)
{
	struct world *x = *state;
	x->clock = night_at(0, 12);
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_string_equal(status_of(s), "outside the window");
	assert_int_equal(x->measurements + x->sweeps, 0);
}

static void a_machine_in_use_is_left_alone(void **state)
{
	struct world *x = *state;
	x->used = true;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_string_equal(status_of(s), "in use");
	assert_non_null(strstr(json_get_text(s, "reason", ""), "3 logged in"));
	assert_int_equal(x->measurements + x->sweeps, 0);
}

static void a_sick_machine_is_measured_but_not_swept(void **state)
{
	struct world *x = *state;
	x->doctor_status = 1;
	auto_json json_t *s = sleep_over(x, CONFIG "doctor: required\n", 0);
	assert_string_equal(status_of(s), "not fit");
	assert_int_equal(x->measurements, 1);
	assert_int_equal(x->sweeps, 0);
	auto_json json_t *again = sleep_over(x, CONFIG, 0); /* doctor only advises */
	assert_string_equal(status_of(again), "complete");
	assert_int_equal(x->sweeps, 1);
}

static void a_night_cut_short_goes_on_in_the_next(void **state)
{
	struct world *x = *state;
	x->sweep_status = 130;
	auto_json json_t *first = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 1);
	assert_int_equal(x->resumed, 0);
	x->clock = night_at(1, 2);
	x->sweep_status = 0;
	auto_json json_t *second = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 2);
	assert_int_equal(x->resumed, 1);
	x->clock = night_at(2, 2); /* done, and not due again for a month */
	auto_json json_t *third = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 2);
	x->clock = night_at(31, 2);
	auto_json json_t *later = sleep_over(x, CONFIG, 0);
	assert_int_equal(x->sweeps, 3);
	assert_int_equal(x->resumed, 1);
}

static void an_interrupt_is_one(void **state)
{
	struct world *x = *state;
	x->ends_at = 1;
	auto_json json_t *s = sleep_over(x, CONFIG, 0);
	assert_string_equal(status_of(s), "interrupted");
	assert_int_equal(x->sweeps, 0);
}

static void a_spec_that_is_not_there_is_told_and_the_others_run(void **state)
{
	struct world *x = *state;
	auto_json json_t *s = sleep_over(x,
					 "tunesweep_nightly: 1\nstate: state\nsweeps:\n"
					 "  - {spec: none.yaml}\n  - {spec: night.yaml}\n",
					 -EINVAL);
	assert_int_equal(x->sweeps, 1);
	assert_string_equal(status_of(s), "failed");
	const json_t *entry = json_array_get(json_object_get(s, "sweeps"), 0);
	assert_non_null(strstr(json_get_text(entry, "reason", ""), "none.yaml"));
}

static void rules_choose_by_fingerprint(void **state)
{
	struct world *x = *state;
	auto_json json_t *s = sleep_over(x,
					 "tunesweep_nightly: 1\nstate: state\nsweeps:\n"
					 "  - {spec: none.yaml, when: {cpu: \"*EPYC*\"}}\n"
					 "  - {spec: none.yaml, when: {driver: ice}}\n"
					 "  - {spec: night.yaml, when: {cpu: \"Xe*\", hostname: "
					 "\"rack*\"}}\n",
					 0);
	assert_int_equal(json_array_size(json_object_get(s, "sweeps")), 1);
	assert_int_equal(x->sweeps, 1);
}

static void kinds_of_hardware(void **state)
{
	(void)state;
	char a[64], b[64], c[64];
	auto_json json_t *one = json_pack("{s:{s:s, s:s, s:[{s:s, s:s, s:i}]}}", "rx", "kernel",
					  "1", "cpu", "X", "nics", "device", "eth0", "driver",
					  "ice", "speed", 10000);
	auto_json json_t *other = json_deep_copy(one);
	json_object_set_new(json_object_get(other, "rx"), "kernel", json_string("2"));
	nightly_kind(one, a, sizeof(a));
	nightly_kind(other, b, sizeof(b));
	json_object_set_new(json_object_get(other, "rx"), "cpu", json_string("Y"));
	nightly_kind(other, c, sizeof(c));
	assert_string_equal(a, b); /* a new kernel makes no new hardware */
	assert_string_not_equal(a, c);
	assert_int_equal(strncmp(a, "ice-", 4), 0);
}

static void windows(void **state)
{
	(void)state;
	struct nightly_config c = {.from = 23 * 60, .to = 5 * 60 + 30};
	char name[16];
	double left;
	assert_true(nightly_is_night(&c, night_at(0, 23), name, &left));
	assert_string_equal(name, "2031-03-10");
	assert_true(left == 6.5 * 3600);
	assert_true(nightly_is_night(&c, night_at(1, 5), name, &left));
	assert_string_equal(name, "2031-03-10");
	assert_true(left == 1800);
	assert_false(nightly_is_night(&c, night_at(1, 6), name, &left));
	c = (struct nightly_config){.from = 60, .to = 300};
	assert_true(nightly_is_night(&c, night_at(0, 1), name, &left));
	assert_string_equal(name, "2031-03-10");
	assert_false(nightly_is_night(&c, night_at(0, 0), name, &left));
	c.from = c.to = 0;
	assert_true(nightly_is_night(&c, night_at(0, 12), name, &left));
	assert_true(isinf(left));
}

static void one_fleet_many_alarms(void **state)
{
	(void)state;
	json_t *all[40];
	struct err e = {0};
	for (int i = 0; i < 40; i++) {
		char host[16];
		snprintf(host, sizeof(host), "h%d", i);
		/* 40 machines of which one has lost; another looks so by chance (p = 3 %) */
		all[i] = json_pack("{s:i, s:s, s:s, s:[{s:s, s:s, s:s, s:f, s:f, s:f, s:f}]}",
				   "tunesweep_nightly", 1, "host", host, "night", "2031-03-10",
				   "comparisons", "host", host, "verdict", "regression", "again",
				   "regression", "threshold", 0.05, "percent", -14.0, "p_worse",
				   i == 0   ? 1e-6
				   : i == 1 ? 0.03
					    : 0.3 + i * 0.01,
				   "p_better", 0.9);
	}
	auto_json json_t *fleet = NULL;
	assert_int_equal(nightly_fleet(all, 40, 0.05, &fleet, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(fleet, "alarms")), 1);
	assert_int_equal(json_integer_value(json_object_get(fleet, "hosts")), 40);
	json_object_set_new(all[0], "night", json_string("2031-03-09"));
	json_object_set_new(all[1], "host", json_string("h0")); /* its newer night speaks for it */
	auto_json json_t *newest = NULL;
	assert_int_equal(nightly_fleet(all, 40, 0.05, &newest, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(newest, "hosts")), 39);
	assert_int_equal(json_integer_value(json_object_get(newest, "alarms")), 0);
	json_object_del(all[3], "tunesweep_nightly");
	auto_json json_t *none = NULL;
	assert_int_equal(nightly_fleet(all, 40, 0.05, &none, &e), -EINVAL);
	for (int i = 0; i < 40; i++) {
		json_decref(all[i]);
	}
}

static void bad_configurations(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"sweeps: [{spec: a.yaml}]\n", "begins with 'tunesweep_nightly: 1'"},
		{"tunesweep_nightly: 1\n", "'sweeps' is a list"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\nwindow: {from: 23:00, to: "
		 "5:00}\n",
		 ":3:16: window: from is a time of the day in quotes"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\nwindw: 1\n", "window"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml, when: {drivr: ice}}]\n", "driver"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\napply: always\n", ":3:8"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\ncompare: {samples: 2}\n",
		 "under 4"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\ncompare: {threshold: 5}\n",
		 ":3:"},
		{"tunesweep_nightly: 1\nsweeps: [{when: {cpu: a}}]\n", "wants its 'spec'"},
		{"tunesweep_nightly: 1\nsweeps: [{spec: a.yaml}]\nkeep: {size: 1k}\n", ":3:"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct nightly_config c;
		struct err e = {0};
		write_file(config_path, bad[i].text);
		assert_int_equal(nightly_config_load(config_path, "s", &c, &e), -EINVAL);
		if (!strstr(e.text, bad[i].says) || !strstr(e.text, "nightly.yaml:")) {
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, e.text, bad[i].says);
		}
	}
}

static void old_runs_leave_the_store(void **state)
{
	(void)state;
	struct err e = {0};
	struct store *s = open_store(true);
	char ids[4][32];
	int removed = 0;
	for (int i = 0; i < 4; i++) {
		struct store_run r = {.name = "n"};
		add(s, begin(s, &r), 1e9);
		snprintf(ids[i], sizeof(ids[i]), "%s", r.id);
		if (i < 3) { /* the last one is under way */
			assert_int_equal(store_end_run(s, r.id, "complete", NULL, &e), 0);
		}
	}
	auto_json json_t *kept = json_pack("{s:b}", ids[1], 1);
	assert_int_equal(store_prune(s, 0, 0, kept, &removed, &e), 0);
	assert_int_equal(removed, 0);
	assert_int_equal(store_prune(s, 4e9, 0, kept, &removed, &e), 0);
	assert_int_equal(removed, 2);
	auto_json json_t *runs = NULL;
	assert_int_equal(store_list_runs(s, &runs, &e), 0);
	assert_int_equal(json_array_size(runs), 2);
	json_decref(get(s, ids[1]));
	json_decref(get(s, ids[3]));
	assert_int_equal(store_prune(s, 0, 1, NULL, &removed, &e), 0); /* by size */
	assert_int_equal(removed, 1);
	store_close(s);
}

#define NIGHT(f) cmocka_unit_test_setup_teardown(f, make_world, remove_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NIGHT(a_regression_on_the_third_night),
		NIGHT(what_is_not_seen_again_is_no_alarm),
		NIGHT(many_nights),
		NIGHT(a_gain_is_said_too),
		NIGHT(outside_the_window_nothing_is_measured),
		NIGHT(a_machine_in_use_is_left_alone),
		NIGHT(a_sick_machine_is_measured_but_not_swept),
		NIGHT(a_night_cut_short_goes_on_in_the_next),
		NIGHT(an_interrupt_is_one),
		NIGHT(a_spec_that_is_not_there_is_told_and_the_others_run),
		NIGHT(rules_choose_by_fingerprint),
		cmocka_unit_test(kinds_of_hardware),
		cmocka_unit_test(windows),
		cmocka_unit_test(one_fleet_many_alarms),
		NIGHT(bad_configurations),
		IN_FOLDER(old_runs_leave_the_store),
	};
	return cmocka_run_group_tests_name("nightly", tests, NULL, NULL);
}
