/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of tunables of a spec: what each sets, where, and whether the spec may. Domains are
 * read in spec/domain.c. Called by spec.c after hosts, test and allow are known.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <string.h>

/* auto: the device of the route to the test's other end, found when the host is asked. */
static int parse_device(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	struct yaml_at at = yaml_get(map, "device");
	const char *name = t->target.setting.name;
	bool given = yaml_kind(at) != YAML_ABSENT;
	char word[64];
	if (!t->target.setting.tunable->device) {
		return given ? yaml_error(at, e, "%s belongs to no device: leave 'device' out",
					  name)
			     : 0;
	}
	if (!given) {
		return yaml_error(map, e,
				  "of which device is %s? 'device' is missing: a name, or "
				  "auto (that of the route to the other end)",
				  name);
	}
	int rc = yaml_as_text(at, word, sizeof(word), e);
	if (rc) {
		return rc;
	}
	t->device_auto = strcmp(word, "auto") == 0;
	struct setting with;
	if (t->device_auto) {
		return 0;
	}
	if (!*word || tunable_resolve(name, "", word, &with, e)) {
		return *word ? yaml_error_at(at, e) : yaml_error(at, e, "device: a name, or auto");
	}
	t->target.setting = with;
	return 0;
}

static int resolve(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	struct yaml_at set = yaml_get(map, "set");
	if (yaml_kind(set) == YAML_ABSENT) {
		return yaml_error(map, e, "'set' is missing: the name of a tunable");
	}
	char name[TUNABLE_NAME_MAX + 64];
	int rc = yaml_as_text(set, name, sizeof(name), e);
	if (rc) {
		return rc;
	}
	if (tunable_resolve(name, "", "", &t->target.setting, e)) {
		return yaml_error_at(set, e);
	}
	return parse_device(t, map, e);
}

static size_t count_fields(const struct tunable *t)
{
	size_t n = 0;
	while (n < ARRAY_SIZE(t->fields) && t->fields[n]) {
		n++;
	}
	return n;
}

static int parse_field(struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	const struct tunable *row = t->target.setting.tunable;
	struct yaml_at at = yaml_get(map, "field");
	size_t n = count_fields(row);
	if (yaml_kind(at) == YAML_ABSENT) {
		if (n && yaml_kind(yaml_get(map, "range")) != YAML_ABSENT) {
			return yaml_error(map, e,
					  "%s has the fields %s, %s and %s: say which one by "
					  "'field'",
					  t->target.setting.name, row->fields[0], row->fields[1],
					  row->fields[2]);
		}
		return 0;
	}
	char word[64];
	int rc = yaml_as_text(at, word, sizeof(word), e);
	if (rc) {
		return rc;
	}
	if (n == 0) {
		return yaml_error(at, e, "%s has no fields: leave 'field' out",
				  t->target.setting.name);
	}
	if (word[0] == '\0' || tunable_field_index(row, word) < 0) {
		const char *near = nearest_word(word, row->fields, n);
		return yaml_error(at, e, "%s has no field '%s'%s%s%s (%s, %s, %s)",
				  t->target.setting.name, word, near ? "; did you mean '" : "",
				  near ? near : "", near ? "'?" : "", row->fields[0],
				  row->fields[1], row->fields[2]);
	}
	snprintf(t->target.field, sizeof(t->target.field), "%.15s", word);
	return 0;
}

/* Run scope belongs to the test's own sockets or command, host scope to one host. */
static int parse_host(struct spec *s, struct spec_tunable *t, struct yaml_at map, struct err *e)
{
	const struct setting *set = &t->target.setting;
	struct yaml_at at = yaml_get(map, "host");
	t->host = -1;
	if (set->tunable->scope == SCOPE_RUN && set->tunable->backend != BACKEND_NUMA) {
		return yaml_kind(at) == YAML_ABSENT
			       ? 0
			       : yaml_error(at, e, "%s is set by the test itself: leave 'host' out",
					    set->name);
	}
	if (yaml_kind(at) != YAML_ABSENT) {
		return spec_find_host(s, at, &t->host, e);
	}
	if (s->n_hosts == 0) {
		return yaml_error(map, e, "%s is set on a host, and this spec has no 'hosts'",
				  set->name);
	}
	if (s->n_hosts > 1) {
		return yaml_error(map, e, "on which host is %s set? 'host' is missing (%s, %s%s)",
				  set->name, s->hosts[0].name, s->hosts[1].name,
				  s->n_hosts > 2 ? ", ..." : "");
	}
	t->host = 0;
	return 0;
}

static int check_engine(const struct spec *s, const struct spec_tunable *t, struct yaml_at map,
			struct err *e)
{
	const char *name = t->target.setting.name, *engine = s->test.engine;
	struct yaml_at at = yaml_get(map, "set");
	if (spec_is_param(t) && strcmp(engine, "command") != 0 &&
	    strcmp(engine, "simulated") != 0) {
		return yaml_error(at, e,
				  "%s is a parameter of a command: it goes with 'engine: command' "
				  "(or simulated)",
				  name);
	}
	enum tunable_backend backend = t->target.setting.tunable->backend;
	if (backend == BACKEND_NUMA && strcmp(engine, "builtin") != 0 &&
	    strcmp(engine, "simulated") != 0) {
		return yaml_error(at, e,
				  "%s is asked of the built-in engine's endpoints: other engines "
				  "place themselves",
				  name);
	}
	if (backend == BACKEND_SOCKET && strcmp(engine, "command") == 0) {
		return yaml_error(at, e,
				  "%s is set on the sockets of the built-in engine; a command "
				  "makes its own: give it a param.NAME",
				  name);
	}
	return 0;
}

/* Mostly a slip of the pen; but a newer kernel may have what the catalogue does not know. */
static int refuse_unlisted(const struct spec_tunable *t, struct yaml_at at, struct err *e)
{
	const char *names[512];
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	n = n < ARRAY_SIZE(names) ? n : ARRAY_SIZE(names);
	for (size_t i = 0; i < n; i++) {
		names[i] = rows[i].name;
	}
	const char *near = nearest_word(t->target.setting.name, names, n);
	return yaml_error(at, e,
			  "%s is not in the catalogue%s%s%s: to have it set all the same, write "
			  "'allow: [unlisted]'",
			  t->target.setting.name, near ? " (did you mean '" : "", near ? near : "",
			  near ? "'?)" : "");
}

static int check_class(const struct spec *s, const struct spec_tunable *t, struct yaml_at map,
		       struct err *e)
{
	static const struct {
		unsigned allow;
		const char *word, *why;
	} classes[] = {
		[CLASS_UNSAFE] = {ALLOW_UNSAFE, "unsafe", "touches safety or compatibility"},
		[CLASS_DISRUPTIVE] = {ALLOW_DISRUPTIVE, "disruptive", "can drop the link"},
		[CLASS_DRIVER_REBIND] = {ALLOW_DRIVER_REBIND, "driver-rebind",
					 "rebinds the driver"},
	};
	enum tunable_class class = t->target.setting.tunable->class;
	if (class == CLASS_UNLISTED && !(s->allow & ALLOW_UNLISTED)) {
		return refuse_unlisted(t, yaml_get(map, "set"), e);
	}
	if (class == CLASS_SAFE || class == CLASS_UNLISTED || (s->allow & classes[class].allow)) {
		return 0;
	}
	return yaml_error(yaml_get(map, "set"), e, "%s %s: it wants 'allow: [%s]' in the spec",
			  t->target.setting.name, classes[class].why, classes[class].word);
}

/* Names are canonical by now, so a second spelling of the same key is found too. */
static int check_duplicate(const struct spec *s, const struct spec_tunable *t, struct yaml_at map,
			   struct err *e)
{
	for (size_t i = 0; i < s->n_tunables; i++) {
		const struct spec_tunable *o = &s->tunables[i];
		bool same_field = strcmp(o->target.field, t->target.field) == 0 ||
				  !o->target.field[0] || !t->target.field[0];
		if (o->host != t->host || !same_field ||
		    strcmp(o->target.setting.name, t->target.setting.name) != 0) {
			continue;
		}
		if (strcmp(o->target.setting.device, t->target.setting.device) != 0 ||
		    o->device_auto != t->device_auto) {
			return yaml_error(
				yaml_get(map, "set"), e,
				"%s is here for two devices of one host: a sweep takes one",
				t->target.setting.name);
		}
		char key[192];
		setting_key(&t->target.setting, t->target.field,
			    t->host < 0 ? NULL : s->hosts[t->host].name, key, sizeof(key));
		return yaml_error(yaml_get(map, "set"), e,
				  "%s is here twice: it is set at %s:%u:%u already", key, s->path,
				  o->place.line, o->place.column);
	}
	return 0;
}

static int parse_one(struct spec *s, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"set",      "field", "host", "device", "range",
					   "choices",  "scale", "step", "type",	  "default",
					   "optional", "when",	NULL};
	struct spec_tunable *t = &s->tunables[s->n_tunables];
	*t = (struct spec_tunable){.host = -1, .when = {.tunable = -1}};
	int rc = yaml_check_keys(map, keys, e);
	rc = rc ? rc : resolve(t, map, e);
	if (rc) {
		return rc;
	}
	t->place = spec_place_of(yaml_get(map, "set"));
	struct yaml_at optional = yaml_get(map, "optional");
	if (yaml_kind(optional) != YAML_ABSENT) {
		rc = yaml_as_bool(optional, &t->optional, e);
	}
	rc = rc ? rc : check_class(s, t, map, e);
	rc = rc ? rc : parse_field(t, map, e);
	rc = rc ? rc : parse_host(s, t, map, e);
	rc = rc ? rc : check_engine(s, t, map, e);
	rc = rc ? rc : check_duplicate(s, t, map, e);
	if (rc) {
		return rc;
	}
	s->n_tunables++; /* counted first: spec_free then finds the choices */
	return spec_parse_domain(t, map, e);
}

int spec_parse_tunables(struct spec *s, struct yaml_at list, struct err *e)
{
	if (yaml_kind(list) != YAML_LIST || yaml_count(list) == 0) {
		return yaml_error(list, e,
				  "tunables: a list with an entry for each dimension, e.g. - {set: "
				  "net.ipv4.tcp_rmem, field: max, range: [1MiB, 64MiB]}");
	}
	if (yaml_count(list) > SPEC_TUNABLES_MAX) {
		return yaml_error(list, e, "%zu tunables: at most %d", yaml_count(list),
				  SPEC_TUNABLES_MAX);
	}
	for (size_t i = 0; i < yaml_count(list); i++) {
		int rc = parse_one(s, yaml_item(list, i), e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}
