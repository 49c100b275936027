/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Old values on disk before anything is set, also of what changes along with a setting. Nothing is
 * set here. Called by the agent through session.h, by session/set.c and session/rollback.c.
 */
#include "cleanup.h"
#include "session_private.h"
#include <errno.h>
#include <string.h>

enum { AFFECTED_MAX = 512 };

static size_t affected_by(struct session *s, const struct setting *setting, struct setting **out)
{
	*out = NULL;
	if (!setting->tunable->affects[0]) {
		return 0;
	}
	*out = calloc(AFFECTED_MAX, sizeof(**out));
	return *out ? tunable_affected(&s->root, setting, *out, AFFECTED_MAX) : 0;
}

/* Features that need each other are not meant here, since each may well be set by itself; those of
 * a group are. */
bool session_affects(struct session *s, const struct setting *setting, const struct setting *other)
{
	(void)s;
	bool family = setting->tunable == other->tunable && strchr(setting->tunable->name, '*');
	return family ? tunable_covers(setting, other) : tunable_may_affect(setting, other);
}

void session_affect_begin(struct session *s, const struct setting *setting)
{
	auto_free struct setting *along = NULL;
	size_t n = affected_by(s, setting, &along);
	for (size_t i = 0; i < n; i++) {
		struct tracked *t = session_find(s, &along[i]);
		if (t && session_record(s, t, "set", t->old, false, NULL)) {
			t->touched = t->pending = true;
		}
	}
}

void session_affect_end(struct session *s, const struct setting *setting)
{
	auto_free struct setting *along = NULL;
	size_t n = affected_by(s, setting, &along);
	for (size_t i = 0; i < n; i++) {
		char text[SETTING_TEXT_MAX];
		struct tracked *t = session_find(s, &along[i]);
		if (t && !tunable_read(&s->root, &along[i], text, sizeof(text), NULL)) {
			session_record(s, t, "took", text, false, NULL);
		}
	}
}

/* Others that change along are tracked before, so that they are put back after. */
static int track_one(struct session *s, const struct setting *setting, struct err *e)
{
	char text[SETTING_TEXT_MAX];
	struct tracked *t = session_find(s, setting);
	if (t && t->touched) {
		return 0;
	}
	struct device_binding device = {0};
	struct setting bound = *setting;
	int r = setting->tunable->kernel_wide ? session_lock_kernel(s, 0, e) : 0;
	r = r || t ? r : session_bind(s, &bound, &device, e);
	r = r ? r : tunable_read(&s->root, t ? &t->setting : &bound, text, sizeof(text), e);
	if (r) {
		return r;
	}
	if (t) { /* not set so far: the baseline is what it is now */
		return same_text(t->old, text) ? 0 : session_record(s, t, "old", text, true, e);
	}
	t = session_add(s, &bound, text, e);
	if (t) {
		t->device = device;
	}
	return t ? 0 : -ENOMEM;
}

static int track_with_affected(struct session *s, const struct setting *setting, struct err *e)
{
	auto_free struct setting *along = NULL;
	if (setting->tunable->scope != SCOPE_HOST) {
		return err_usage(e, "%s is not a setting of the host", setting->name);
	}
	size_t n = session_find(s, setting) ? 0 : affected_by(s, setting, &along);
	for (size_t i = 0; i < n; i++) {
		int r = track_one(s, &along[i], e);
		if (r) {
			return r;
		}
	}
	return track_one(s, setting, e);
}

int session_track(struct session *s, const struct setting *settings, size_t n, struct err *e)
{
	size_t before = s->n;
	int r = session_need_journal(s, e);
	for (size_t i = 0; !r && i < n; i++) {
		r = track_with_affected(s, &settings[i], e);
	}
	for (size_t i = before; !r && i < s->n; i++) {
		struct tracked *t = s->tracked[i];
		r = session_record(s, t, "old", t->old, i + 1 == s->n, e);
	}
	while (r && s->n > before) { /* what is not on the disk is not tracked */
		session_forget(s, s->tracked[s->n - 1]);
	}
	return r;
}
