/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The front of the export formats: finds one, gathers a host's settings into whole kernel objects,
 * and opens each file with what it is and with what could not be said in it. The only file that
 * names the formats.
 */
#include "cleanup.h"
#include "export_format.h"
#include <errno.h>
#include <string.h>

static const struct export_format *const formats[] = {
	&export_sysctl, &export_tuned, &export_link,	&export_udev,
	&export_dropin, &export_shell, &export_ansible,
};

const char *const *export_formats(void)
{
	static const char *const names[] = {"sysctl",	      "tuned", "link",	  "udev",
					    "systemd-dropin", "shell", "ansible", NULL};
	return names;
}

const struct export_format *export_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			return formats[i];
		}
	}
	return NULL;
}

const char *export_suffix(const struct export_format *f)
{
	return f->suffix;
}

bool export_wants_whole(const struct export_format *f)
{
	return f->wants_whole;
}

bool export_by_device(const struct export_format *f)
{
	return f->by_device;
}

static struct export_object *find_object(struct export_job *j, const struct setting *s)
{
	for (size_t i = 0; i < j->n; i++) {
		if (setting_same(export_setting(&j->objects[i]), s)) {
			return &j->objects[i];
		}
	}
	return NULL;
}

static const char *key_of(const struct export_object *o, char *buf, size_t size)
{
	const struct setting *s = export_setting(o);
	const char *field = o->n_parts == 1 ? o->parts[0]->assignment.field : "";
	snprintf(buf, size, "%s%s%s%s%s", s->name, *field ? "." : "", field,
		 *s->device ? " on " : "", s->device);
	return buf;
}

/* The whole text: of the profile alone, or its fields on top of what the machine has. */
static int fill(const struct export_job *j, struct export_object *o, json_t *filled, struct err *e)
{
	const struct export_request *r = j->request;
	const struct setting *s = export_setting(o);
	char key[256];
	size_t fields = 0;
	while (fields < ARRAY_SIZE(s->tunable->fields) && s->tunable->fields[fields]) {
		fields++;
	}
	bool partial = *o->parts[0]->assignment.field && o->n_parts < fields;
	if (partial && (!r->present || r->present(r->ctx, s, o->text, sizeof(o->text)))) {
		*o->text = '\0';
		return 0;
	}
	if (!partial && *o->parts[0]->assignment.field) {
		snprintf(o->text, sizeof(o->text), "%s", "0 0 0 0");
		o->text[2 * fields - 1] = '\0';
	}
	for (size_t i = 0; i < o->n_parts; i++) {
		const struct assignment *a = &o->parts[i]->assignment;
		int rc = setting_replace(s, a->field, &a->value, o->text, sizeof(o->text), e);
		if (rc < 0) {
			return rc;
		}
	}
	if (partial) {
		json_array_append_new(filled, json_sprintf("%s: the other fields are those that "
							   "this machine has now: %s",
							   key_of(o, key, sizeof(key)), o->text));
	}
	return 0;
}

static int gather(const struct export_format *f, struct export_job *j, json_t *filled,
		  struct err *e)
{
	const struct profile *p = j->request->profile;
	const char *device = j->request->device;
	j->objects = calloc(p->n_settings + 1, sizeof(*j->objects));
	if (!j->objects) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < p->n_settings; i++) {
		const struct profile_setting *s = &p->settings[i];
		const struct setting *of = &s->assignment.setting;
		if (strcmp(s->host, j->request->host) != 0 ||
		    (device && *of->device && strcmp(of->device, device) != 0)) {
			continue;
		}
		struct export_object *o = find_object(j, of);
		o = o ? o : &j->objects[j->n++];
		if (o->n_parts < ARRAY_SIZE(o->parts)) {
			o->parts[o->n_parts++] = s;
		}
	}
	for (size_t i = 0; i < j->n; i++) {
		int rc = f->refuses(&j->objects[i]) ? 0 : fill(j, &j->objects[i], filled, e);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static void refuse(struct export_object *o, const char *why, json_t *left)
{
	char key[256];
	snprintf(o->refused, sizeof(o->refused), "%s", why);
	json_array_append_new(left, json_sprintf("%s: %s", key_of(o, key, sizeof(key)), why));
}

/* What the format cannot express, first of all for every format: half a kernel object. */
static void sort_out(const struct export_format *f, struct export_job *j, json_t *left)
{
	for (size_t i = 0; i < j->n; i++) {
		struct export_object *o = &j->objects[i];
		const char *why = f->refuses(o);
		if (!why && f->wants_whole && !*o->text) {
			why = "the other fields are in the profile no more than on a machine that "
			      "could be asked";
		}
		if (why) {
			refuse(o, why, left);
		}
	}
	const struct profile *p = j->request->profile;
	for (size_t i = 0; !f->takes_application && i < p->n_application; i++) {
		const struct profile_setting *s = &p->application[i];
		if (!*s->host || strcmp(s->host, j->request->host) == 0) {
			json_array_append_new(left,
					      json_sprintf("%s: of the program itself (tunesweep "
							   "exec, or --format systemd-dropin)",
							   s->assignment.setting.name));
		}
	}
}

/* No control character of a foreign profile may end a comment. */
static void put_comment(FILE *f, const char *text)
{
	fputs("# ", f);
	for (; *text; text++) {
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, f);
	}
	fputc('\n', f);
}

static void put_comments(FILE *f, const char *head, const json_t *lines)
{
	size_t i;
	json_t *line;
	json_array_foreach((json_t *)lines, i, line)
	{
		auto_json json_t *text = json_sprintf("%s%s", head, json_string_value(line));
		put_comment(f, json_string_value(text));
	}
}

static void put_head(FILE *out, const struct export_format *f, const struct export_job *j,
		     const json_t *left, const json_t *filled)
{
	const struct export_request *r = j->request;
	char where[200];
	if (strcmp(f->suffix, ".sh") == 0) {
		fputs("#!/bin/sh\n", out);
	}
	snprintf(where, sizeof(where), f->where, j->name);
	auto_json json_t *title = json_sprintf("Profile %s%s%s of tunesweep %s.", r->profile->name,
					       *r->host ? ", host " : "", r->host,
					       TUNESWEEP_VERSION);
	put_comment(out, json_string_value(title));
	put_comment(out, where);
	put_comments(out, "", filled);
	put_comments(out, "Not here: ", left);
	fputc('\n', out);
}

static void make_name(const char *from, char *to, size_t size)
{
	snprintf(to, size, "%s", from);
	for (char *p = to; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			     (*p >= '0' && *p <= '9') || strchr("_-.", *p);
		*p = plain && (*p != '.' || p != to) ? *p : '_';
	}
}

int export_write(const struct export_format *f, const struct export_request *r, FILE *out,
		 json_t *left, json_t *filled, struct err *e)
{
	struct export_job j = {.request = r};
	make_name(r->profile->name, j.name, sizeof(j.name));
	int rc = gather(f, &j, filled, e);
	if (rc == 0) {
		sort_out(f, &j, left);
		put_head(out, f, &j, left, filled);
		rc = f->write(out, &j, e);
	}
	free(j.objects);
	return rc;
}
