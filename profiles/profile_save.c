/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing a profile so that people can read it and profile_load takes it back. A word that YAML
 * could take for something else is quoted. Called by the export of a sweep and by capture.
 */
#include "cleanup.h"
#include "profile.h"
#include "replace.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_plain(const char *s)
{
	static const char *const words[] = {"yes",   "no",   "on", "off", "true",
					    "false", "null", "y",  "n"};
	const char *first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(s, words[i])) {
			return false;
		}
	}
	return *s && strchr(first, *s) &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_./-")];
}

/* A double-quoted YAML scalar takes what JSON writes. */
static void put_text(FILE *f, const char *s)
{
	if (is_plain(s)) {
		fputs(s, f);
		return;
	}
	auto_json json_t *j = json_string(s);
	auto_free char *quoted = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;
	fputs(quoted ? quoted : "\"\"", f);
}

static void put_real(FILE *f, double r)
{
	char buf[64];
	struct value v = value_real(r);
	if (!isfinite(r)) {
		fputs("null", f);
		return;
	}
	value_format(&v, UNIT_NONE, buf, sizeof(buf));
	fprintf(f, "%s%s", buf, strpbrk(buf, ".e") ? "" : ".0"); /* a real again when read */
}

static void put_json(FILE *f, json_t *j)
{
	const char *key;
	json_t *item;
	size_t i;
	bool first = true;
	switch (json_typeof(j)) {
	case JSON_OBJECT:
		fputc('{', f);
		json_object_foreach(j, key, item)
		{
			fputs(first ? "" : ", ", f);
			first = false;
			put_text(f, key);
			fputs(": ", f);
			put_json(f, item);
		}
		fputc('}', f);
		break;
	case JSON_ARRAY:
		fputc('[', f);
		json_array_foreach(j, i, item)
		{
			fputs(i ? ", " : "", f);
			put_json(f, item);
		}
		fputc(']', f);
		break;
	case JSON_STRING:
		put_text(f, json_string_value(j));
		break;
	case JSON_REAL:
		put_real(f, json_real_value(j));
		break;
	case JSON_INTEGER:
		fprintf(f, "%lld", (long long)json_integer_value(j));
		break;
	default:
		fputs(json_is_null(j) ? "null" : json_is_true(j) ? "true" : "false", f);
	}
}

static void put_block(FILE *f, const char *name, json_t *block)
{
	const char *key;
	json_t *item;
	if (!json_object_size(block)) {
		return;
	}
	fprintf(f, "%s:\n", name);
	json_object_foreach(block, key, item)
	{
		fputs("  ", f);
		put_text(f, key);
		fputs(": ", f);
		put_json(f, item);
		fputc('\n', f);
	}
}

static void put_list(FILE *f, const struct value *v, enum value_unit unit)
{
	char word[32], buf[48];
	const char *p = v->text;
	fputc('[', f);
	for (p += strspn(p, " "); *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		int64_t i;
		snprintf(word, sizeof(word), "%.*s", (int)(len < 31 ? len : 31), p);
		fputs(p == v->text ? "" : ", ", f);
		if (scalar_int(word, &i, NULL)) {
			put_text(f, word);
		} else {
			struct value number = value_int(i);
			fputs(value_format(&number, unit, buf, sizeof(buf)), f);
		}
		p += len;
	}
	fputc(']', f);
}

static void put_value(FILE *f, const struct value *v, const struct assignment *a)
{
	const struct tunable *t = a->setting.tunable;
	char buf[VALUE_TEXT_MAX];
	bool numbers = strpbrk(v->text, " ") && !v->text[strspn(v->text, "-0123456789 ")];
	if (v->type == VALUE_TEXT && ((t->fields[0] && !*a->field) || numbers)) {
		put_list(f, v, t->unit);
	} else if (v->type == VALUE_TEXT) {
		put_text(f, v->text);
	} else if (v->type == VALUE_REAL) {
		put_real(f, v->r);
	} else {
		fputs(value_format(v, t->unit, buf, sizeof(buf)), f);
	}
}

static void put_effect(FILE *f, const struct profile_effect *x)
{
	if (!isfinite(x->percent)) {
		return;
	}
	fputs(", effect: {percent: ", f);
	put_real(f, x->percent);
	if (isfinite(x->lo) && isfinite(x->hi)) {
		fputs(", interval: [", f);
		put_real(f, x->lo);
		fputs(", ", f);
		put_real(f, x->hi);
		fputc(']', f);
	}
	if (isfinite(x->level) && x->level >= 0 && x->level <= 1) {
		fputs(", level: ", f);
		put_real(f, rint(x->level * 1e8) / 1e6);
		fputc('%', f);
	}
	fputc('}', f);
}

static void put_named(FILE *f, const char *key, const char *text)
{
	if (*text) {
		fprintf(f, ", %s: ", key);
		put_text(f, text);
	}
}

static void put_setting(FILE *f, const struct profile_setting *s)
{
	const struct assignment *a = &s->assignment;
	fputs("  - {set: ", f);
	put_text(f, a->setting.name);
	put_named(f, "field", a->field);
	put_named(f, "host", s->host);
	put_named(f, "device", a->setting.device);
	fputs(", value: ", f);
	put_value(f, &a->value, a);
	if (s->was.type != VALUE_NONE) {
		fputs(", was: ", f);
		put_value(f, &s->was, a);
	}
	fputs(s->optional ? ", optional: true" : "", f);
	put_effect(f, &s->effect);
	fputs("}\n", f);
}

static void put_settings(FILE *f, const char *name, const struct profile_setting *s, size_t n)
{
	fprintf(f, "%s:%s\n", name, n ? "" : " []");
	for (size_t i = 0; i < n; i++) {
		put_setting(f, &s[i]);
	}
}

/* What the settings need, so that the profile can be applied as it is. */
static void put_allow(FILE *f, const struct profile *p)
{
	unsigned allow = 0;
	const char *between = "allow: [";
	for (size_t i = 0; i < p->n_settings; i++) {
		enum tunable_class class = p->settings[i].assignment.setting.tunable->class;
		bool may_drop = class == CLASS_DISRUPTIVE || class == CLASS_DRIVER_REBIND;
		allow |= class == CLASS_UNLISTED	? ALLOW_UNLISTED
			 : class == CLASS_UNSAFE	? ALLOW_UNSAFE
			 : class == CLASS_DISRUPTIVE	? ALLOW_DISRUPTIVE
			 : class == CLASS_DRIVER_REBIND ? ALLOW_DRIVER_REBIND
							: 0;
		allow |= may_drop ? p->allow : 0;
	}
	for (size_t i = 0; allow_words[i]; i++) {
		if (allow & 1u << i) {
			fprintf(f, "%s%s", between, allow_words[i]);
			between = ", ";
		}
	}
	fputs(allow ? "]\n" : "", f);
}

void profile_print(const struct profile *p, FILE *f)
{
	fputs("tunesweep_profile: 1\nname: ", f);
	put_text(f, p->name);
	fputc('\n', f);
	put_block(f, "machine", p->machine);
	put_block(f, "evidence", p->evidence);
	put_allow(f, p);
	put_settings(f, "settings", p->settings, p->n_settings);
	if (p->n_application) {
		put_settings(f, "application", p->application, p->n_application);
	}
}

static int sync_folder_of(const char *path)
{
	char dir[PATH_MAX];
	snprintf(dir, sizeof(dir), "%s", path);
	char *slash = strrchr(dir, '/');
	if (slash) {
		slash[slash == dir] = 0;
	}
	auto_close int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) ? -errno : 0;
}

/* Everything that can go wrong shows before the old file is replaced. */
static int write_file(const struct profile *p, const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		int r = -errno;
		if (fd >= 0) {
			close(fd);
		}
		return r;
	}
	profile_print(p, f);
	errno = 0;
	int r = fflush(f) || ferror(f) || fsync(fileno(f)) ? -(errno ? errno : EIO) : 0;
	if (fclose(f) && !r) {
		r = -errno;
	}
	return r;
}

int profile_save(const struct profile *p, const char *path, struct err *e)
{
	char temporary[PATH_MAX], place[PATH_MAX];
	int bad = replace_place(path, place, e);
	if (bad) {
		return bad;
	}
	int n = snprintf(temporary, sizeof(temporary), "%s.%d.new", place, (int)getpid());
	if (n >= PATH_MAX) {
		return err_set(e, -ENAMETOOLONG, "%s: the path is too long", path);
	}
	unlink(temporary); /* of a dead process with our number */
	int r = write_file(p, temporary);
	if (!r && rename(temporary, place)) {
		r = -errno;
	}
	if (r) {
		unlink(temporary);
	}
	r = r ? r : sync_folder_of(place);
	return r ? err_set(e, r, "cannot write %s: %s", path, strerror(-r)) : 0;
}
