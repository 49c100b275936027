/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Setting values within a session: plan, intents on disk, write, read back, and undo of the whole
 * call when one write is refused. Rolling back the session is session/rollback.c's. Called by the
 * agent and by apply through it.
 */
#include "cleanup.h"
#include "session_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void plan_clear(struct plan *p)
{
	free(p->changes);
}

static struct change *plan_find(const struct plan *p, const struct setting *s)
{
	for (size_t i = 0; i < p->n; i++) {
		if (setting_same(&p->changes[i].t->setting, s)) {
			return &p->changes[i];
		}
	}
	return NULL;
}

/* A change that changes nothing yet. baseline: build on the old value, not on the present one. */
static int plan_add(struct session *s, struct plan *p, struct tracked *t, bool baseline,
		    struct err *e)
{
	struct change *c = &p->changes[p->n];
	c->t = t;
	int r = tunable_read(&s->root, &t->setting, c->before, sizeof(c->before), e);
	if (r) {
		return r;
	}
	strcpy(c->after, c->before);
	strcpy(c->want, baseline ? t->old : c->before);
	p->n++;
	return 0;
}

static int plan_assign(struct session *s, struct plan *p, const struct assignment *a, bool baseline,
		       struct err *e)
{
	struct change *c = plan_find(p, &a->setting);
	if (!c) {
		int r = plan_add(s, p, session_find(s, &a->setting), baseline, e);
		if (r) {
			return r;
		}
		c = &p->changes[p->n - 1];
	}
	if (a->value.type == VALUE_TEXT && !strcmp(a->value.text, TUNABLE_AS_FOUND)) {
		strcpy(c->want, c->t->old);
		return 0;
	}
	int r = setting_replace(&a->setting, a->field, &a->value, c->want, sizeof(c->want), e);
	r = r ? r : tunable_plan(&s->root, &a->setting, c->want, sizeof(c->want), e);
	if (!r && a->value.type == VALUE_TEXT && strcmp(c->want, a->value.text) != 0) {
		strcpy(c->word, a->value.text);
	}
	return r;
}

/* Fields that are named on top of those that are not: the whole must make sense, unless what was
 * there before did not either. */
static int check_whole(const struct change *c, struct err *e)
{
	const struct setting *setting = &c->t->setting;
	if (!setting->tunable->fields[0]) {
		return 0;
	}
	struct value want = value_text(c->want), before = value_text(c->before);
	return tunable_check(setting, "", &before, NULL) ? 0 : tunable_check(setting, "", &want, e);
}

static int check_assignments(const struct assignment *a, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		int r = tunable_check(&a[i].setting, a[i].field, &a[i].value, e);
		if (r) {
			return r;
		}
	}
	return 0;
}

static int track_all(struct session *s, const struct assignment *a, size_t n, struct err *e)
{
	auto_free struct setting *settings = calloc(n ? n : 1, sizeof(*settings));
	if (!settings) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		settings[i] = a[i].setting;
	}
	return session_track(s, settings, n, e);
}

/* All intents with one sync, before the first write. */
static int write_intents(struct session *s, struct plan *p, struct err *e)
{
	size_t last = p->n;
	session_order(p);
	for (size_t i = 0; i < p->n; i++) {
		last = p->changes[i].write ? i : last;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct change *c = &p->changes[i];
		if (!c->write) {
			continue;
		}
		bool shared = c->t->setting.tunable->kernel_wide;
		int r = shared ? session_lock_kernel(s, 0, e) : 0;
		session_affect_begin(s, &c->t->setting);
		r = r ? r : session_record(s, c->t, "set", c->want, i == last, e);
		if (r) {
			return r;
		}
	}
	return 0;
}

/* Reads back whatever became of a write, also of a refused one: it may have changed a part. */
static int read_back(struct session *s, struct change *c, struct err *e)
{
	int r = tunable_read(&s->root, &c->t->setting, c->after, sizeof(c->after), e);
	if (!r) {
		r = session_record(s, c->t, "took", c->after, false, e);
		session_affect_end(s, &c->t->setting);
	}
	return r;
}

static int write_one(struct session *s, struct change *c, const char *text, struct err *e)
{
	int r = session_write(s, &c->t->setting, text, e);
	if (r) {
		read_back(s, c, NULL);
		return err_wrap(e, "%s", c->t->setting.name);
	}
	return read_back(s, c, e);
}

/* What a word stands for may have become another text by a change before it in the same call: as
 * many channels, as many interrupts. */
static int plan_anew(struct session *s, struct change *c, struct err *e)
{
	char want[SETTING_TEXT_MAX];
	snprintf(want, sizeof(want), "%s", c->word);
	int r = tunable_plan(&s->root, &c->t->setting, want, sizeof(want), e);
	if (r || same_text(want, c->want)) {
		return r;
	}
	strcpy(c->want, want);
	return session_record(s, c->t, "set", want, true, e);
}

/* What another change of this call may have changed along is looked at first. */
static int carry_out_one(struct session *s, struct change *c, struct err *e)
{
	char now[SETTING_TEXT_MAX];
	int r = c->looks && *c->word ? plan_anew(s, c, e) : 0;
	if (r || !c->write) {
		return r;
	}
	bool there = c->looks && !tunable_read(&s->root, &c->t->setting, now, sizeof(now), NULL) &&
		     same_text(now, c->want);
	return there ? read_back(s, c, e) : write_one(s, c, c->want, e);
}

/* What a later write has changed along is set once more, and then read for good. */
static int settle_affected(struct session *s, struct plan *p, struct err *e)
{
	int r = 0;
	for (size_t i = 0; !r && i < p->n; i++) {
		if (session_was_changed(s, &p->changes[i])) {
			r = write_one(s, &p->changes[i], p->changes[i].want, e);
		}
	}
	for (size_t i = 0; !r && i < p->n; i++) {
		if (session_was_changed(s, &p->changes[i])) {
			r = read_back(s, &p->changes[i], e);
		}
	}
	return r;
}

/* Puts back what this call has written. True if everything is as before the call. */
static bool undo(struct session *s, struct plan *p, size_t n)
{
	bool whole = true;
	while (n--) {
		struct change *c = &p->changes[n];
		if (!c->write || same_text(c->after, c->before)) {
			continue;
		}
		session_affect_begin(s, &c->t->setting);
		session_record(s, c->t, "set", c->before, true, NULL);
		write_one(s, c, c->before, NULL);
		whole = whole && same_text(c->after, c->before);
	}
	return whole;
}

/* Intents that were not followed by a write: what others set there is not ours. */
static void call_off(struct session *s, struct plan *p, size_t from)
{
	for (size_t i = from; i < p->n; i++) {
		struct change *c = &p->changes[i];
		if (!c->write) {
			continue;
		}
		if (session_record(s, c->t, "took", c->before, false, NULL)) {
			c->t->pending = false;
		}
		session_affect_end(s, &c->t->setting);
	}
}

static int carry_out(struct session *s, struct plan *p, struct err *e)
{
	bool committed = s->committed;
	size_t i = 0;
	int r = write_intents(s, p, e);
	for (; !r && i < p->n; i++) {
		r = carry_out_one(s, &p->changes[i], e);
	}
	r = r ? r : settle_affected(s, p, e);
	if (!r) {
		return 0;
	}
	call_off(s, p, i);
	if (undo(s, p, i) && committed) {
		session_mark_commit(s, NULL);
	}
	return r;
}

/* A word that was asked for and stands for what is there now is what is told. */
static int effective_value(const struct session *s, const struct change *c,
			   const struct assignment *a, struct value *out, struct err *e)
{
	if (!tunable_word(&s->root, &a->setting, c->after, out)) {
		return setting_field(&a->setting, a->field, c->after, out, e);
	}
	if (same_text(c->after, c->want)) {
		*out = a->value;
	} else if (same_text(c->after, c->t->old)) {
		*out = value_text(TUNABLE_AS_FOUND);
	}
	return 0;
}

static int effective_values(const struct session *s, const struct plan *p,
			    const struct assignment *a, size_t n, struct value *effective,
			    struct err *e)
{
	for (size_t i = 0; effective && i < n; i++) {
		const struct change *c = plan_find(p, &a[i].setting);
		int r = effective_value(s, c, &a[i], &effective[i], e);
		if (r) {
			return r;
		}
	}
	return 0;
}

static int plan_make(struct session *s, struct plan *p, const struct assignment *a, size_t n,
		     bool baseline, struct err *e)
{
	int r = check_assignments(a, n, e);
	r = r ? r : track_all(s, a, n, e);
	if (r) {
		return r;
	}
	p->changes = calloc(s->n ? s->n : 1, sizeof(*p->changes));
	if (!p->changes) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; !r && i < n; i++) {
		r = plan_assign(s, p, &a[i], baseline, e);
	}
	for (size_t i = 0; !r && i < p->n; i++) {
		r = check_whole(&p->changes[i], e);
	}
	return r;
}

int session_set(struct session *s, const struct assignment *a, size_t n, struct value *effective,
		struct err *e)
{
	__attribute__((cleanup(plan_clear))) struct plan p = {0};
	int r = plan_make(s, &p, a, n, false, e);
	r = r ? r : carry_out(s, &p, e);
	return r ? r : effective_values(s, &p, a, n, effective, e);
}

/* Named, or changed by what is named: that is as it shall be. */
static bool is_kept(struct session *s, const struct assignment *a, size_t n,
		    const struct setting *setting)
{
	for (size_t i = 0; i < n; i++) {
		if (setting_same(&a[i].setting, setting) ||
		    session_affects(s, &a[i].setting, setting)) {
			return true;
		}
	}
	return false;
}

/* Of two that zero each other, only the one that was in force can be written back; the other goes
 * along with it. */
static bool goes_along(struct session *s, const struct tracked *t)
{
	for (size_t i = 0; !strcmp(t->old, "0") && i < s->n; i++) {
		const struct tracked *other = s->tracked[i];
		if (other->touched && strcmp(other->old, "0") &&
		    session_affects(s, &other->setting, &t->setting)) {
			return true;
		}
	}
	return false;
}

/* Tracked settings that are not kept go back, except where someone else has changed them. */
static void plan_return(struct session *s, struct plan *p, const struct assignment *a, size_t n,
			bool all)
{
	for (size_t i = s->n; i-- > 0;) {
		struct tracked *t = s->tracked[i];
		if (is_kept(s, a, n, &t->setting) || (!all && goes_along(s, t))) {
			continue;
		}
		if (plan_add(s, p, t, true, NULL)) {
			continue; /* gone; the rollback will say so */
		}
		struct change *c = &p->changes[p->n - 1];
		bool ours = t->touched && (t->pending || tracked_owns(t, c->before));
		if (!ours || same_text(c->before, t->old)) {
			p->n--;
		}
	}
}

/* One that went back may have changed another along with it, which was looked at before. */
static int return_rest(struct session *s, const struct assignment *a, size_t n, struct err *e)
{
	int r = 0;
	for (int pass = 0; !r && pass < 3; pass++) {
		__attribute__((cleanup(plan_clear))) struct plan p = {0};
		bool any = false;
		p.changes = calloc(s->n ? s->n : 1, sizeof(*p.changes));
		if (!p.changes) {
			return err_set(e, -ENOMEM, "out of memory");
		}
		plan_return(s, &p, a, n, true);
		for (size_t i = 0; i < p.n; i++) {
			any = any || !same_text(p.changes[i].want, p.changes[i].before);
		}
		if (!any) {
			return 0;
		}
		r = carry_out(s, &p, e);
	}
	return r;
}

/* What is at its old value again and was not named is no longer ours. */
static int drop_returned(struct session *s, const struct assignment *a, size_t n, struct err *e)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct tracked *t = s->tracked[i];
		char now[SETTING_TEXT_MAX];
		if (is_kept(s, a, n, &t->setting) ||
		    tunable_read(&s->root, &t->setting, now, sizeof(now), NULL) ||
		    !same_text(now, t->old)) {
			continue;
		}
		int r = session_drop(s, &t->setting, e);
		if (r) {
			return r;
		}
	}
	return 0;
}

int session_replace(struct session *s, const struct assignment *a, size_t n, struct err *e)
{
	__attribute__((cleanup(plan_clear))) struct plan p = {0};
	int r = plan_make(s, &p, a, n, true, e);
	if (!r) {
		plan_return(s, &p, a, n, false);
		r = carry_out(s, &p, e);
	}
	r = r ? r : return_rest(s, a, n, e);
	return r ? r : drop_returned(s, a, n, e);
}
