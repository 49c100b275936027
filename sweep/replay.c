/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers of an earlier, unfinished run to the questions that its search asks again. It measures
 * nothing and knows no store; the run command hands it what the store has.
 */
#include "replay.h"
#include "json_util.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_sample(json_t *from, struct sample *to)
{
	const char *key;
	json_t *value;
	sample_init(to);
	for (int m = 0; m < METRIC_COUNT; m++) {
		to->m[m] = json_get_number(from, metric_name(m));
	}
	json_object_foreach(json_object_get(from, "extra"), key, value)
	{
		if (json_is_number(value) && to->n_extra < SAMPLE_EXTRA_MAX) {
			snprintf(to->extra[to->n_extra].name, sizeof(to->extra[0].name), "%s", key);
			to->extra[to->n_extra++].value = json_number_value(value);
		}
	}
	to->ok = json_is_true(json_object_get(from, "ok"));
	to->cut_link = json_is_true(json_object_get(from, "cut_link"));
	snprintf(to->reason, sizeof(to->reason), "%s", json_get_text(from, "reason", ""));
	snprintf(to->limited_by, sizeof(to->limited_by), "%s",
		 json_get_text(from, "limited_by", ""));
	to->steady = json_is_true(json_object_get(from, "steady"));
}

static int by_number(const void *a, const void *b)
{
	const struct replay_sample *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

static size_t count_samples(const json_t *trials)
{
	json_t *trial;
	size_t i, n = 0;
	json_array_foreach((json_t *)trials, i, trial)
	{
		n += json_array_size(json_object_get(trial, "samples"));
	}
	return n;
}

/* What was asked and what the kernel took. */
static int read_values(const json_t *trial, const struct space *space, struct packed_texts *texts,
		       struct replay_sample *head, struct err *e)
{
	struct configuration c;
	const json_t *asked = json_object_get(trial, "asked");
	if (!json_is_object(asked)) {
		asked = json_object_get(trial, "values");
	}
	int rc = space_values_parse(space, json_object_get(trial, "values"), &c, e);
	head->effective = rc < 0 ? NULL : packed_values(texts, &c);
	rc = rc < 0 ? rc : space_values_parse(space, asked, &c, e);
	head->asked = rc < 0 ? NULL : packed_values(texts, &c);
	if (rc == 0 && !(head->effective && head->asked)) {
		rc = err_set(e, -ENOMEM, "out of memory");
	}
	if (rc < 0) {
		free(head->effective);
		free(head->asked);
	}
	return rc;
}

static int read_trial(const json_t *trial, const struct space *space, struct replay *out,
		      struct err *e)
{
	struct replay_sample head = {.is_first = true};
	json_t *sample, *samples = json_object_get(trial, "samples");
	size_t i;
	int rc = read_values(trial, space, &out->texts, &head, e);
	head.trial = json_integer_value(json_object_get(trial, "id"));
	json_array_foreach(samples, i, sample)
	{
		if (rc < 0) {
			break;
		}
		struct replay_sample *s = &out->items[out->n++];
		*s = head;
		s->number = json_integer_value(json_object_get(sample, "sample"));
		read_sample(sample, &s->sample);
		head.is_first = false;
	}
	if (rc == 0 && head.is_first) { /* nobody's: it was not measured */
		free(head.asked);
		free(head.effective);
	}
	return rc;
}

int replay_load(const json_t *run, const struct space *space, struct replay *out, struct err *e)
{
	json_t *trials = json_object_get(run, "trials"), *trial;
	size_t i;
	int rc = 0;
	*out = (struct replay){.items = calloc(count_samples(trials) + 1, sizeof(*out->items))};
	if (!out->items) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_array_foreach(trials, i, trial)
	{
		rc = rc < 0 ? rc : read_trial(trial, space, out, e);
	}
	if (rc < 0) {
		replay_clear(out);
		return rc;
	}
	qsort(out->items, out->n, sizeof(*out->items), by_number);
	return 0;
}

void replay_clear(struct replay *r)
{
	for (size_t i = 0; i < r->n; i++) {
		sample_clear(&r->items[i].sample);
		if (r->items[i].is_first) {
			free(r->items[i].asked);
			free(r->items[i].effective);
		}
	}
	free(r->items);
	packed_texts_clear(&r->texts);
	*r = (struct replay){0};
}

const struct replay_sample *replay_take(struct replay *r, const struct configuration *asked)
{
	if (r->next >= r->n) {
		return NULL;
	}
	const struct replay_sample *s = &r->items[r->next];
	/* the proof keeps what it asked only as what the kernel took */
	if (!packed_equal(s->asked, asked) && !packed_equal(s->effective, asked)) {
		r->next = r->n;
		return NULL;
	}
	r->next++;
	return s;
}

int replay_check_spec(const char *run, const char *before, const char *now, struct err *e)
{
	int line = 1;
	while (*before && *before == *now) {
		line += *before == '\n';
		before++;
		now++;
	}
	if (*before == *now) {
		return 0;
	}
	return err_usage(e,
			 "the spec is not that of run %s: line %d is now '%.*s', and was '%.*s' "
			 "there (from where they differ); without --resume a new run is made",
			 run, line, (int)strcspn(now, "\n"), now, (int)strcspn(before, "\n"),
			 before);
}
