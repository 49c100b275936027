/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting everything back, in reverse order, going on after errors, and the report of it. The
 * journal goes only after each old value has been read back. Called by the agent, its guardian,
 * and by session.c for what a crash has left.
 */
#include "cleanup.h"
#include "session_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void conclude(struct session_item *item, enum session_outcome outcome, const char *reason)
{
	item->outcome = outcome;
	snprintf(item->reason, sizeof(item->reason), "%.159s", reason);
}

static void write_back(struct session *s, struct tracked *t, struct session_item *item)
{
	struct err err = {0};
	char now[SETTING_TEXT_MAX];
	if (t->setting.tunable->kernel_wide && session_lock_kernel(s, 2000, &err)) {
		conclude(item, FAILED, err.text);
		return;
	}
	session_affect_begin(s, &t->setting);
	int r = session_write(s, &t->setting, t->old, &err);
	bool dark = r == -ENETDOWN; /* it may well be back, and the link is not: that is told */
	r = dark ? 0 : r;
	if (r || tunable_read(&s->root, &t->setting, now, sizeof(now), dark ? NULL : &err)) {
		conclude(item, FAILED, err.text);
		return;
	}
	if (!same_text(now, t->old)) {
		snprintf(err.text, sizeof(err.text), "'%.60s' was read back", now);
		conclude(item, FAILED, err.text);
		return;
	}
	conclude(item, RESTORED, dark ? err.text : "");
}

static void restore(struct session *s, struct tracked *t, bool force, struct session_item *item)
{
	struct err err = {0};
	item->setting = t->setting;
	snprintf(item->old, sizeof(item->old), "%s", t->old);
	int r = tunable_read(&s->root, &t->setting, item->found, sizeof(item->found), &err);
	if (r) {
		item->found[0] = 0;
		bool gone = r == -ENOENT || r == -ENODEV || r == -ENXIO;
		conclude(item, gone ? GONE : FAILED, gone ? "no longer there" : err.text);
		return;
	}
	if (same_text(item->found, t->old)) {
		conclude(item, UNCHANGED, "");
		return;
	}
	if (!t->touched) {
		conclude(item, UNCHANGED, "was never set here");
		return;
	}
	if (!force && !t->pending && !tracked_owns(t, item->found)) {
		conclude(item, CONFLICT, "someone else has changed it since");
		return;
	}
	write_back(s, t, item);
}

/* A setting that another one changes along with it may have been looked at, or written, too early:
 * of two that zero each other, only the one that was in force can be written. True if anything was
 * done. */
static bool look_again(struct session *s, struct tracked *t, struct session_item *item)
{
	char now[SETTING_TEXT_MAX];
	bool ours = t->touched && item->outcome != CONFLICT && item->outcome != GONE;
	if (!ours || tunable_read(&s->root, &t->setting, now, sizeof(now), NULL)) {
		return false;
	}
	if (!same_text(now, t->old)) {
		write_back(s, t, item);
		return true;
	}
	if (item->outcome == FAILED) {
		conclude(item, RESTORED, "");
	}
	return false;
}

/* Items are in the reverse order of what is tracked. */
static void restore_all(struct session *s, bool force, struct session_report *r)
{
	bool again = true;
	for (size_t i = s->n; i-- > 0;) {
		restore(s, s->tracked[i], force, &r->items[r->n++]);
	}
	for (int pass = 0; again && pass < 3; pass++) {
		again = false;
		for (size_t i = 0; i < r->n; i++) {
			again |= look_again(s, s->tracked[s->n - 1 - i], &r->items[i]);
		}
	}
	for (size_t i = 0; i < r->n; i++) {
		r->n_failed += r->items[i].outcome == FAILED;
		r->n_conflict += r->items[i].outcome == CONFLICT;
	}
}

/* Names every setting with that outcome. */
static int unrestored_sentence(const struct session_report *report, enum session_outcome outcome,
			       const char *what, struct err *e)
{
	char list[500] = "";
	for (size_t i = 0; i < report->n; i++) {
		const struct session_item *item = &report->items[i];
		size_t used = strlen(list);
		if (item->outcome == outcome) {
			snprintf(list + used, sizeof(list) - used,
				 "%s%s (was '%.60s', is '%.60s': %.100s)", used ? "; " : "",
				 item->setting.name, item->old, item->found, item->reason);
		}
	}
	int r = err_set(e, -EIO, "%s %s", what, list);
	if (e) {
		e->class = ERR_RESTORE;
	}
	return r;
}

/* What is applied stays in the journal where someone else has changed it: the only copy of the old
 * value, so that it can still be put back by force. The rest is no longer ours. */
static int keep_conflicts(struct session *s, const struct session_report *report, struct err *e)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct session_item *item = &report->items[i];
		int r = item->outcome == CONFLICT ? 0 : session_drop(s, &item->setting, e);
		if (r) {
			return r;
		}
	}
	int r = session_mark_commit(s, e);
	return r ? r
		 : unrestored_sentence(report, CONFLICT,
				       "left as it is (rollback --force overwrites):", e);
}

static int remove_journal(struct session *s, struct err *e)
{
	int r = s->journal ? journal_remove(s->journal, e) : 0;
	if (r) {
		if (e) {
			e->class = ERR_RESTORE;
		}
		return r;
	}
	journal_close(s->journal);
	s->journal = NULL;
	s->committed = false;
	session_forget_all(s);
	return 0;
}

int session_rollback(struct session *s, bool force, struct session_report *report, struct err *e)
{
	struct session_report own = {0};
	struct session_report *r = report ? report : &own;
	memset(r, 0, sizeof(*r));
	if (!s) {
		return 0;
	}
	r->items = calloc(s->n ? s->n : 1, sizeof(*r->items));
	if (!r->items) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	restore_all(s, force, r);
	int code;
	if (r->n_failed) {
		code = unrestored_sentence(r, FAILED, "could not restore", e);
	} else if (r->n_conflict && s->journal && strcmp(s->header.layer, "applied") == 0) {
		code = keep_conflicts(s, r, e);
	} else {
		code = remove_journal(s, e);
	}
	session_report_clear(&own);
	return code;
}

void session_report_clear(struct session_report *r)
{
	free(r->items);
	memset(r, 0, sizeof(*r));
}

json_t *session_report_json(const struct session_report *r)
{
	static const char *const words[] = {
		[RESTORED] = "restored", [UNCHANGED] = "unchanged", [CONFLICT] = "conflict",
		[GONE] = "gone",	 [FAILED] = "failed",
	};
	json_t *array = json_array();
	for (size_t i = 0; array && i < r->n; i++) {
		const struct session_item *item = &r->items[i];
		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "set",
						item->setting.name, "device", item->setting.device,
						"old", item->old, "found", item->found, "outcome",
						words[item->outcome], "reason", item->reason));
	}
	return array;
}
