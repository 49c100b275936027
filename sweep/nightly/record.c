/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record of one sweep on one kind of hardware: its best so far, on which boots that has proved
 * its gain, and the profile. It measures nothing; a night reads it first and writes it last.
 */
#include "cleanup.h"
#include "files.h"
#include "json_util.h"
#include "nightly_private.h"
#include "profile.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { PROOFS_MAX = 100, ALARMS_MAX = 1000 };

int night_record_load(const struct nightly_config *c, const char *kind, const char *name,
		      struct night_record *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	int n = snprintf(out->folder, sizeof(out->folder), "%.2000s/%.64s", c->state, kind);
	if (n + (int)strlen(name) + 8 >= (int)sizeof(out->folder) || strlen(c->state) > 2000) {
		return err_set(e, -ENAMETOOLONG, "%.200s...: too long", c->state);
	}
	snprintf(out->file, sizeof(out->file), "%.3000s/%.64s.json", out->folder, name);
	snprintf(out->profile, sizeof(out->profile), "%.3000s/%.64s.yaml", out->folder, name);
	int rc = files_load_json(out->file, &out->j, e);
	if (rc == -ENOENT) {
		out->j = json_object();
		rc = 0;
	}
	return rc;
}

int night_record_save(const struct night_record *r, struct err *e)
{
	int rc = files_make_folders(r->folder, e);
	return rc ? rc : files_save_json(r->file, r->j, e);
}

void night_record_clear(struct night_record *r)
{
	json_decref(r->j);
	r->j = NULL;
}

const json_t *night_record_best(const struct night_record *r)
{
	return json_object_get(json_object_get(r->j, "best"), "values");
}

/* Days from one night to another, by the calendar; 0 if either is none. */
static int64_t days_between(const char *from, const char *to)
{
	struct tm a = {.tm_hour = 12}, b = {.tm_hour = 12};
	if (!strptime(from, "%Y-%m-%d", &a) || !strptime(to, "%Y-%m-%d", &b)) {
		return 0;
	}
	return llround(difftime(timegm(&b), timegm(&a)) / 86400);
}

bool night_record_is_due(const struct night_record *r, const char *night, int64_t every)
{
	const char *swept = json_get_text(r->j, "swept", "");
	return !*swept || days_between(swept, night) >= every;
}

/* Puts something at the end of a list that does not grow for ever. */
static void append(json_t *record, const char *key, json_t *what, size_t max)
{
	json_t *list = json_object_get(record, key);
	if (!list) {
		json_object_set_new(record, key, list = json_array());
	}
	json_array_append_new(list, what);
	while (json_array_size(list) > max) {
		json_array_remove(list, 0);
	}
}

void night_record_alarm(struct night_record *r, const char *night)
{
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(r->j, "alarms"), i, one)
	{
		if (strcmp(json_string_value(one), night) == 0) {
			return;
		}
	}
	append(r->j, "alarms", json_string(night), ALARMS_MAX);
}

static void add_proof(struct night_record *r, const char *night, const char *boot, double percent,
		      double lo, double hi)
{
	append(r->j, "proofs",
	       json_pack("{s:s, s:s, s:O?, s:o, s:[o, o]}", "night", night, "boot", boot, "values",
			 night_record_best(r), "percent", json_number_or_null(percent), "interval",
			 json_number_or_null(lo), json_number_or_null(hi)),
	       PROOFS_MAX);
}

void night_record_proof(struct night_record *r, const char *night, const char *boot,
			const struct gain *g)
{
	if (g->significant && g->score.lo > 0) {
		add_proof(r, night, boot, g->score.estimate, g->score.lo, g->score.hi);
	}
}

int night_record_boots(const struct night_record *r, const char *night)
{
	auto_json json_t *boots = json_object();
	bool tonight = false;
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(r->j, "proofs"), i, one)
	{
		if (json_equal(json_object_get(one, "values"), night_record_best(r))) {
			tonight |= strcmp(json_get_text(one, "night", ""), night) == 0;
			json_object_set_new(boots, json_get_text(one, "boot", ""), json_true());
		}
	}
	json_object_del(boots, ""); /* an unknown boot is none */
	return tonight ? (int)json_object_size(boots) : 0;
}

static void set_values(json_t *values, const struct profile_setting *s, size_t n)
{
	char key[192];
	for (size_t i = 0; i < n; i++) {
		setting_key(&s[i].assignment.setting, s[i].assignment.field,
			    *s[i].host ? s[i].host : NULL, key, sizeof(key));
		json_object_set_new(values, key, value_to_json(&s[i].assignment.value));
	}
}

/* What the proof left of the best: the baseline's values with the profile's settings. */
static json_t *winner_values(const struct profile *p, const json_t *result)
{
	json_t *values = json_deep_copy(
		json_object_get(json_object_get(result, "baseline"), "values"));
	if (values) {
		set_values(values, p->settings, p->n_settings);
		set_values(values, p->application, p->n_application);
	}
	return values;
}

/* Is a gain surely more than that of the best so far? What is applied is the baseline itself. */
static bool is_better(const struct night_record *r, const json_t *gain, const char *spec_sha)
{
	const json_t *best = json_object_get(r->j, "best");
	const json_t *applied = json_object_get(json_object_get(r->j, "applied"), "values");
	double lo = json_number_value(json_array_get(json_object_get(gain, "interval"), 0));
	return !night_record_best(r) ||
	       strcmp(json_get_text(best, "spec_sha256", ""), spec_sha) != 0 ||
	       (applied && json_equal(applied, night_record_best(r))) ||
	       lo > json_get_number(json_object_get(best, "gain"), "percent");
}

static bool take_profile(struct night_record *r, const char *night, const char *boot,
			 const char *dir, const char *spec_sha, const json_t *result, struct err *e)
{
	char path[PATH_MAX];
	struct profile p;
	json_t *gain = json_object_get(result, "gain");
	const json_t *interval = json_object_get(gain, "interval");
	snprintf(path, sizeof(path), "%.3500s/best.yaml", dir);
	if (profile_load(path, &p, e) < 0) {
		return false;
	}
	json_t *values = winner_values(&p, result);
	bool same = values && json_equal(values, night_record_best(r));
	bool better = values && (same || is_better(r, gain, spec_sha)) &&
		      files_make_folders(r->folder, e) == 0 && profile_save(&p, r->profile, e) == 0;
	profile_clear(&p);
	if (better) {
		json_object_set_new(r->j, "best",
				    json_pack("{s:s, s:s, s:O, s:O, s:s}", "run",
					      json_get_text(result, "run", ""), "night", night,
					      "values", values, "gain", gain, "spec_sha256",
					      spec_sha));
		add_proof(r, night, boot, json_get_number(gain, "percent"),
			  json_number_value(json_array_get(interval, 0)),
			  json_number_value(json_array_get(interval, 1)));
	}
	json_decref(values);
	return better;
}

bool night_record_swept(struct night_record *r, const char *night, const char *boot,
			const char *dir, const char *spec_sha, const json_t *result, struct err *e)
{
	const json_t *gain = json_object_get(result, "gain");
	json_object_set_new(r->j, "swept", json_string(night));
	return strcmp(json_get_text(result, "recommended", ""), "best") == 0 &&
	       json_is_true(json_object_get(gain, "significant")) &&
	       take_profile(r, night, boot, dir, spec_sha, result, e);
}
