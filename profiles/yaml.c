/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A YAML document as a tree of nodes with places: opening, strictness of form, walking. What the
 * scalars mean is yaml_scalar.c's. Called by whoever reads a spec, a profile or a configuration.
 */
#include "yaml.h"
#include "cleanup.h"
#include "yaml_lib.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SIZE_LIMIT = 1 << 20, DEPTH_LIMIT = 32, NODE_LIMIT = 50000, PAIR_LIMIT = 2000 };

struct yaml {
	yaml_document_t doc;
	char *name;
};

static int form_error(const char *name, yaml_mark_t at, struct err *e, const char *what)
{
	return err_usage(e, "%s:%zu:%zu: %s", name, at.line + 1, at.column + 1, what);
}

/* Is it a tab that stands there? Columns count characters, not bytes. */
static bool is_tab(const char *text, size_t size, yaml_mark_t at)
{
	size_t i = 0;
	for (size_t line = 0; i < size && line < at.line; i++) {
		line += text[i] == '\n';
	}
	for (size_t column = 0; i < size && column < at.column; column++) {
		do {
			i++;
		} while (i < size && (text[i] & 0xc0) == 0x80);
	}
	return i < size && text[i] == '\t';
}

/* libyaml's own complaint. Its reader gives a byte offset in place of a line. */
static int parser_error(const char *name, const yaml_parser_t *p, const char *text, size_t size,
			struct err *e)
{
	if (p->error == YAML_MEMORY_ERROR) {
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	}
	yaml_mark_t at = p->problem_mark;
	if (p->error == YAML_READER_ERROR) {
		at.line = at.column = 0;
		for (size_t i = 0; i < p->problem_offset; i++) {
			at.column = text[i] == '\n' ? 0 : at.column + 1;
			at.line += text[i] == '\n';
		}
	}
	if (p->error == YAML_SCANNER_ERROR && is_tab(text, size, at)) {
		return form_error(name, at, e, "a tab: YAML is indented with blanks");
	}
	const char *problem = p->problem ? p->problem : "not YAML";
	return err_usage(e, "%s:%zu:%zu: %s%s%s%s", name, at.line + 1, at.column + 1, problem,
			 p->context ? ", " : "", p->context ? p->context : "",
			 p->error == YAML_READER_ERROR ? " (a text in UTF-8 is wanted)" : "");
}

static const yaml_char_t *event_anchor(const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return ev->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return ev->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return ev->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

static const yaml_char_t *event_tag(const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return ev->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return ev->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return ev->data.mapping_start.tag;
	default:
		return NULL;
	}
}

struct form {
	int depth, nodes, documents;
};

/* What the document API would resolve or drop in silence is only to be seen in the events. */
static int check_event(const char *name, const yaml_event_t *ev, struct form *f, struct err *e)
{
	yaml_mark_t at = ev->start_mark;
	bool opens = ev->type == YAML_SEQUENCE_START_EVENT || ev->type == YAML_MAPPING_START_EVENT;
	bool closes = ev->type == YAML_SEQUENCE_END_EVENT || ev->type == YAML_MAPPING_END_EVENT;
	f->depth += opens - closes;
	f->nodes += opens || ev->type == YAML_SCALAR_EVENT;
	f->documents += ev->type == YAML_DOCUMENT_START_EVENT;
	if (ev->type == YAML_ALIAS_EVENT || event_anchor(ev)) {
		return form_error(name, at, e,
				  "anchors and aliases (& and *) are not allowed here");
	}
	if (event_tag(ev)) {
		return form_error(name, at, e, "tags (!) are not allowed here");
	}
	if (f->documents > 1) {
		return form_error(name, at, e, "a second document (---) is not allowed here");
	}
	if (ev->type == YAML_DOCUMENT_START_EVENT &&
	    (ev->data.document_start.version_directive ||
	     ev->data.document_start.tag_directives.start !=
		     ev->data.document_start.tag_directives.end)) {
		return form_error(name, at, e, "directives (%) are not allowed here");
	}
	if (f->depth > DEPTH_LIMIT) {
		return form_error(name, at, e, "nested too deeply");
	}
	return f->nodes > NODE_LIMIT ? form_error(name, at, e, "too many values") : 0;
}

static int check_events(const char *name, const char *text, size_t size, struct err *e)
{
	yaml_parser_t p;
	struct form form = {0};
	int r = 0;
	if (!yaml_parser_initialize(&p)) {
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	}
	yaml_parser_set_input_string(&p, (const unsigned char *)text, size);
	for (bool end = false; !end && !r;) {
		yaml_event_t ev;
		if (!yaml_parser_parse(&p, &ev)) {
			r = parser_error(name, &p, text, size, e);
			break;
		}
		r = check_event(name, &ev, &form, e);
		end = ev.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&p);
	return r;
}

static yaml_node_t *node_of(struct yaml_at at)
{
	/* libyaml's getters want a document that is not const, and do not change it. */
	return at.doc ? yaml_document_get_node((yaml_document_t *)&at.doc->doc, at.id) : NULL;
}

static int check_key(struct yaml_at map, size_t i, struct err *e)
{
	static const char *const words[] = {"on",    "off",  "yes", "no", "true",
					    "false", "null", "~",   ""};
	struct yaml_at key = yaml_key(map, i);
	if (yaml_kind(key) != YAML_SCALAR) {
		return yaml_error(key, e, "a key must be a plain word");
	}
	for (size_t w = 0; w < ARRAY_SIZE(words); w++) {
		if (!yaml_quoted(key) && !strcasecmp(yaml_text(key), words[w])) {
			return yaml_error(key, e,
					  "'%s' cannot be a key: YAML readers take it for a "
					  "boolean or nothing; use another name",
					  yaml_text(key));
		}
	}
	for (size_t k = 0; k < i; k++) {
		struct yaml_at other = yaml_key(map, k);
		if (!strcmp(yaml_text(other), yaml_text(key))) {
			return yaml_error(key, e, "the key '%s' is there twice, first in line %u",
					  yaml_text(key), yaml_line(other));
		}
	}
	return 0;
}

static int check_node(struct yaml_at at, struct err *e)
{
	const yaml_node_t *node = node_of(at);
	if (node->type == YAML_SCALAR_NODE &&
	    memchr(node->data.scalar.value, 0, node->data.scalar.length)) {
		return yaml_error(at, e, "a NUL character is not allowed");
	}
	if (node->type == YAML_MAPPING_NODE && yaml_count(at) > PAIR_LIMIT) {
		return yaml_error(at, e, "too many keys");
	}
	for (size_t i = 0; node->type == YAML_MAPPING_NODE && i < yaml_count(at); i++) {
		if (check_key(at, i, e)) {
			return -EINVAL;
		}
	}
	return 0;
}

static int check_nodes(const struct yaml *y, struct err *e)
{
	size_t n = (size_t)(y->doc.nodes.top - y->doc.nodes.start);
	if (!n) {
		return err_usage(e, "%s:1:1: the file is empty", y->name);
	}
	for (size_t id = 1; id <= n; id++) {
		if (check_node((struct yaml_at){y, (int)id}, e)) {
			return -EINVAL;
		}
	}
	return 0;
}

int yaml_open_text(const char *name, const char *text, size_t size, struct yaml **out,
		   struct err *e)
{
	*out = NULL;
	if (size > SIZE_LIMIT) {
		return err_usage(e, "%s: larger than 1 MiB", name);
	}
	int r = check_events(name, text, size, e);
	if (r) {
		return r;
	}
	struct yaml *y = calloc(1, sizeof(*y));
	char *copy = strdup(name);
	yaml_parser_t p;
	if (!y || !copy || !yaml_parser_initialize(&p)) {
		free(y);
		free(copy);
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	}
	y->name = copy;
	yaml_parser_set_input_string(&p, (const unsigned char *)text, size);
	r = yaml_parser_load(&p, &y->doc) ? 0 : parser_error(name, &p, text, size, e);
	yaml_parser_delete(&p);
	if (r) { /* libyaml has deleted the document already */
		free(copy);
		free(y);
		return r;
	}
	r = check_nodes(y, e);
	if (r) {
		yaml_close(y);
		return r;
	}
	*out = y;
	return 0;
}

static int file_error(const char *path, struct err *e)
{
	int r = err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
	if (e) {
		e->class = ERR_USAGE;
	}
	return r;
}

int yaml_open_file(const char *path, struct yaml **out, struct err *e)
{
	*out = NULL;
	auto_fclose FILE *f = fopen(path, "re");
	if (!f) {
		return file_error(path, e);
	}
	auto_free char *text = malloc(SIZE_LIMIT + 1);
	if (!text) {
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	}
	size_t size = fread(text, 1, SIZE_LIMIT + 1, f);
	if (ferror(f)) {
		return file_error(path, e);
	}
	return yaml_open_text(path, text, size, out, e);
}

void yaml_close(struct yaml *y)
{
	if (y) {
		yaml_document_delete(&y->doc);
		free(y->name);
		free(y);
	}
}

struct yaml_at yaml_root(const struct yaml *y)
{
	return (struct yaml_at){y, y ? 1 : 0};
}

enum yaml_kind yaml_kind(struct yaml_at at)
{
	const yaml_node_t *node = node_of(at);
	switch (node ? node->type : YAML_NO_NODE) {
	case YAML_SCALAR_NODE:
		return YAML_SCALAR;
	case YAML_SEQUENCE_NODE:
		return YAML_LIST;
	case YAML_MAPPING_NODE:
		return YAML_MAP;
	default:
		return YAML_ABSENT;
	}
}

unsigned yaml_line(struct yaml_at at)
{
	const yaml_node_t *node = node_of(at);
	return node ? (unsigned)node->start_mark.line + 1 : 1;
}

unsigned yaml_column(struct yaml_at at)
{
	const yaml_node_t *node = node_of(at);
	return node ? (unsigned)node->start_mark.column + 1 : 1;
}

bool yaml_quoted(struct yaml_at at)
{
	const yaml_node_t *node = node_of(at);
	return node && node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

size_t yaml_count(struct yaml_at at)
{
	const yaml_node_t *node = node_of(at);
	switch (yaml_kind(at)) {
	case YAML_LIST:
		return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	case YAML_MAP:
		return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	default:
		return 0;
	}
}

struct yaml_at yaml_item(struct yaml_at list, size_t i)
{
	bool there = yaml_kind(list) == YAML_LIST && i < yaml_count(list);
	return (struct yaml_at){list.doc, there ? node_of(list)->data.sequence.items.start[i] : 0};
}

static struct yaml_at pair(struct yaml_at map, size_t i, bool value)
{
	if (yaml_kind(map) != YAML_MAP || i >= yaml_count(map)) {
		return (struct yaml_at){map.doc, 0};
	}
	const yaml_node_pair_t *p = node_of(map)->data.mapping.pairs.start + i;
	return (struct yaml_at){map.doc, value ? p->value : p->key};
}

struct yaml_at yaml_key(struct yaml_at map, size_t i)
{
	return pair(map, i, false);
}

struct yaml_at yaml_value(struct yaml_at map, size_t i)
{
	return pair(map, i, true);
}

struct yaml_at yaml_get(struct yaml_at map, const char *key)
{
	for (size_t i = 0; i < yaml_count(map); i++) {
		if (yaml_kind(map) == YAML_MAP && !strcmp(yaml_text(yaml_key(map, i)), key)) {
			return yaml_value(map, i);
		}
	}
	return (struct yaml_at){map.doc, 0};
}

const char *yaml_text(struct yaml_at scalar)
{
	return yaml_kind(scalar) == YAML_SCALAR ? (const char *)node_of(scalar)->data.scalar.value
						: "";
}

int yaml_error(struct yaml_at at, struct err *e, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_usage(e, "%s:%u:%u: %s", at.doc ? at.doc->name : "", yaml_line(at),
			 yaml_column(at), text);
}

int yaml_error_at(struct yaml_at at, struct err *e)
{
	char text[600];
	snprintf(text, sizeof(text), "%.599s", e ? e->text : "");
	return yaml_error(at, e, "%s", text);
}
