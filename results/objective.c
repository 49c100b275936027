/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The objective of a spec and its requirements, from their text. Computes no score (score.c).
 * Called by the spec's reader, which puts the place in front of the sentences.
 */
#include "score.h"
#include "value.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

void objective_init(struct objective *o)
{
	memset(o, 0, sizeof(*o));
	strcpy(o->numerator, "throughput");
	strcpy(o->denominator, "service_demand");
	o->is_default = true;
	o->guards = GUARDS_DEFAULT;
}

/* The text between from and to without the blanks around it; -1 if it does not fit. */
static int trim(const char *from, const char *to, char *out, size_t size)
{
	while (from < to && isspace((unsigned char)*from)) {
		from++;
	}
	while (to > from && isspace((unsigned char)to[-1])) {
		to--;
	}
	size_t n = (size_t)(to - from);
	if (n >= size) {
		return -1;
	}
	memcpy(out, from, n);
	out[n] = 0;
	return 0;
}

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_') {
		return false;
	}
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.-")] == 0;
}

static int check_metric(const char *name, bool own_metrics, struct err *e)
{
	if (metric_find(name) >= 0 || (own_metrics && is_identifier(name))) {
		return 0;
	}
	if (!is_identifier(name)) {
		return err_usage(e, "\"%s\" is not the name of a metric", name);
	}
	const char *names[METRIC_COUNT];
	for (int m = 0; m < METRIC_COUNT; m++) {
		names[m] = metric_name(m);
	}
	const char *near = nearest_word(name, names, METRIC_COUNT);
	if (near) {
		return err_usage(e, "there is no metric \"%s\"; did you mean %s?", name, near);
	}
	return err_usage(e,
			 "there is no metric \"%s\"; some that there are: throughput, "
			 "service_demand, retransmits_per_GB, rtt, latency_p99",
			 name);
}

static int parse_maximize(struct objective *o, const char *top, const char *bottom, bool fraction,
			  bool own_metrics, struct err *e)
{
	bool one = !strcmp(top, "1");
	if (one && !fraction) {
		return err_usage(e, "\"1\" alone is no objective; write a metric, METRIC / METRIC "
				    "or 1 / METRIC");
	}
	int r = one ? 0 : check_metric(top, own_metrics, e);
	if (!r && fraction) {
		r = check_metric(bottom, own_metrics, e);
	}
	if (r) {
		return r;
	}
	if (!strcmp(top, "score") && !fraction) {
		return 0; /* the default, as objective_init has left it */
	}
	strcpy(o->numerator, top);
	strcpy(o->denominator, bottom);
	o->is_default = !strcmp(top, "throughput") && !strcmp(bottom, "service_demand");
	return 0;
}

int objective_parse(struct objective *o, const char *text, bool minimize, bool own_metrics,
		    struct err *e)
{
	struct objective parsed;
	char top[sizeof(o->numerator)], bottom[sizeof(o->denominator)] = "";
	const char *end = text + strlen(text), *slash = strchr(text, '/');
	if (trim(text, slash ? slash : end, top, sizeof(top)) ||
	    (slash && trim(slash + 1, end, bottom, sizeof(bottom)))) {
		return err_usage(e, "a metric's name in \"%.80s\" is longer than %zu characters",
				 text, sizeof(top) - 1);
	}
	objective_init(&parsed);
	if (!minimize) {
		int r = parse_maximize(&parsed, top, bottom, slash, own_metrics, e);
		if (r) {
			return r;
		}
	} else if (slash) {
		return err_usage(e,
				 "minimize takes one metric, not \"%.80s\"; maximize takes "
				 "METRIC / METRIC",
				 text);
	} else {
		int r = check_metric(top, own_metrics, e);
		if (r) {
			return r;
		}
		strcpy(parsed.numerator, top);
		parsed.denominator[0] = 0;
		parsed.minimize = true;
		parsed.is_default = false;
	}
	strcpy(o->numerator, parsed.numerator);
	strcpy(o->denominator, parsed.denominator);
	o->minimize = parsed.minimize;
	o->is_default = parsed.is_default;
	return 0;
}

const char *objective_text(const struct objective *o, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s%s", o->minimize ? "minimize " : "", o->numerator,
		 o->denominator[0] ? " / " : "", o->denominator);
	return buf;
}

/* A limit with its unit, in the metric's own. compact has no blanks. */
static int parse_limit(int m, char *compact, double *limit, struct err *e)
{
	const char *unit = m >= 0 ? metric_unit(m) : "";
	size_t length = strlen(compact), n_unit = strlen(unit);
	if (n_unit && length > n_unit && isdigit((unsigned char)compact[length - n_unit - 1]) &&
	    !strcmp(compact + length - n_unit, unit)) {
		compact[length - n_unit] = 0; /* the metric's own unit says nothing new */
		return scalar_real(compact, limit, e);
	}
	if (length && strspn(compact, "0123456789.eE+-") == length) {
		return scalar_real(compact, limit, e);
	}
	if (!strcmp(unit, "bit/s")) {
		return scalar_rate(compact, limit, e);
	}
	if (!strcmp(unit, "fraction")) {
		return scalar_fraction(compact, limit, e);
	}
	if (!strcmp(unit, "bytes")) {
		int64_t bytes;
		int r = scalar_size(compact, &bytes, e);
		*limit = r ? 0 : (double)bytes;
		return r;
	}
	if (!strcmp(unit, "us") || !strcmp(unit, "s")) {
		int r = scalar_time(compact, limit, e);
		*limit *= !strcmp(unit, "us") ? 1e6 : 1;
		return r;
	}
	return scalar_real(compact, limit, e);
}

static void remove_blanks(char *s)
{
	char *to = s;
	for (; *s; s++) {
		if (!isspace((unsigned char)*s)) {
			*to++ = *s;
		}
	}
	*to = 0;
}

int requirement_parse(struct requirement *r, const char *text, bool own_metrics, struct err *e)
{
	struct requirement parsed = {0};
	char number[64];
	const char *op = strpbrk(text, "<>=!");
	if (!op || (op[0] != '<' && op[0] != '>') || op[1] != '=') {
		return err_usage(e,
				 "a requirement is METRIC >= NUMBER or METRIC <= NUMBER, not "
				 "\"%.80s\"",
				 text);
	}
	if (trim(text, op, parsed.metric, sizeof(parsed.metric)) ||
	    trim(op + 2, op + strlen(op), number, sizeof(number))) {
		return err_usage(e, "the requirement \"%.80s\" is too long", text);
	}
	int rc = check_metric(parsed.metric, own_metrics, e);
	if (rc) {
		return rc;
	}
	parsed.at_least = op[0] == '>';
	remove_blanks(number);
	rc = parse_limit(metric_find(parsed.metric), number, &parsed.limit, e);
	if (rc) {
		return err_wrap(e, "requirement on %s", parsed.metric);
	}
	*r = parsed;
	return 0;
}
