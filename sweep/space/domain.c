/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One dimension's domain: what the spec wants, held against what the host says is possible.
 * Called by space.c for each tunable that can be set.
 */
#include "space_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *host_name(const struct spec *spec, const struct dimension *d)
{
	return d->tunable->host < 0 ? "the test" : spec->hosts[d->tunable->host].name;
}

static int check_bounds(const struct spec *spec, const struct dimension *d,
			const struct tunable_range *range, struct err *e)
{
	if (d->tunable->host < 0 || range->min >= range->max ||
	    (d->lo >= (double)range->min && d->hi <= (double)range->max)) {
		return 0;
	}
	return spec_error(spec, d->tunable->place, e,
			  "the range of %s does not fit: %s takes %lld to %lld", d->key,
			  host_name(spec, d), (long long)range->min, (long long)range->max);
}

static int fill_range(const struct spec *spec, struct dimension *d,
		      const struct tunable_range *range, struct err *e)
{
	const struct spec_tunable *t = d->tunable;
	d->log = t->log;
	d->integer = d->type == VALUE_INT;
	d->step = t->step;
	d->lo = t->lo;
	d->hi = t->hi;
	if (t->domain == DOMAIN_RANGE) {
		return check_bounds(spec, d, range, e);
	}
	d->lo = (double)range->min;
	d->hi = (double)range->max;
	if (range->min >= range->max) {
		return spec_error(spec, t->place, e,
				  "%s does not say what range %s takes: write [LOW, HIGH]",
				  host_name(spec, d), d->key);
	}
	if (d->log && d->lo <= 0) {
		return spec_error(spec, t->place, e,
				  "%s takes %lld to %lld for %s: a log scale begins above 0, so "
				  "write [LOW, HIGH]",
				  host_name(spec, d), (long long)range->min, (long long)range->max,
				  d->key);
	}
	return 0;
}

static void join_choices(const struct tunable_range *range, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < range->n_choices; i++) {
		size_t used = strlen(buf);
		snprintf(buf + used, size - used, "%s%s", i ? ", " : "", range->choices[i]);
	}
}

/* A word that the host does not have would fail each of its trials. */
static int check_choices(const struct spec *spec, const struct dimension *d,
			 const struct tunable_range *range, struct err *e)
{
	bool open = tunable_takes_more(d->target.setting.tunable);
	for (size_t i = 0; !open && range->n_choices && i < d->n_choices; i++) {
		size_t k = 0;
		while (k < range->n_choices && strcmp(range->choices[k], d->choices[i].text)) {
			k++;
		}
		if (k == range->n_choices) {
			char list[400];
			join_choices(range, list, sizeof(list));
			return space_refuse(spec, d->tunable->place, e,
					    "%s: %s has no '%s' (it has %s)", d->key,
					    host_name(spec, d), d->choices[i].text, list);
		}
	}
	return 0;
}

static int fill_choices(const struct spec *spec, struct dimension *d,
			const struct tunable_range *range, struct err *e)
{
	const struct spec_tunable *t = d->tunable;
	bool asked = t->domain == DOMAIN_CHOICES_AVAILABLE;
	size_t n = asked ? range->n_choices : t->n_choices;
	d->category = true;
	if (n == 0) {
		return space_refuse(spec, t->place, e,
				    "%s does not say what choices %s has: write them out",
				    host_name(spec, d), d->key);
	}
	d->choices = calloc(n, sizeof(*d->choices));
	if (!d->choices) {
		return err_set(e, -ENOMEM, "out of memory for the space");
	}
	d->n_choices = n;
	for (size_t i = 0; i < n; i++) {
		d->choices[i] = asked ? value_text(range->choices[i]) : t->choices[i];
	}
	return asked || d->type != VALUE_TEXT ? 0 : check_choices(spec, d, range, e);
}

int space_fill_dimension(const struct spec *spec, struct dimension *d,
			 const struct tunable_range *range, struct err *e)
{
	const struct spec_tunable *t = d->tunable;
	d->type = t->type;
	d->baseline = range->present;
	bool numbers = t->domain == DOMAIN_RANGE || t->domain == DOMAIN_RANGE_AUTO;
	return numbers ? fill_range(spec, d, range, e) : fill_choices(spec, d, range, e);
}
