/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile held against one host: asks, compares, and lists what would change. Sets nothing.
 */
#include "changes.h"
#include "cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *changes_key(const struct target *t, const struct assignment *a, char *buf, size_t size)
{
	char key[200];
	const char *device = a->setting.device;
	setting_key(&a->setting, a->field, *t->name ? t->name : NULL, key, sizeof(key));
	snprintf(buf, size, "%s%s%s", key, *device ? " on " : "", device);
	return buf;
}

static bool is_choice(const struct wanted *w)
{
	for (size_t i = 0; i < w->range.n_choices; i++) {
		if (strcmp(w->range.choices[i], w->setting->assignment.value.text) == 0) {
			return true;
		}
	}
	return w->range.n_choices == 0;
}

/* Keeps what can be set and what must be told; returns 1 where the setting is left out. A word that
 * is no choice yet may become one by being set (a module is loaded): that is tried, and who only
 * looks leaves it out. */
static int sort_out(const struct cli *c, const struct target *t, struct wanted *w, bool must,
		    char *missing, size_t size)
{
	char key[256];
	size_t used = strlen(missing);
	if (!must && w->setting->optional && !is_choice(w)) {
		w->range.settable = false;
		snprintf(w->range.why_not, sizeof(w->range.why_not), "'%.100s' is not offered here",
			 w->setting->assignment.value.text);
	}
	if (w->range.settable) {
		return 0;
	}
	changes_key(t, &w->setting->assignment, key, sizeof(key));
	if (w->setting->optional) {
		cli_note(c, "%s is skipped: %s", key, w->range.why_not);
		return 1;
	}
	if (must) {
		snprintf(missing + used, size - used, "%s%s cannot be set: %s", used ? "; " : "",
			 key, w->range.why_not);
	}
	return 0;
}

int changes_ask(const struct cli *c, struct target *t, const struct profile *p, bool must,
		struct wanted **out, size_t *n, struct err *e)
{
	char missing[600] = "";
	*n = 0;
	*out = calloc(p->n_settings + 1, sizeof(**out));
	if (!*out) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < p->n_settings; i++) {
		const struct profile_setting *s = &p->settings[i];
		struct wanted *w = &(*out)[*n];
		if (strcmp(s->host, t->name) != 0) {
			continue;
		}
		if (s->assignment.setting.tunable->held) {
			char key[256];
			cli_note(c,
				 "%s is left out: it lasts only as long as the process that asks "
				 "for it (the gain may be smaller than the one that was measured)",
				 changes_key(t, &s->assignment, key, sizeof(key)));
			continue;
		}
		*w = (struct wanted){.setting = s};
		int rc = agent_probe_for(t->agent, &s->assignment, &w->range, e);
		if (rc < 0) {
			return rc;
		}
		*n += !sort_out(c, t, w, must, missing, sizeof(missing));
	}
	return *missing ? err_set(e, -ENOENT, "%s", missing) : 0;
}

static void add_change(json_t *list, const char *key, const char *from, const char *to,
		       const char *because)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "set", key, "from", from,
					      "to", to, "because", because));
}

static bool names(const struct profile *p, const struct target *t, const struct setting *s)
{
	for (size_t i = 0; i < p->n_settings; i++) {
		if (strcmp(p->settings[i].host, t->name) == 0 &&
		    setting_same(&p->settings[i].assignment.setting, s)) {
			return true;
		}
	}
	return false;
}

/* What a former profile has set and this one does not name goes back to the first baseline. */
static void list_returns(const struct target *t, const struct profile *p, const json_t *settings,
			 json_t *list)
{
	size_t i;
	json_t *item;
	json_array_foreach((json_t *)settings, i, item)
	{
		const char *set = json_string_value(json_object_get(item, "set"));
		const char *device = json_string_value(json_object_get(item, "device"));
		const char *old = json_string_value(json_object_get(item, "old"));
		const char *present = json_string_value(json_object_get(item, "present"));
		struct assignment a = {0};
		char key[256];
		if (!json_string_value(json_object_get(item, "value")) || !old || !present ||
		    tunable_resolve(set, "", device, &a.setting, NULL) < 0 ||
		    names(p, t, &a.setting) || strcmp(old, present) == 0) {
			continue;
		}
		add_change(list, changes_key(t, &a, key, sizeof(key)), present, old, "baseline");
	}
}

/* NULL while somebody else holds what is applied: the profile's own values can be told all the
 * same. */
static int applied_now(const struct cli *c, struct target *t, json_t **status, struct err *e)
{
	int rc = agent_open(t->agent, "applied", "", NULL, 0, NULL, e);
	if (rc == -EBUSY) {
		cli_note(c, "%s; what a former profile has set is not told", e->text);
		return 0;
	}
	return rc ? rc : agent_status(t->agent, status, e);
}

int changes_list(const struct cli *c, struct target *t, const struct profile *p, json_t *list,
		 struct err *e)
{
	auto_free struct wanted *wanted = NULL;
	auto_json json_t *status = NULL;
	size_t n;
	int rc = changes_ask(c, t, p, true, &wanted, &n, e);
	rc = rc ? rc : applied_now(c, t, &status, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct assignment *a = &wanted[i].setting->assignment;
		const struct value *present = &wanted[i].range.present;
		char key[256], from[VALUE_TEXT_MAX], to[VALUE_TEXT_MAX];
		if (!value_equal(present, &a->value)) {
			add_change(list, changes_key(t, a, key, sizeof(key)),
				   value_format(present, UNIT_NONE, from, sizeof(from)),
				   value_format(&a->value, UNIT_NONE, to, sizeof(to)), "profile");
		}
	}
	if (rc == 0) {
		list_returns(t, p, json_object_get(status, "settings"), list);
	}
	return rc;
}

void changes_print(const json_t *list)
{
	size_t i;
	json_t *item;
	json_array_foreach((json_t *)list, i, item)
	{
		const char *because = json_string_value(json_object_get(item, "because"));
		printf("%s: %s -> %s%s\n", json_string_value(json_object_get(item, "set")),
		       json_string_value(json_object_get(item, "from")),
		       json_string_value(json_object_get(item, "to")),
		       strcmp(because, "baseline") == 0
			       ? " (set by the former profile, back to before it)"
			       : "");
	}
}
