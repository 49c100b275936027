/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads CSV with a header (RFC 4180, lines that begin with # are remarks) as results. What a column
 * is is told by its name; a cell that cannot be what its column is ends it. Called by import.c.
 */
#include "cleanup.h"
#include "import_private.h"
#include "value.h"
#include <errno.h>
#include <string.h>

enum { COLUMNS_MAX = 128, CELL_MAX = 1024 };

enum kind { KIND_LABEL, KIND_VALUE, KIND_METRIC, KIND_OK, KIND_IGNORED };

struct column {
	enum kind kind;
	char name[128]; /* of the label, value or metric */
	enum metric metric;
	double factor;
	bool may_be_missing; /* -1: netperf's "not measured" */
};

struct cell {
	const char *at; /* in the text */
	char text[CELL_MAX];
};

struct reader {
	const struct import_text *t;
	const char *at;
	struct column column[COLUMNS_MAX];
	size_t n;
	struct cell cell[COLUMNS_MAX];
	size_t n_cells;
};

/* Units of published tables. netperf's KB is 1024 bytes. */
static const struct {
	const char *name;
	enum metric metric;
	double factor;
} units[] = {
	{"throughput_bps", METRIC_THROUGHPUT, 1},
	{"throughput_kbps", METRIC_THROUGHPUT, 1e3},
	{"throughput_Mbps", METRIC_THROUGHPUT, 1e6},
	{"throughput_Gbps", METRIC_THROUGHPUT, 1e9},
	{"throughput_KBps", METRIC_THROUGHPUT, 8 * 1024},
	{"throughput_MBps", METRIC_THROUGHPUT, 8e6},
	{"throughput_GBps", METRIC_THROUGHPUT, 8e9},
	{"receive_Mbps", METRIC_THROUGHPUT, 1e6},
	{"receive_Gbps", METRIC_THROUGHPUT, 1e9},
	{"offered_Mbps", METRIC_OFFERED, 1e6},
	{"sd_us_per_KB", METRIC_SERVICE_DEMAND, 1},
	{"local_sd_us_per_KB", METRIC_SERVICE_DEMAND_SENDER, 1},
	{"remote_sd_us_per_KB", METRIC_SERVICE_DEMAND_RECEIVER, 1},
	{"local_cpu_pct", METRIC_CPU_SENDER, 0.01},
	{"remote_cpu_pct", METRIC_CPU_RECEIVER, 0.01},
};

static const struct {
	const char *column, *value;
} values[] = {
	{"rmem_min", "net.ipv4.tcp_rmem.min"},
	{"rmem_default", "net.ipv4.tcp_rmem.default"},
	{"rmem_max", "net.ipv4.tcp_rmem.max"},
	{"wmem_min", "net.ipv4.tcp_wmem.min"},
	{"wmem_default", "net.ipv4.tcp_wmem.default"},
	{"wmem_max", "net.ipv4.tcp_wmem.max"},
	{"message_bytes", "socket.message_size"},
	{"mtu", "link.mtu"},
};

/* Of our own CSV, which may be read back. */
static const char *const ignored[] = {"trial",	"phase",      "sample",	   "time",
				      "reason", "limited_by", "cpu_source"};

static bool is_ignored(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
		if (!strcmp(name, ignored[i])) {
			return true;
		}
	}
	return false;
}

static void set_metric(struct column *c, enum metric m, double factor)
{
	c->kind = KIND_METRIC;
	c->metric = m;
	c->factor = factor;
	c->may_be_missing = m != METRIC_THROUGHPUT && m != METRIC_SCORE;
}

static struct column column_of(const char *name)
{
	struct column c = {.kind = KIND_LABEL};
	int m = metric_find(name);
	snprintf(c.name, sizeof(c.name), "%s", name);
	if (m >= 0) {
		set_metric(&c, (enum metric)m, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(name, units[i].name)) {
			set_metric(&c, units[i].metric, units[i].factor);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (!strcmp(name, values[i].column)) {
			c.kind = KIND_VALUE;
			snprintf(c.name, sizeof(c.name), "%s", values[i].value);
		}
	}
	if (c.kind == KIND_LABEL && strchr(name, '.')) {
		c.kind = KIND_VALUE;
	} else if (!strcmp(name, "ok")) {
		c.kind = KIND_OK;
	} else if (is_ignored(name)) {
		c.kind = KIND_IGNORED;
	}
	return c;
}

/* One cell; r->at is behind it afterwards, on the comma or the line's end. */
static int read_cell(struct reader *r, struct cell *c, struct err *e)
{
	size_t n = 0;
	bool quoted = *r->at == '"';
	c->at = r->at;
	r->at += quoted;
	for (;; r->at++) {
		if (quoted && *r->at == '"') {
			if (r->at[1] != '"') {
				r->at++;
				break;
			}
			r->at++;
		} else if (!*r->at || (!quoted && strchr(",\r\n", *r->at))) {
			break;
		}
		if (n + 1 == sizeof(c->text)) {
			return import_error(r->t, c->at, e, "this field is longer than %d bytes",
					    CELL_MAX);
		}
		c->text[n++] = *r->at;
	}
	c->text[n] = 0;
	if (quoted && r->at[-1] != '"') {
		return import_error(r->t, c->at, e, "this quote is not closed");
	}
	if (*r->at && !strchr(",\r\n", *r->at)) {
		return import_error(r->t, r->at, e, "a comma is missing after the closing quote");
	}
	return 0;
}

/* The cells of a line; 0 cells at the end of the text. */
static int read_line(struct reader *r, struct err *e)
{
	r->n_cells = 0;
	while (*r->at == '#' || *r->at == '\n' || *r->at == '\r') {
		r->at += strcspn(r->at, "\n");
		r->at += *r->at == '\n';
	}
	while (*r->at) {
		if (r->n_cells == COLUMNS_MAX) {
			return import_error(r->t, r->at, e, "more than %d columns", COLUMNS_MAX);
		}
		int rc = read_cell(r, &r->cell[r->n_cells++], e);
		if (rc) {
			return rc;
		}
		if (*r->at != ',') {
			r->at += *r->at == '\r';
			r->at += *r->at == '\n';
			break;
		}
		r->at++;
	}
	return 0;
}

static int read_header(struct reader *r, struct err *e)
{
	bool measured = false;
	if (r->t->size >= 3 && !memcmp(r->at, "\xef\xbb\xbf", 3)) {
		r->at += 3;
	}
	int rc = read_line(r, e);
	if (rc) {
		return rc;
	}
	const char *at = r->n_cells ? r->cell[0].at : r->at;
	for (r->n = 0; r->n < r->n_cells; r->n++) {
		const struct cell *c = &r->cell[r->n];
		if (!*c->text || strlen(c->text) >= sizeof(r->column[0].name)) {
			return import_error(r->t, c->at, e, "a column has no name, or a long one");
		}
		r->column[r->n] = column_of(c->text);
		for (size_t i = 0; i < r->n; i++) {
			if (!strcmp(r->column[i].name, r->column[r->n].name)) {
				return import_error(r->t, c->at, e, "the column %s is there twice",
						    c->text);
			}
		}
		const struct column *k = &r->column[r->n];
		measured |= k->kind == KIND_METRIC &&
			    (k->metric == METRIC_THROUGHPUT || k->metric == METRIC_SCORE);
	}
	if (!measured) {
		bool semicolons = r->n == 1 && strchr(r->cell[0].text, ';');
		return import_error(r->t, at, e,
				    "a column is missing: throughput (bit/s), throughput_Mbps, "
				    "throughput_MBps, throughput_KBps, receive_Mbps or score%s",
				    semicolons ? "; fields are separated by commas, not semicolons"
					       : "");
	}
	return 0;
}

static int put_metric(const struct reader *r, const struct column *c, const struct cell *cell,
		      json_t *row, struct err *e)
{
	double x;
	if (!*cell->text && c->may_be_missing) {
		return 0;
	}
	int rc = import_number(r->t, cell->at, strlen(cell->text) + 2 * (*cell->at == '"'), &x, e);
	if (rc && *cell->at == '"') { /* the quotes are no part of the number */
		rc = import_number(r->t, cell->at + 1, strlen(cell->text), &x, e);
	}
	if (rc) {
		return rc;
	}
	if (x == -1 && c->may_be_missing) {
		return 0;
	}
	if (x < 0 && c->metric != METRIC_SCORE) {
		return import_error(r->t, cell->at, e, "%s cannot be negative", c->name);
	}
	import_metric(row, c->metric, x * c->factor);
	return 0;
}

/* Names of things stay text ("6.1" is no number); of others, whole numbers become such. */
static void put_word(json_t *to, const struct column *c, const char *text)
{
	static const char *const names[] = {"kernel",  "driver", "firmware", "variant", "label",
					    "machine", "boot",	 "date",     "host",	"note"};
	struct err ignored_error = {0};
	int64_t n;
	bool is_name = false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		is_name |= !strcmp(c->name, names[i]);
	}
	if (!is_name && !scalar_int(text, &n, &ignored_error)) {
		json_object_set_new(to, c->name, json_integer(n));
	} else if (*text) {
		json_t *word = json_string(text);
		json_object_set_new(to, c->name, word ? word : json_string("?"));
	}
}

static int put_row(const struct reader *r, json_t *rows, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->column[i].kind == KIND_OK && strcmp(r->cell[i].text, "true")) {
			return 0; /* a failed sample of our own */
		}
	}
	json_t *row = import_add_row(rows);
	for (size_t i = 0; i < r->n; i++) {
		const struct column *c = &r->column[i];
		const struct cell *cell = &r->cell[i];
		int rc = 0;
		if (c->kind == KIND_METRIC) {
			rc = put_metric(r, c, cell, row, e);
		} else if (c->kind == KIND_LABEL || c->kind == KIND_VALUE) {
			put_word(json_object_get(row, c->kind == KIND_LABEL ? "labels" : "values"),
				 c, cell->text);
		}
		if (rc) {
			return rc;
		}
	}
	import_sum(row);
	return 0;
}

static int wrong_count(const struct reader *r, struct err *e)
{
	bool more = r->n_cells > r->n;
	const struct cell *c = &r->cell[more ? r->n : r->n_cells - 1];
	return import_error(r->t, c->at, e, "%zu fields, the header has %zu%s", r->n_cells, r->n,
			    more ? " (a decimal separator is a point; a text with a comma "
				   "stands in quotes)"
				 : ": one is missing");
}

int import_csv(const struct import_text *t, json_t *rows, struct err *e)
{
	auto_free struct reader *r = calloc(1, sizeof(*r));
	if (!r) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	r->t = t;
	r->at = t->text;
	int rc = read_header(r, e);
	while (!rc && !(rc = read_line(r, e)) && r->n_cells) {
		rc = r->n_cells == r->n ? put_row(r, rows, e) : wrong_count(r, e);
	}
	return rc;
}
