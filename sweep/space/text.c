/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configurations and spaces as JSON and text: the values of result.json, and what --dry-run shows.
 * Called by the loop, the store's writers and the command line.
 */
#include "space.h"

#include "cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

json_t *space_values(const struct space *s, const struct configuration *c)
{
	json_t *out = json_object();
	for (size_t i = 0; out && i < s->n; i++) {
		json_object_set_new(out, s->dims[i].key, value_to_json(&c->v[i]));
	}
	return out;
}

static const struct dimension *find_key(const struct space *s, const char *key)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->dims[i].key, key) == 0) {
			return &s->dims[i];
		}
	}
	return NULL;
}

static int check_keys(const struct space *s, const json_t *values, struct err *e)
{
	const char *key;
	json_t *ignored;
	json_object_foreach((json_t *)values, key, ignored)
	{
		if (!find_key(s, key)) {
			return err_usage(e, "%.180s is not in this space", key);
		}
	}
	return 0;
}

static int parse_one(const struct dimension *d, const json_t *j, struct value *out, struct err *e)
{
	if (!j) {
		return err_usage(e, "%s is missing among the values", d->key);
	}
	if (value_from_json(j, out, e)) {
		return err_wrap(e, "%s", d->key);
	}
	if (d->type == VALUE_REAL && out->type == VALUE_INT) {
		*out = value_real((double)out->i);
	}
	if (out->type != d->type && out->type != VALUE_NONE) {
		return err_usage(e, "the value of %s is not of its type", d->key);
	}
	return 0;
}

int space_values_parse(const struct space *s, const json_t *values, struct configuration *out,
		       struct err *e)
{
	if (!json_is_object(values)) {
		return err_usage(e, "the values of a configuration are an object");
	}
	int rc = check_keys(s, values, e);
	memset(out, 0, sizeof(*out));
	out->n = s->n;
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		const struct dimension *d = &s->dims[i];
		rc = parse_one(d, json_object_get(values, d->key), &out->v[i], e);
	}
	return rc;
}

static void print_value(FILE *f, const struct dimension *d, const struct value *v)
{
	char buf[VALUE_TEXT_MAX];
	fputs(value_format(v, d->target.setting.tunable->unit, buf, sizeof(buf)), f);
}

static void print_number(FILE *f, const struct dimension *d, double x)
{
	struct value v = d->integer ? value_int((int64_t)x) : value_real(x);
	print_value(f, d, &v);
}

static void print_dimension(FILE *f, const struct space *s, const struct dimension *d)
{
	fprintf(f, "%s  ", d->key);
	if (d->category) {
		for (size_t i = 0; i < d->n_choices; i++) {
			fputs(i ? " | " : "", f);
			print_value(f, d, &d->choices[i]);
		}
	} else {
		print_number(f, d, d->lo);
		fputs(" .. ", f);
		print_number(f, d, d->hi);
		fputs(d->log ? " log" : "", f);
		if (d->levels) {
			fprintf(f, " (%zu values)", d->levels);
		}
	}
	if (d->baseline.type != VALUE_NONE) {
		fputs(", now ", f);
		print_value(f, d, &d->baseline);
	}
	if (d->when >= 0) {
		const struct dimension *other = &s->dims[d->when];
		fprintf(f, ", only while %s is ", other->key);
		print_value(f, other, &d->tunable->when.is);
	}
	fputc('\n', f);
}

char *space_text(const struct space *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	if (!f) {
		return NULL;
	}
	for (size_t i = 0; i < s->n; i++) {
		print_dimension(f, s, &s->dims[i]);
	}
	for (size_t i = 0; i < s->spec->n_rules; i++) {
		fprintf(f, "never: %s\n", s->spec->rules[i].text);
	}
	return fclose(f) == 0 ? text : NULL;
}
