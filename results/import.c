/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door to the readers of foreign results: which one it is; and their rows into the store. Reads
 * no format. Called by the import command.
 */
#include "import.h"
#include "cleanup.h"
#include "import_private.h"
#include "json_util.h"
#include "value.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static const char *const formats[] = {"csv", "netperf", "iperf3", "flent"};

/* By what only one of them writes. */
static const char *guess(const struct import_text *t)
{
	const char *c = t->text + strspn(t->text, " \t\r\n");
	if (*c == '{' || *c == '[') {
		return "json";
	}
	if (strstr(t->text, "STREAM TEST") || strstr(t->text, " TEST from ") ||
	    strstr(t->text, "THROUGHPUT=")) {
		return "netperf";
	}
	return "csv";
}

static int parse(const struct import_text *t, const char *format, json_t *rows, struct err *e)
{
	if (!strcmp(format, "csv")) {
		return import_csv(t, rows, e);
	}
	return !strcmp(format, "netperf") ? import_netperf(t, rows, e)
					  : import_json(t, format, rows, e);
}

static int check_format(const char *format, struct err *e)
{
	for (size_t i = 0; format && i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(format, formats[i])) {
			return 0;
		}
	}
	const char *near = format ? nearest_word(format, formats, ARRAY_SIZE(formats)) : NULL;
	return !format ? 0
		       : err_usage(e,
				   "there is no import format \"%s\": csv, netperf, iperf3 or "
				   "flent%s%s%s",
				   format, near ? "; did you mean " : "", near ? near : "",
				   near ? "?" : "");
}

int import_parse(const char *file, const char *text, size_t size, const char *format, json_t **out,
		 struct err *e)
{
	auto_json json_t *rows = json_array();
	int rc = check_format(format, e);
	if (rc) {
		return rc;
	}
	if (memchr(text, 0, size)) {
		return err_usage(e, "%s: not text (a null character in it)", file);
	}
	/* The readers look for the null character at the end. */
	auto_free char *whole = strndup(text, size);
	struct import_text t = {file, whole, size};
	if (!whole) {
		return err_set(e, -ENOMEM, "%s: out of memory", file);
	}
	/* Decimal points, whatever the user's language. */
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", NULL);
	locale_t before = c ? uselocale(c) : NULL;
	rc = parse(&t, format ? format : guess(&t), rows, e);
	if (c) {
		uselocale(before);
		freelocale(c);
	}
	if (!rc && !json_array_size(rows)) {
		rc = err_usage(e, "%s: there is no result in it", file);
	}
	if (!rc) {
		*out = take_ptr(rows);
	}
	return rc;
}

static void fill_sample(struct sample *s, json_t *metrics)
{
	sample_init(s);
	s->ok = true;
	for (int m = 0; m < METRIC_COUNT; m++) {
		s->m[m] = json_get_number(metrics, metric_name(m));
	}
}

struct storing { /* one import_store */
	struct store *s;
	const char *run;
	json_t *trials; /* {labels and values as text: trial's number} */
};

/* Rows that agree in all but the numbers are samples of one trial. */
static int trial_of(struct storing *st, json_t *labels, json_t *values, int64_t *trial,
		    struct err *e)
{
	auto_json json_t *both = json_pack("[O, O]", labels, values);
	auto_free char *text = json_dumps(both, JSON_SORT_KEYS | JSON_COMPACT);
	if (!text) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_t *known = json_object_get(st->trials, text);
	if (known) {
		*trial = json_integer_value(known);
		return 0;
	}
	int rc = store_add_labelled_trial(st->s, st->run, "import", values, labels, trial, e);
	if (!rc) {
		json_object_set_new(st->trials, text, json_integer(*trial));
	}
	return rc;
}

static int store_rows(struct storing *st, json_t *rows, const json_t *labels, struct err *e)
{
	json_t *row;
	size_t i;
	json_array_foreach(rows, i, row)
	{
		struct sample sample;
		int64_t trial = 0;
		auto_json json_t *all = json_copy(json_object_get(row, "labels"));
		json_object_update(all, (json_t *)labels);
		int rc = trial_of(st, all, json_object_get(row, "values"), &trial, e);
		if (rc) {
			return rc;
		}
		fill_sample(&sample, json_object_get(row, "metrics"));
		double score = sample.m[METRIC_SCORE];
		if (isnan(score)) {
			score = sample.m[METRIC_THROUGHPUT] / sample.m[METRIC_SERVICE_DEMAND];
		}
		rc = store_add_sample(st->s, trial, &sample, score, e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

int import_store(struct store *s, const char *name, const char *text, const json_t *rows,
		 const json_t *labels, char *id, size_t size, struct err *e)
{
	struct store_run run = {.name = name, .spec = text};
	int rc = store_begin(s, e);
	if (rc) {
		return rc;
	}
	struct storing st = {s, run.id, json_object()};
	rc = store_begin_run(s, &run, e);
	rc = rc ? rc : store_rows(&st, (json_t *)rows, labels, e);
	rc = rc ? rc : store_end_run(s, run.id, "imported", NULL, e);
	rc = rc ? rc : store_commit(s, e);
	json_decref(st.trials);
	if (rc) {
		store_abandon(s);
		return rc;
	}
	snprintf(id, size, "%s", run.id);
	return 0;
}
