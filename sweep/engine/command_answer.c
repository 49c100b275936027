/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a benchmark answered, one JSON object, into a sample: only what is there, is a number, and
 * can be, counts as a success. Called by command.c.
 */
#include "command_private.h"

#include "cleanup.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* The start of a foreign text, fit for a sentence. */
static void excerpt(const char *text, char *buf, size_t size)
{
	size_t i = 0;
	for (; text[i] && i + 1 < size; i++) {
		buf[i] = iscntrl((unsigned char)text[i]) ? ' ' : text[i];
	}
	buf[i] = '\0';
}

static bool fail(struct sample *out, const char *what, const char *text)
{
	char buf[120];
	excerpt(text, buf, sizeof(buf));
	sample_fail(out, "%s%s%s", what, *buf ? ": " : "", buf);
	return false;
}

/* No metric of sample.h but the score can be negative, and neither rate nor cost can be zero. A CPU
 * is a fraction of the host: who gives percent is told, before a hundredfold stands in the store.
 */
static bool can_be(int m, double v)
{
	switch (m) {
	case METRIC_SCORE:
		return true;
	case METRIC_THROUGHPUT:
	case METRIC_SERVICE_DEMAND:
		return v > 0;
	case METRIC_CPU_SENDER:
	case METRIC_CPU_RECEIVER:
		return v >= 0 && v <= 1;
	default:
		return v >= 0;
	}
}

static bool is_named(const struct objective *o, const char *key)
{
	bool named = strcmp(o->numerator, key) == 0 || strcmp(o->denominator, key) == 0;
	for (size_t i = 0; i < o->n_require; i++) {
		named = named || strcmp(o->require[i].metric, key) == 0;
	}
	return named;
}

static void add_extra(struct sample *out, const char *key, double v)
{
	if (out->n_extra < SAMPLE_EXTRA_MAX && strlen(key) < sizeof(out->extra[0].name)) {
		snprintf(out->extra[out->n_extra].name, sizeof(out->extra[0].name), "%.31s", key);
		out->extra[out->n_extra++].value = v;
	}
}

/* named: only the metrics that the objective names, or only the others; so that a program with
 * many metrics of its own cannot push those out that matter. */
static bool take_metrics(json_t *answer, const struct objective *o, bool named, struct sample *out)
{
	const char *key;
	json_t *j;
	json_object_foreach(answer, key, j)
	{
		double v = json_number_value(j);
		int m = metric_find(key);
		if (is_named(o, key) != named || !json_is_number(j)) {
			continue;
		}
		if (!isfinite(v) || (m >= 0 && !can_be(m, v))) {
			char sentence[160];
			bool cpu = m == METRIC_CPU_SENDER || m == METRIC_CPU_RECEIVER;
			snprintf(sentence, sizeof(sentence), "%.60s is %g, which cannot be%s", key,
				 v, cpu ? " (a fraction of the host, 0 to 1)" : "");
			return fail(out, sentence, "");
		}
		if (m >= 0) {
			out->m[m] = v;
		} else {
			add_extra(out, key, v);
		}
	}
	return true;
}

static bool need(const char *metric, json_t *answer, struct sample *out)
{
	if (!*metric || strcmp(metric, "1") == 0 || isfinite(sample_metric(out, metric))) {
		return true;
	}
	bool there = json_object_get(answer, metric) != NULL;
	return fail(out, there ? "the answer has no number for" : "the answer has no", metric);
}

/* The default objective is content with a score that the program has made itself. */
static bool has_objective(json_t *answer, const struct objective *o, struct sample *out)
{
	if (o->is_default && isfinite(out->m[METRIC_SCORE])) {
		return true;
	}
	bool parts = json_object_get(answer, o->numerator) ||
		     json_object_get(answer, o->denominator);
	if (o->is_default && !parts) {
		return need("score", answer, out);
	}
	return need(o->numerator, answer, out) && need(o->denominator, answer, out);
}

static bool has_needed(json_t *answer, const struct objective *o, struct sample *out)
{
	bool ok = has_objective(answer, o, out);
	for (size_t i = 0; ok && i < o->n_require; i++) {
		ok = need(o->require[i].metric, answer, out);
	}
	return ok;
}

bool command_answer(const char *line, const struct objective *o, struct sample *out)
{
	json_error_t error;
	auto_json json_t *answer = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(answer)) {
		return fail(out, "the command's last line is not a JSON object", line);
	}
	json_t *refusal = json_object_get(answer, "error");
	if (refusal && !json_is_null(refusal)) {
		return fail(out, "the command reports an error",
			    json_is_string(refusal) ? json_string_value(refusal) : "");
	}
	const char *limited = json_string_value(json_object_get(answer, "limited_by"));
	if (limited) {
		excerpt(limited, out->limited_by, sizeof(out->limited_by));
	}
	out->ok = take_metrics(answer, o, true, out) && take_metrics(answer, o, false, out) &&
		  has_needed(answer, o, out);
	return out->ok;
}
