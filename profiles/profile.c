/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a profile: strictly, so that a stranger's file can set nothing outside the catalogue.
 * Writing is profile_save.c's; applying is the commands'. Called by apply, verify, export, exec.
 */
#include "profile.h"
#include "cleanup.h"
#include "yaml.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SETTINGS_MAX = 1000 };

struct reading { /* one list of a profile as it is read */
	struct profile_setting *settings;
	unsigned *lines;
	size_t n;
	enum tunable_scope scope;
	unsigned allow; /* ALLOW_* */
};

void profile_init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
}

void profile_clear(struct profile *p)
{
	json_decref(p->machine);
	json_decref(p->evidence);
	free(p->settings);
	free(p->application);
	memset(p, 0, sizeof(*p));
}

/* A plain scalar whose meaning nobody has fixed: what it looks like, without any guessing beyond
 * JSON's own kinds. */
static struct value any_value(struct yaml_at at)
{
	const char *text = yaml_text(at);
	int64_t i;
	double r;
	if (yaml_quoted(at)) {
		return value_text(text);
	}
	if (!scalar_int(text, &i, NULL)) {
		return value_int(i);
	}
	if (!scalar_real(text, &r, NULL)) {
		return value_real(r);
	}
	if (!strcmp(text, "true") || !strcmp(text, "false")) {
		return value_bool(*text == 't');
	}
	return value_text(text);
}

static json_t *to_json(struct yaml_at at)
{
	const char *text = yaml_text(at);
	json_t *j;
	switch (yaml_kind(at)) {
	case YAML_LIST:
		j = json_array();
		for (size_t i = 0; i < yaml_count(at); i++) {
			json_array_append_new(j, to_json(yaml_item(at, i)));
		}
		return j;
	case YAML_MAP:
		j = json_object();
		for (size_t i = 0; i < yaml_count(at); i++) {
			json_object_set_new(j, yaml_text(yaml_key(at, i)),
					    to_json(yaml_value(at, i)));
		}
		return j;
	default:
		if (!yaml_quoted(at) && (!*text || !strcmp(text, "null") || !strcmp(text, "~"))) {
			return json_null();
		}
		struct value v = any_value(at);
		return v.type == VALUE_TEXT ? json_string(text) : value_to_json(&v);
	}
}

static int read_block(struct yaml_at at, json_t **out, struct err *e)
{
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(at) != YAML_MAP) {
		return yaml_error(at, e, "a map is wanted here");
	}
	*out = to_json(at);
	return *out ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int read_effect(struct yaml_at at, struct profile_effect *out, struct err *e)
{
	static const char *const keys[] = {"percent", "interval", "level", NULL};
	*out = (struct profile_effect){NAN, NAN, NAN, NAN};
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	struct yaml_at interval = yaml_get(at, "interval"), level = yaml_get(at, "level");
	if (yaml_check_keys(at, keys, e) ||
	    yaml_as_real(yaml_get(at, "percent"), -1e12, 1e12, &out->percent, e)) {
		return -EINVAL;
	}
	if (yaml_kind(level) != YAML_ABSENT && yaml_as_fraction(level, &out->level, e)) {
		return -EINVAL;
	}
	if (yaml_kind(interval) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(interval) != YAML_LIST || yaml_count(interval) != 2) {
		return yaml_error(interval, e, "an interval is a list of two numbers");
	}
	int r = yaml_as_real(yaml_item(interval, 0), -1e12, 1e12, &out->lo, e);
	return r ? r : yaml_as_real(yaml_item(interval, 1), -1e12, 1e12, &out->hi, e);
}

/* A list for all fields of a setting, as the kernel writes it: numbers with blanks between. */
static int read_list(struct yaml_at at, const struct tunable *t, struct value *out, struct err *e)
{
	char text[VALUE_TEXT_MAX] = "", word[64];
	for (size_t i = 0; i < yaml_count(at); i++) {
		struct value v;
		if (yaml_as_value(yaml_item(at, i), VALUE_INT, t->unit, &v, e)) {
			return -EINVAL;
		}
		size_t used = strlen(text);
		value_format(&v, UNIT_NONE, word, sizeof(word));
		if (used + strlen(word) + 2 > sizeof(text)) {
			return yaml_error(at, e, "the list is too long");
		}
		snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", word);
	}
	*out = value_text(text);
	return 0;
}

static int read_value(struct yaml_at at, const struct assignment *a, struct value *out,
		      struct err *e)
{
	const struct tunable *t = a->setting.tunable;
	bool whole = t->fields[0] && !*a->field;
	bool unlisted = t->class == CLASS_UNLISTED;
	if (yaml_kind(at) == YAML_LIST && (whole || unlisted)) {
		return read_list(at, t, out, e);
	}
	if (whole) {
		return yaml_error(at, e,
				  "%s wants a list of all its fields, [%s, %s, %s], or a 'field'",
				  a->setting.name, t->fields[0], t->fields[1], t->fields[2]);
	}
	if (t->type == VALUE_NONE || unlisted) {
		char text[VALUE_TEXT_MAX];
		*out = any_value(at);
		bool text_like = out->type == VALUE_TEXT || yaml_kind(at) != YAML_SCALAR;
		return text_like ? yaml_as_text(at, text, sizeof(text), e) : 0;
	}
	return yaml_as_value(at, t->type, t->unit, out, e);
}

static int optional_text(struct yaml_at at, char *out, size_t size, struct err *e)
{
	*out = 0;
	return yaml_kind(at) == YAML_ABSENT ? 0 : yaml_as_text(at, out, size, e);
}

/* Both spellings of one key, or a whole setting beside one of its fields, are the same twice. */
static int check_twice(struct yaml_at at, const struct reading *r, struct err *e)
{
	const struct profile_setting *s = &r->settings[r->n];
	for (size_t i = 0; i < r->n; i++) {
		const struct profile_setting *o = &r->settings[i];
		bool field = !*s->assignment.field || !*o->assignment.field ||
			     !strcmp(s->assignment.field, o->assignment.field);
		if (field && !strcmp(s->host, o->host) &&
		    setting_same(&s->assignment.setting, &o->assignment.setting)) {
			return yaml_error(at, e, "%s is there twice, first in line %u",
					  s->assignment.setting.name, r->lines[i]);
		}
	}
	return 0;
}

/* What a stranger's profile must not do without a word. What may drop the link (disruptive) is only
 * named by whoever means it: apply --confirm is the way back from it. */
static int check_class(struct yaml_at at, const struct setting *s, const struct reading *r,
		       struct err *e)
{
	enum tunable_class class = s->tunable->class;
	if (s->tunable->scope != r->scope) {
		return yaml_error(at, e, "%s belongs under '%s'", s->name,
				  r->scope == SCOPE_HOST ? "application" : "settings");
	}
	static const unsigned words[] = {[CLASS_UNSAFE] = ALLOW_UNSAFE,
					 [CLASS_UNLISTED] = ALLOW_UNLISTED,
					 [CLASS_DRIVER_REBIND] = ALLOW_DRIVER_REBIND};
	if (class == CLASS_SAFE || class == CLASS_DISRUPTIVE || (r->allow & words[class])) {
		return 0;
	}
	if (class == CLASS_UNLISTED) {
		const char *near = tunable_near(s->name);
		return yaml_error(at, e,
				  "%s is not in the catalogue%s%s%s; if you mean it, write "
				  "allow: [unlisted] at the top",
				  s->name, near ? " (did you mean '" : "", near ? near : "",
				  near ? "'?)" : "");
	}
	return yaml_error(at, e, "%s %s; if you mean it, write allow: [%s] at the top", s->name,
			  class == CLASS_UNSAFE ? "touches safety or compatibility"
						: "binds a driver anew",
			  class == CLASS_UNSAFE ? "unsafe" : "driver-rebind");
}

static int check_device(struct yaml_at at, const struct setting *s, struct err *e)
{
	return s->tunable->device && !*s->device
		       ? yaml_error(at, e, "of which device is %s? 'device' is missing", s->name)
		       : 0;
}

static int read_setting(struct yaml_at at, struct reading *r, struct err *e)
{
	static const char *const keys[] = {"set", "field",  "host",	"device", "value",
					   "was", "effect", "optional", NULL};
	struct profile_setting *s = &r->settings[r->n];
	struct assignment *a = &s->assignment;
	char name[TUNABLE_NAME_MAX], device[IF_NAMESIZE];
	struct yaml_at set = yaml_get(at, "set"), was = yaml_get(at, "was");
	struct yaml_at optional = yaml_get(at, "optional");
	memset(s, 0, sizeof(*s));
	if (yaml_check_keys(at, keys, e)) {
		return -EINVAL;
	}
	if (yaml_kind(set) == YAML_ABSENT) {
		return yaml_error(at, e, "'set' is missing: the name of what is set");
	}
	if (yaml_kind(yaml_get(at, "value")) == YAML_ABSENT) {
		return yaml_error(at, e, "'value' is missing");
	}
	if (yaml_as_text(set, name, sizeof(name), e) ||
	    optional_text(yaml_get(at, "field"), a->field, sizeof(a->field), e) ||
	    optional_text(yaml_get(at, "host"), s->host, sizeof(s->host), e) ||
	    optional_text(yaml_get(at, "device"), device, sizeof(device), e)) {
		return -EINVAL;
	}
	if (tunable_resolve(name, a->field, device, &a->setting, e)) {
		return yaml_error_at(set, e);
	}
	if (check_class(set, &a->setting, r, e) || check_device(set, &a->setting, e) ||
	    check_twice(set, r, e) || read_value(yaml_get(at, "value"), a, &a->value, e)) {
		return -EINVAL;
	}
	if (tunable_check(&a->setting, a->field, &a->value, e)) {
		return yaml_error_at(yaml_get(at, "value"), e);
	}
	if (yaml_kind(was) != YAML_ABSENT && read_value(was, a, &s->was, e)) {
		return -EINVAL;
	}
	if (yaml_kind(optional) != YAML_ABSENT && yaml_as_bool(optional, &s->optional, e)) {
		return -EINVAL;
	}
	return read_effect(yaml_get(at, "effect"), &s->effect, e);
}

static int read_settings(struct yaml_at at, struct reading *r, struct err *e)
{
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(at) != YAML_LIST) {
		return yaml_error(at, e, "a list is wanted here: - {set: ..., value: ...}");
	}
	size_t n = yaml_count(at);
	if (n > SETTINGS_MAX) {
		return yaml_error(at, e, "more than %d settings", SETTINGS_MAX);
	}
	r->settings = calloc(n ? n : 1, sizeof(*r->settings));
	auto_free unsigned *lines = calloc(n ? n : 1, sizeof(*lines));
	r->lines = lines;
	if (!r->settings || !lines) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int code = 0;
	for (size_t i = 0; !code && i < n; i++) {
		lines[i] = yaml_line(yaml_item(at, i));
		code = read_setting(yaml_item(at, i), r, e);
		r->n += !code;
	}
	return code;
}

static int read_allow(struct yaml_at at, unsigned *allow, struct err *e)
{
	int word;
	if (yaml_kind(at) != YAML_ABSENT && yaml_kind(at) != YAML_LIST) {
		return yaml_error(at, e, "a list is wanted here, as [unlisted]");
	}
	for (size_t i = 0; i < yaml_count(at); i++) {
		if (yaml_as_word(yaml_item(at, i), allow_words, &word, e)) {
			return -EINVAL;
		}
		*allow |= 1u << word;
	}
	return 0;
}

static int read_head(struct yaml_at root, struct profile *p, unsigned *allow, struct err *e)
{
	static const char *const keys[] = {"tunesweep_profile", "name",	 "machine",
					   "evidence",		"allow", "settings",
					   "application",	NULL};
	int64_t version;
	if (yaml_kind(root) == YAML_MAP && yaml_kind(yaml_get(root, "tunesweep")) != YAML_ABSENT) {
		return yaml_error(root, e, "this is a spec of a sweep, not a profile");
	}
	if (yaml_check_keys(root, keys, e)) {
		return -EINVAL;
	}
	if (yaml_kind(yaml_get(root, "tunesweep_profile")) == YAML_ABSENT) {
		return yaml_error(root, e, "not a profile: 'tunesweep_profile: 1' is missing");
	}
	if (yaml_as_int(yaml_get(root, "tunesweep_profile"), 1, 1, &version, e)) {
		return -EINVAL;
	}
	if (yaml_kind(yaml_get(root, "name")) == YAML_ABSENT) {
		return yaml_error(root, e, "'name' is missing");
	}
	if (yaml_as_text(yaml_get(root, "name"), p->name, sizeof(p->name), e) ||
	    read_block(yaml_get(root, "machine"), &p->machine, e) ||
	    read_block(yaml_get(root, "evidence"), &p->evidence, e)) {
		return -EINVAL;
	}
	if (!*p->name) {
		return yaml_error(yaml_get(root, "name"), e, "the name is empty");
	}
	return read_allow(yaml_get(root, "allow"), allow, e);
}

static int read_profile(struct yaml_at root, struct profile *p, struct err *e)
{
	struct reading host = {.scope = SCOPE_HOST}, run = {.scope = SCOPE_RUN};
	struct yaml_at settings = yaml_get(root, "settings");
	struct yaml_at application = yaml_get(root, "application");
	if (read_head(root, p, &host.allow, e)) {
		return -EINVAL;
	}
	if (yaml_kind(settings) == YAML_ABSENT && yaml_kind(application) == YAML_ABSENT) {
		return yaml_error(root, e, "'settings' is missing");
	}
	p->allow = host.allow;
	int r = read_settings(settings, &host, e);
	p->settings = host.settings;
	p->n_settings = host.n;
	r = r ? r : read_settings(application, &run, e);
	p->application = run.settings;
	p->n_application = run.n;
	return r;
}

int profile_load(const char *path, struct profile *out, struct err *e)
{
	struct yaml *y;
	profile_init(out);
	int r = yaml_open_file(path, &y, e);
	if (r) {
		return r;
	}
	r = read_profile(yaml_root(y), out, e);
	yaml_close(y);
	if (r) {
		profile_clear(out);
	}
	return r;
}

size_t profile_hosts(const struct profile *p, const char *hosts[], size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_settings; i++) {
		bool known = false;
		for (size_t k = 0; k < n; k++) {
			known = known || !strcmp(hosts[k], p->settings[i].host);
		}
		if (!known && n < max) {
			hosts[n++] = p->settings[i].host;
		}
	}
	return n;
}
