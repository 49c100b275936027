/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of a sweep's result: what was proved of each, and what the search's model believes.
 * Called by report/body.c.
 */
#include "json_util.h"
#include "report_private.h"
#include <math.h>

static void add_part(struct report_table *t, const char *name, const json_t *part)
{
	char buf[96];
	const json_t *interval = json_object_get(part, "interval");
	double lo = json_number_value(json_array_get(interval, 0)),
	       hi = json_number_value(json_array_get(interval, 1));
	if (!json_is_object(part)) {
		return;
	}
	report_table_add(t, name);
	snprintf(buf, sizeof(buf), "%+.3g %%", json_get_number(part, "percent"));
	report_table_add(t, buf);
	snprintf(buf, sizeof(buf), "%+.3g to %+.3g %%", lo, hi);
	report_table_add(t, buf);
	snprintf(buf, sizeof(buf), "%.0f", json_get_number(part, "pairs"));
	report_table_add(t, buf);
}

/* Host settings alone are what apply delivers; a setting's effect is measured by leaving it out. */
void report_say_parts(const json_t *result, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"part", "#score", "#interval", "#pairs", NULL};
	const json_t *gain = json_object_get(result, "gain");
	json_t *effects = json_object_get(result, "effects"), *one;
	struct report_table t;
	size_t i;
	report_table_init(&t, heads);
	const json_t *against = json_object_get(gain, "against");
	char versus[96];
	snprintf(versus, sizeof(versus), "against %.80s", json_get_text(against, "profile", ""));
	add_part(&t, versus, against);
	add_part(&t, "host settings alone", json_object_get(gain, "host_only"));
	add_part(&t, "application settings alone", json_object_get(gain, "application_only"));
	json_array_foreach(effects, i, one)
	{
		add_part(&t, json_get_text(one, "set", "?"), one);
	}
	report_section(w, out, "What each part brings",
		       "Measured in pairs like the gain itself, each setting by leaving it "
		       "out of the best.",
		       &t);
}

static void add_change(struct report_table *t, const json_t *one, const char *key)
{
	char buf[32] = "";
	double x = json_get_number(one, key);
	if (isfinite(x)) {
		snprintf(buf, sizeof(buf), "%+.1f %%", x);
	}
	report_table_add(t, buf);
}

void report_say_panel(const json_t *result, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"test",	    "#throughput", "#service demand",
					    "#p99 latency", "worse",	   NULL};
	json_t *panel = json_object_get(result, "panel"), *one;
	struct report_table t;
	size_t i;
	report_table_init(&t, heads);
	json_array_foreach(panel, i, one)
	{
		report_table_add(&t, json_get_text(one, "test", "?"));
		add_change(&t, one, "throughput_percent");
		add_change(&t, one, "service_demand_percent");
		add_change(&t, one, "latency_p99_percent");
		report_table_add(&t, json_is_true(json_object_get(one, "worse")) ? "worse" : "");
	}
	report_section(w, out, "The best under other tests",
		       "Beside the baseline in a few pairs each. Worse: all of the 95 % "
		       "interval of one of the three is on the wrong side.",
		       &t);
}

static void add_belief(struct report_table *t, const char *name, const json_t *one)
{
	char buf[96];
	report_table_add(t, name);
	snprintf(buf, sizeof(buf), "%.1f %%", json_get_number(one, "share"));
	report_table_add(t, buf);
	snprintf(buf, sizeof(buf), "%.3g +- %.2g", json_get_number(one, "gain"),
		 json_get_number(one, "gain_sd"));
	report_table_add(t, buf);
}

void report_say_model(const json_t *result, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"setting", "#share", "#worst to best", NULL};
	json_t *model = json_object_get(result, "model"), *one;
	struct report_table t;
	size_t i;
	report_table_init(&t, heads);
	json_array_foreach(json_object_get(model, "effects"), i, one)
	{
		add_belief(&t, json_get_text(one, "set", "?"), one);
	}
	json_array_foreach(json_object_get(model, "interactions"), i, one)
	{
		char pair[420];
		const json_t *sets = json_object_get(one, "sets");
		const char *a = json_string_value(json_array_get(sets, 0)),
			   *b = json_string_value(json_array_get(sets, 1));
		snprintf(pair, sizeof(pair), "%s with %s", a ? a : "?", b ? b : "?");
		add_belief(&t, pair, one);
	}
	report_section(w, out, "What the search believes to matter",
		       "Share of the variance that the model explains, and the step from "
		       "the worst to the best value (of log score, where scores are "
		       "positive). A hint at what matters, not a proof.",
		       &t);
}
