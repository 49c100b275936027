/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tonight against the nights before, by the verdict of the check command: a night is to it what a
 * boot is there. With three nights or fewer their spread cannot be known, and samples are compared.
 * It measures nothing and calls no alarm. Called by nightly/sweep.c.
 */
#include "check_sides.h"
#include "cleanup.h"
#include "false_discovery.h"
#include "host.h"
#include "json_util.h"
#include "nightly_private.h"
#include <math.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>

enum { NIGHTS_FOR_SPREAD = 4 };

static const char *const words[] = {[VERDICT_GOOD] = "good",
				    [VERDICT_REGRESSION] = "regression",
				    [VERDICT_CANNOT_TELL] = "cannot tell"};

static json_t *values_label(const json_t *values)
{
	char sha[SHA256_DIGEST_STRING_LENGTH];
	auto_free char *text = values ? json_dumps(values, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	SHA256Data((const uint8_t *)(text ? text : ""), text ? strlen(text) : 0, sha);
	return text ? json_stringn(sha, 16) : json_string("baseline");
}

json_t *night_labels(const struct night_question *q, bool again)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:i}", "night", q->night, "kind", q->kind,
			 "role", q->role, "spec", q->spec->sha, "values", values_label(q->values),
			 "again", again);
}

static bool is_in(const json_t *list, const char *word)
{
	json_t *one;
	size_t i;
	json_array_foreach((json_t *)list, i, one)
	{
		if (strcmp(json_string_value(one), word) == 0) {
			return true;
		}
	}
	return false;
}

/* Which side a set of samples is on: "here", "reference", or none. */
static const char *side_of(const struct night_question *q, const json_t *wanted, bool again,
			   const json_t *labels)
{
	static const char *const same[] = {"kind", "role", "spec", "values"};
	const char *night = json_get_text(labels, "night", "");
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		if (!json_equal(json_object_get(labels, same[i]),
				json_object_get(wanted, same[i]))) {
			return "";
		}
	}
	if (strcmp(night, q->night) == 0) {
		return json_integer_value(json_object_get(labels, "again")) == again ? "here" : "";
	}
	bool counts = strcmp(night, q->night) < 0 &&
		      strcmp(night, json_get_text(q->record, "since", "")) >= 0 &&
		      !is_in(json_object_get(q->record, "alarms"), night);
	return counts ? "reference" : "";
}

/* The first night that still counts, if only the last so many do. */
static void first_night(const struct observations *o, int64_t nights, char first[16])
{
	auto_json json_t *seen = json_object();
	*first = '\0';
	while ((int64_t)json_object_size(seen) < nights) {
		const char *newest = "";
		for (size_t i = 0; i < o->n_sets; i++) {
			const char *night = json_get_text(o->set[i].labels, "night", "");
			if (strcmp(json_get_text(o->set[i].labels, "side", ""), "reference") == 0 &&
			    !json_object_get(seen, night) && strcmp(night, newest) > 0) {
				newest = night;
			}
		}
		if (!*newest) {
			return;
		}
		snprintf(first, 16, "%.15s", newest);
		json_object_set_new(seen, newest, json_true());
	}
}

/* Marks each set with its side, and makes nights what levels are taken over. */
static void sort_out(const struct night_question *q, bool again, struct observations *o)
{
	auto_json json_t *wanted = night_labels(q, again);
	char first[16];
	for (size_t i = 0; i < o->n_sets; i++) {
		json_t *labels = o->set[i].labels;
		json_object_set_new(labels, "side", json_string(side_of(q, wanted, again, labels)));
		json_object_set(labels, "boot", json_object_get(labels, "night"));
	}
	first_night(o, q->compare->nights, first);
	for (size_t i = 0; i < o->n_sets; i++) {
		json_t *labels = o->set[i].labels;
		if (strcmp(json_get_text(labels, "side", ""), "reference") == 0 &&
		    strcmp(json_get_text(labels, "night", ""), first) < 0) {
			json_object_set_new(labels, "side", json_string(""));
		}
	}
}

static const char *kernel_of(const struct observations *o, const char *side)
{
	const char *kernel = "";
	for (size_t i = 0; i < o->n_sets; i++) {
		if (strcmp(json_get_text(o->set[i].labels, "side", ""), side) == 0) {
			kernel = json_get_text(o->set[i].labels, "kernel", kernel);
		}
	}
	return kernel;
}

static struct verdict_input turned(const struct verdict_input *in)
{
	struct verdict_input t = *in;
	t.reference = in->here;
	t.here = in->reference;
	return t;
}

static struct verdict_result decide(const struct nightly_compare *k, const struct check_side *ref,
				    const struct check_side *here, double p[2], bool *by_nights)
{
	bool given = isfinite(k->between_nights);
	*by_nights = given || ref->n_boots >= NIGHTS_FOR_SPREAD;
	if (!*by_nights) {
		p[0] = loss_p_by_samples(ref->sample, ref->n_samples, here->sample,
					 here->n_samples);
		p[1] = loss_p_by_samples(here->sample, here->n_samples, ref->sample,
					 ref->n_samples);
		return verdict_by_samples(ref->sample, ref->n_samples, here->sample,
					  here->n_samples, k->threshold);
	}
	struct verdict_input in = {
		.reference = {ref->boot, ref->n_boots, ref->within},
		.here = {here->boot, here->n_boots, here->within},
		.threshold = k->threshold,
		.boot_sd = given ? log1p(k->between_nights) : NAN,
		.boot_freedom = given ? INFINITY : 0,
		.looks = 1,
	};
	struct verdict_input other = turned(&in);
	p[0] = loss_p_by_levels(&in);
	p[1] = loss_p_by_levels(&other);
	return verdict_by_boots(&in);
}

static int compare_metric(const struct night_question *q, const struct observations *o,
			  enum compare_metric m, json_t *comparisons, struct err *e)
{
	struct check_side ref = {0}, here = {0};
	auto_json json_t *of_ref = json_pack("{s:s}", "side", "reference");
	auto_json json_t *of_here = json_pack("{s:s}", "side", "here");
	int rc = check_side_make(o, of_ref, m, &ref, e);
	rc = rc ? rc : check_side_make(o, of_here, m, &here, e);
	if (rc == 0 && here.n_samples + ref.n_samples > 0) {
		double p[2] = {NAN, NAN};
		bool by_nights = false;
		struct verdict_result r = {VERDICT_CANNOT_TELL, NAN, NAN, NAN};
		if (ref.n_samples && here.n_samples) {
			r = decide(q->compare, &ref, &here, p, &by_nights);
		}
		json_t *one = json_pack(
			"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:[I, I], s:s, s:s}", "host",
			q->host, "night", q->night, "spec", q->spec->name, "kind", q->kind,
			"configuration", q->role, "metric", compare_metric_names[m], "verdict",
			ref.n_samples ? words[r.verdict] : "first night", "by",
			by_nights ? "nights" : "samples", "nights", (json_int_t)ref.n_boots,
			"samples", (json_int_t)ref.n_samples, (json_int_t)here.n_samples, "kernel",
			kernel_of(o, "here"), "kernel_before", kernel_of(o, "reference"));
		/* in the metric's own direction */
		double percent = m == COMPARE_SERVICE_DEMAND ? 100 * (1 / (1 + r.percent / 100) - 1)
							     : r.percent;
		json_object_set_new(one, "percent", json_number_or_null(percent));
		json_object_set_new(one, "threshold", json_real(q->compare->threshold));
		json_object_set_new(one, "p_worse", json_number_or_null(p[0]));
		json_object_set_new(one, "p_better", json_number_or_null(p[1]));
		json_array_append_new(comparisons, one);
	}
	check_side_clear(&ref);
	check_side_clear(&here);
	return rc;
}

int night_judge(struct store *s, const struct night_question *q, bool again, json_t *comparisons,
		struct err *e)
{
	struct observations o = {0};
	struct observe_options read = {.which = OBSERVE_NIGHTS, .name = q->spec->name};
	int rc = observations_read(s, &read, &o, e);
	if (rc == 0) {
		sort_out(q, again, &o);
	}
	for (int m = 0; rc == 0 && m < COMPARE_METRICS; m++) {
		if (q->compare->metric[m]) {
			rc = compare_metric(q, &o, (enum compare_metric)m, comparisons, e);
		}
	}
	observations_clear(&o);
	return rc;
}

static void larger_p(json_t *to, const json_t *from, const char *key)
{
	double a = json_get_number(to, key), b = json_get_number(from, key);
	json_object_set_new(to, key, json_number_or_null(isnan(a) || isnan(b) ? NAN : fmax(a, b)));
}

void night_confirm(json_t *comparison, const json_t *again)
{
	larger_p(comparison, again, "p_worse");
	larger_p(comparison, again, "p_better");
	json_object_set(comparison, "again", json_object_get(again, "verdict"));
	json_object_set(comparison, "percent_again", json_object_get(again, "percent"));
}
