/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a session remembers of its settings: old values, which values are its own, and the
 * journal's records of both, written and replayed. No setting is read or written here. Called by
 * the other files of the session.
 */
#include "cleanup.h"
#include "session_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct tracked *session_find(const struct session *s, const struct setting *setting)
{
	for (size_t i = 0; i < s->n; i++) {
		if (setting_same(&s->tracked[i]->setting, setting)) {
			return s->tracked[i];
		}
	}
	return NULL;
}

struct tracked *session_add(struct session *s, const struct setting *setting, const char *old,
			    struct err *e)
{
	struct tracked *t = calloc(1, sizeof(*t));
	struct tracked **bigger = realloc(s->tracked, (s->n + 1) * sizeof(struct tracked *));
	if (bigger) {
		s->tracked = bigger;
	}
	if (!t || !bigger) {
		free(t);
		err_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	t->setting = *setting;
	snprintf(t->old, sizeof(t->old), "%s", old);
	s->tracked[s->n++] = t;
	return t;
}

static void tracked_free(struct tracked *t)
{
	for (size_t i = 0; i < t->n_ours; i++) {
		free(t->ours[i]);
	}
	free(t->ours);
	free(t);
}

void session_forget(struct session *s, struct tracked *t)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->tracked[i] == t) {
			memmove(&s->tracked[i], &s->tracked[i + 1],
				(s->n - i - 1) * sizeof(struct tracked *));
			s->n--;
			tracked_free(t);
			return;
		}
	}
}

void session_forget_all(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		tracked_free(s->tracked[i]);
	}
	free(s->tracked);
	s->tracked = NULL;
	s->n = 0;
}

static int keep_ours(struct tracked *t, const char *text, struct err *e)
{
	for (size_t i = 0; i < t->n_ours; i++) {
		if (!strcmp(t->ours[i], text)) {
			return 0;
		}
	}
	char **bigger = realloc(t->ours, (t->n_ours + 1) * sizeof(char *));
	if (bigger) {
		t->ours = bigger;
		t->ours[t->n_ours] = strdup(text);
	}
	if (!bigger || !t->ours[t->n_ours]) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	t->n_ours++;
	return 0;
}

/* Field i of a text as a value; type VALUE_NONE if there are not so many. */
static struct value nth(const char *text, size_t i)
{
	char word[VALUE_TEXT_MAX];
	text += strspn(text, " ");
	for (; i && *text; i--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	if (!*text) {
		return (struct value){0};
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " "), text);
	return value_text(word);
}

/* A refused write may have changed some of the fields, so that a mixture of own values is own. */
bool tracked_owns(const struct tracked *t, const char *text)
{
	for (size_t f = 0;; f++) {
		struct value now = nth(text, f), old = nth(t->old, f);
		if (now.type == VALUE_NONE) {
			return f > 0 && old.type == VALUE_NONE;
		}
		bool own = value_equal(&now, &old);
		for (size_t i = 0; !own && i < t->n_ours; i++) {
			struct value v = nth(t->ours[i], f);
			own = value_equal(&now, &v);
		}
		if (!own) {
			return false;
		}
	}
}

/* What a record means for t, whether it is written now or read after a crash. */
static int note(struct tracked *t, const char *op, const char *text, struct err *e)
{
	if (!strcmp(op, "old")) {
		/* Only before the first change: later ones would not be the baseline. */
		if (!t->touched && text != t->old) {
			snprintf(t->old, sizeof(t->old), "%s", text);
		}
		return 0;
	}
	t->touched = true;
	t->pending = !strcmp(op, "set");
	snprintf(t->last, sizeof(t->last), "%s", text);
	return keep_ours(t, text, e);
}

int session_record(struct session *s, struct tracked *t, const char *op, const char *text,
		   bool sync, struct err *e)
{
	auto_json json_t *record = json_pack("{s:s, s:s, s:s, s:s}", "op", op, "set",
					     t->setting.name, "device", t->setting.device, "text",
					     text);
	if (!record) {
		return err_set(e, -EILSEQ, "%s: '%.60s' is not UTF-8", t->setting.name, text);
	}
	if (!strcmp(op, "old") && t->device.ifindex) {
		json_object_set_new(record, "ifindex", json_integer(t->device.ifindex));
		json_object_set_new(record, "bus", json_string(t->device.bus));
		json_object_set_new(record, "address", json_string(t->device.address));
	}
	int r = session_need_journal(s, e);
	r = r ? r : journal_append(s->journal, record, sync, e);
	if (r) {
		return r;
	}
	s->committed = s->committed && strcmp(op, "set");
	return note(t, op, text, e);
}

int session_drop(struct session *s, const struct setting *setting, struct err *e)
{
	struct tracked *t = session_find(s, setting);
	if (!t) {
		return 0;
	}
	auto_json json_t *record = json_pack("{s:s, s:s, s:s}", "op", "drop", "set", setting->name,
					     "device", setting->device);
	int r = journal_append(s->journal, record, false, e);
	if (!r) {
		session_forget(s, t);
	}
	return r;
}

int session_mark_commit(struct session *s, struct err *e)
{
	auto_json json_t *record = json_pack("{s:s, s:s, s:I}", "op", "commit", "profile",
					     s->header.profile, "since",
					     (json_int_t)s->header.since);
	int r = session_need_journal(s, e);
	r = r ? r : journal_append(s->journal, record, true, e);
	s->committed = s->committed || !r;
	return r;
}

int session_need_journal(struct session *s, struct err *e)
{
	return s->journal ? 0 : journal_create(s->dir, &s->header, &s->journal, e);
}

static int replay_commit(struct session *s, const json_t *record)
{
	const char *profile;
	json_int_t since;
	if (json_unpack((json_t *)record, "{s:s, s:I}", "profile", &profile, "since", &since)) {
		return -EBADMSG;
	}
	snprintf(s->header.profile, sizeof(s->header.profile), "%s", profile);
	s->header.since = since;
	s->committed = true;
	return 0;
}

static int replay_record(struct session *s, const json_t *record, struct err *e)
{
	const char *op = json_string_value(json_object_get(record, "op"));
	const char *set = json_string_value(json_object_get(record, "set"));
	const char *device = json_string_value(json_object_get(record, "device"));
	const char *text = json_string_value(json_object_get(record, "text"));
	struct setting setting;
	if (op && !strcmp(op, "commit")) {
		return replay_commit(s, record);
	}
	if (!op || !set || !device || (!text && strcmp(op, "drop"))) {
		return -EBADMSG;
	}
	int r = tunable_resolve(set, "", device, &setting, e);
	if (r) {
		return r;
	}
	struct tracked *t = session_find(s, &setting);
	if (!strcmp(op, "drop")) {
		session_forget(s, t);
		return 0;
	}
	if (!t && strcmp(op, "old")) {
		return -EBADMSG;
	}
	t = t ? t : session_add(s, &setting, text, e);
	if (t && !strcmp(op, "old")) {
		session_find_device(s, t, record);
	}
	s->committed = s->committed && strcmp(op, "set");
	return t ? note(t, op, text, e) : -ENOMEM;
}

int session_replay(struct session *s, const json_t *records, struct err *e)
{
	size_t i;
	json_t *record;
	json_array_foreach(records, i, record)
	{
		int r = replay_record(s, record, e);
		if (r == -EBADMSG) {
			return err_set(e, r, "%s/%s.journal: record %zu makes no sense", s->dir,
				       s->header.layer, i + 1);
		}
		if (r) {
			return r;
		}
	}
	return 0;
}
