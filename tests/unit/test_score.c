/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Service demand against published netperf rows, the reading of objectives and requirements, and
 * what is admissible.
 */
#include "cleanup.h"
#include "score.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

/* Published to three digits after the point (half a unit, rounded or cut), from a CPU use that was
 * itself rounded to 0.01 %. */
static void check_row(double cpu_percent, int cpus, double kb_per_s, double published)
{
	if (published < 0) {
		return;
	}
	double sd = score_service_demand(cpu_percent / 100, cpus, kb_per_s * 1024);
	double eps = 0.0005 + published * 0.005 / cpu_percent;
	assert_near(sd, published, eps);
}

static void service_demand_as_published(void **state)
{
	(void)state;
	char line[512];
	int rows = 0;
	auto_fclose FILE *f = fopen("tests/data/netperf-service-demand.csv", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		int cpus;
		double rate, local, remote, local_sd, remote_sd;
		if (sscanf(line, "%*[^,],%*[^,],%d,%lf,%lf,%lf,%lf,%lf", &cpus, &rate, &local,
			   &remote, &local_sd, &remote_sd) == 6) {
			check_row(local, cpus, rate, local_sd);
			check_row(remote, cpus, rate, remote_sd);
			rows++;
		}
	}
	assert_int_equal(rows, 6);
}

static void service_demand_of_nonsense(void **state)
{
	(void)state;
	assert_near(score_service_demand(0.5, 2, 1024e6), 1.0, 1e-12);
	assert_true(score_service_demand(0, 2, 1e6) == 0);
	assert_true(isnan(score_service_demand(0.5, 2, 0)));
	assert_true(isnan(score_service_demand(0.5, 0, 1e6)));
	assert_true(isnan(score_service_demand(-0.1, 2, 1e6)));
	assert_true(isnan(score_service_demand(NAN, 2, 1e6)));
	assert_true(isnan(score_service_demand(0.5, 2, INFINITY)));
}

static struct objective parsed(const char *text, bool minimize)
{
	struct objective o;
	struct err e = {0};
	objective_init(&o);
	o.guards = GUARDS_STRICT;
	if (objective_parse(&o, text, minimize, true, &e)) {
		fail_msg("%s: %s", text, e.text);
	}
	assert_int_equal(o.guards, GUARDS_STRICT); /* not the text's business */
	return o;
}

static struct sample measured(double throughput, double service_demand)
{
	struct sample s;
	sample_init(&s);
	s.ok = true;
	s.m[METRIC_THROUGHPUT] = throughput;
	s.m[METRIC_SERVICE_DEMAND] = service_demand;
	return s;
}

static void scores(void **state)
{
	(void)state;
	struct sample s = measured(1e9, 2);
	s.m[METRIC_RTT] = 50;
	s.m[METRIC_RETRANSMITS] = 0;
	s.n_extra = 1;
	strcpy(s.extra[0].name, "loss");
	s.extra[0].value = -3;
	struct objective o;
	objective_init(&o);
	assert_true(score_of(&o, &s) == 5e8);
	o = parsed("throughput/service_demand", false);
	assert_true(o.is_default && score_of(&o, &s) == 5e8);
	o = parsed("throughput", false);
	assert_true(!o.is_default && score_of(&o, &s) == 1e9);
	o = parsed("  1  /  rtt ", false);
	assert_true(score_of(&o, &s) == 0.02);
	o = parsed("rtt", true);
	assert_true(score_of(&o, &s) == 0.02);
	o = parsed("retransmits", true); /* none at all is the best, not a failure */
	assert_true(score_of(&o, &s) == 1);
	o = parsed("loss", true);
	assert_true(score_of(&o, &s) == 3);
	o = parsed("loss", false);
	assert_true(score_of(&o, &s) == -3);
	o = parsed("score", false);
	assert_true(o.is_default);
	s.m[METRIC_SCORE] = 12.3; /* a command that brings its own */
	assert_true(score_of(&o, &s) == 12.3);
	o = parsed("score", true);
	assert_true(score_of(&o, &s) == -12.3);
}

static void never_half_a_sum(void **state)
{
	(void)state;
	struct objective o;
	objective_init(&o);
	struct sample s = measured(1e9, NAN);
	s.m[METRIC_SERVICE_DEMAND_SENDER] = 1;
	assert_true(isnan(score_of(&o, &s)));
	s = measured(NAN, 1);
	assert_true(isnan(score_of(&o, &s)));
	s = measured(1e9, 0);
	assert_true(isnan(score_of(&o, &s)));
	o = parsed("1 / rtt", false);
	assert_true(isnan(score_of(&o, &s)));
	o = parsed("nowhere", true);
	assert_true(isnan(score_of(&o, &s)));
}

static void ratios_of_scores(void **state)
{
	(void)state;
	assert_near(score_log_ratio(1.1, 1), log(1.1), 1e-15);
	assert_near(score_log_ratio(-1, -1.1), log(1.1), 1e-15);
	assert_true(isnan(score_log_ratio(1, -1)));
	assert_true(isnan(score_log_ratio(0, 1)));
	assert_true(isnan(score_log_ratio(NAN, 1)));
}

static void bad_objectives(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
		bool minimize, own;
	} cases[] = {
		{"througput", "did you mean throughput?", false, false},
		{"throughput / service_demnad", "did you mean service_demand?", false, false},
		{"zzzzzz", "no metric \"zzzzzz\"", false, false},
		{"limited_by", "no metric", false, false},
		{"", "not the name of a metric", false, true},
		{"1", "alone", false, false},
		{"1 /", "not the name", false, true},
		{"/ rtt", "not the name", false, true},
		{"a / b / c", "not the name", false, true},
		{"2 / rtt", "not the name", false, true},
		{"throughput * 2", "not the name", false, true},
		{"1 / rtt", "one metric", true, false},
		{"a_name_that_is_longer_than_any_metric_may_be", "longer than", false, true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct objective o, before;
		struct err e = {0};
		objective_init(&o);
		before = o;
		assert_int_equal(
			objective_parse(&o, cases[i].text, cases[i].minimize, cases[i].own, &e),
			-EINVAL);
		assert_int_equal(e.class, ERR_USAGE);
		if (!strstr(e.text, cases[i].says)) {
			fail_msg("%s: %s", cases[i].text, e.text);
		}
		assert_memory_equal(&o, &before, sizeof(o));
	}
}

static void objective_as_text(void **state)
{
	(void)state;
	char buf[80];
	struct objective o;
	objective_init(&o);
	assert_string_equal(objective_text(&o, buf, sizeof(buf)), "throughput / service_demand");
	o = parsed("rtt", true);
	assert_string_equal(objective_text(&o, buf, sizeof(buf)), "minimize rtt");
	o = parsed("1/rtt", false);
	assert_string_equal(objective_text(&o, buf, sizeof(buf)), "1 / rtt");
}

static void requirements(void **state)
{
	(void)state;
	static const struct {
		const char *text, *metric;
		bool at_least;
		double limit;
	} cases[] = {
		{"throughput >= 9 Gbit/s", "throughput", true, 9e9},
		{"throughput>=9Gbit/s", "throughput", true, 9e9},
		{"throughput >= 1000000 bit/s", "throughput", true, 1e6},
		{"throughput >= 9000000000", "throughput", true, 9e9},
		{"retransmits_per_GB <= 100", "retransmits_per_GB", false, 100},
		{"rtt <= 2ms", "rtt", false, 2000},
		{"rtt <= 250 us", "rtt", false, 250},
		{"rtt <= 250", "rtt", false, 250},
		{"cpu_sender <= 50%", "cpu_sender", false, 0.5},
		{"cpu_sender <= 0.5", "cpu_sender", false, 0.5},
		{"service_demand <= 0.5 us/KB", "service_demand", false, 0.5},
		{"cwnd >= 64KiB", "cwnd", true, 65536},
		{"own <= -2.5", "own", false, -2.5},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct requirement r;
		struct err e = {0};
		if (requirement_parse(&r, cases[i].text, true, &e)) {
			fail_msg("%s: %s", cases[i].text, e.text);
		}
		assert_string_equal(r.metric, cases[i].metric);
		assert_int_equal(r.at_least, cases[i].at_least);
		assert_near(r.limit, cases[i].limit, 1e-9 * fabs(r.limit));
	}
}

static void bad_requirements(void **state)
{
	(void)state;
	static const char *const cases[] = {"throughput",
					    "throughput > 9 Gbit/s",
					    "throughput == 9",
					    "throughput >= ",
					    ">= 9",
					    "througput >= 9 Gbit/s",
					    "throughput >= 9 Gbit",
					    "throughput >= 9 G",
					    "rtt <= 2 KiB",
					    "rtt <= nan",
					    "rtt <= .inf",
					    "throughput >= 1 Gbit/s <= 2",
					    "own <= 3 apples",
					    ""};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct requirement r;
		struct err e = {0};
		if (!requirement_parse(&r, cases[i], !strncmp(cases[i], "own", 3), &e)) {
			fail_msg("\"%s\" was taken", cases[i]);
		}
		assert_int_equal(e.class, ERR_USAGE);
		assert_true(e.text[0]);
	}
}

static void default_guard(void **state)
{
	(void)state;
	char why[256] = "old";
	struct objective o;
	objective_init(&o);
	struct sample baseline = measured(1e9, 1), s = measured(0.981e9, 0.1);
	assert_true(score_admissible(&o, &s, &baseline, NAN, why, sizeof(why)));
	assert_string_equal(why, "");
	s.m[METRIC_THROUGHPUT] = 0.979e9;
	assert_false(score_admissible(&o, &s, &baseline, NAN, why, sizeof(why)));
	assert_non_null(strstr(why, "throughput"));
	assert_true(score_admissible(&o, &s, NULL, NAN, why, sizeof(why)));
	o.guards = GUARDS_NONE;
	assert_true(score_admissible(&o, &s, &baseline, NAN, why, sizeof(why)));
	o.guards = GUARDS_DEFAULT;
	s.m[METRIC_THROUGHPUT] = NAN;
	assert_false(score_admissible(&o, &s, &baseline, NAN, NULL, 0));
	baseline.m[METRIC_THROUGHPUT] = NAN; /* a command without it */
	assert_true(score_admissible(&o, &s, &baseline, NAN, why, sizeof(why)));
	sample_fail(&s, "the peer is gone");
	assert_false(score_admissible(&o, &s, &baseline, NAN, why, sizeof(why)));
	assert_string_equal(why, "the peer is gone");
}

static void strict_guards(void **state)
{
	(void)state;
	static const struct {
		enum metric metric;
		double good, bad;
	} cases[] = {
		{METRIC_THROUGHPUT, 1.97e9, 1.95e9},
		{METRIC_RTT, 124, 126},
		{METRIC_RETRANSMITS_PER_GB, 12.4, 12.6},
		{METRIC_SERVICE_DEMAND_SENDER, 0.52, 0.53},
		{METRIC_SERVICE_DEMAND_RECEIVER, 0.52, 0.53},
		{METRIC_RTT, 100, NAN},
	};
	struct objective o;
	objective_init(&o);
	o.guards = GUARDS_STRICT;
	struct sample baseline = measured(1e9, 1);
	baseline.m[METRIC_RTT] = 100;
	baseline.m[METRIC_RETRANSMITS_PER_GB] = 10;
	baseline.m[METRIC_SERVICE_DEMAND_SENDER] = baseline.m[METRIC_SERVICE_DEMAND_RECEIVER] = 0.5;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char why[256];
		struct sample s = baseline;
		s.m[METRIC_THROUGHPUT] = 2e9;
		s.m[cases[i].metric] = cases[i].good;
		assert_true(score_admissible(&o, &s, &baseline, 2e9, why, sizeof(why)));
		s.m[cases[i].metric] = cases[i].bad;
		assert_false(score_admissible(&o, &s, &baseline, 2e9, why, sizeof(why)));
		assert_non_null(strstr(why, metric_name(cases[i].metric)));
		o.guards = GUARDS_DEFAULT;
		assert_true(score_admissible(&o, &s, &baseline, 2e9, why, sizeof(why)));
		o.guards = GUARDS_STRICT;
	}
	/* One shared host: no sides, the whole counts. */
	struct sample shared = measured(1e9, 1), s = measured(1e9, 1.06);
	assert_false(score_admissible(&o, &s, &shared, 1e9, NULL, 0));
	s.m[METRIC_SERVICE_DEMAND] = 1.04;
	assert_true(score_admissible(&o, &s, &shared, NAN, NULL, 0));
}

static void required_metrics(void **state)
{
	(void)state;
	char why[256];
	struct err e = {0};
	struct objective o;
	objective_init(&o);
	assert_int_equal(requirement_parse(&o.require[0], "throughput >= 2 Gbit/s", false, &e), 0);
	assert_int_equal(requirement_parse(&o.require[1], "rtt <= 1ms", false, &e), 0);
	o.n_require = 2;
	struct sample s = measured(2e9, 1);
	assert_false(score_admissible(&o, &s, NULL, NAN, why, sizeof(why)));
	assert_string_equal(why, "rtt is required, and not known");
	s.m[METRIC_RTT] = 1000;
	assert_true(score_admissible(&o, &s, NULL, NAN, why, sizeof(why)));
	s.m[METRIC_THROUGHPUT] = 1.9e9;
	assert_false(score_admissible(&o, &s, NULL, NAN, why, sizeof(why)));
	assert_non_null(strstr(why, "at least 2e+09"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(service_demand_as_published),
		cmocka_unit_test(service_demand_of_nonsense),
		cmocka_unit_test(scores),
		cmocka_unit_test(never_half_a_sum),
		cmocka_unit_test(ratios_of_scores),
		cmocka_unit_test(bad_objectives),
		cmocka_unit_test(objective_as_text),
		cmocka_unit_test(requirements),
		cmocka_unit_test(bad_requirements),
		cmocka_unit_test(default_guard),
		cmocka_unit_test(strict_guards),
		cmocka_unit_test(required_metrics),
	};
	return cmocka_run_group_tests_name("score", tests, NULL, NULL);
}
